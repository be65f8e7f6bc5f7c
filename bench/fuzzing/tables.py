"""Random tables with nasty cells, and the files that hold them.

A cell is known in two ways: as it is written (`Column.cells`, text or a typed value) and by what it means
(`Column.values`, the same for all spellings of one value; MISSING for a missing one).
"""

import datetime
import decimal
import gzip
from fractions import Fraction

import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet

MISSING = ("missing",)

# Every text with this prefix is planted: no message may show it.
CANARY = "zq7"

# Texts that trouble CSV readers, spreadsheets and labels, but that a flat categorical column may have.
NASTY = [
    "a,b", "x}", "(all)", "a (all)", "'=x", "''=x", "=1+1", "=x", "@x", "'@x", "-x", "'-x", "+x", "- 50000", "'- 50000", "-5", "+5", "'", "''", "'a",
    " lead", "lead", "tail ", "tail", '"q"', '"', "li\nne", "li\r\nne", "é", "e\u0301", "日本", "a", "b", "A", "{p", "x, y", "p", "q", "[1-2]", "[a", "a-b", "a .. b",
    "a;b", "a\tb", "#", "null", "None", "<5", ">=5", "0", "00", "-", "+", "=", "@", "1e5x", "\u00a0", "\u200b", "-1e3", "-.", "+-1", "- x", "+ 1", "A" * 40,
    "\tx", "'\tx", "\rx",
]
# Texts that read like a generalized value: the program may refuse a table that has them.
RESERVED = ["*", "{p, q}", "{a}", "{}", "{a, b}"]

# What the command line left out, to look past a known fault.
WITHOUT = set()


def nasty_texts():
    """NASTY, without texts that begin with apostrophes or look like formulas where these are left out."""
    return [text for text in NASTY if not ("apostrophes" in WITHOUT and text.lstrip(" ")[:1] in "'=@+-\t\r")]


MARKERS = ["?", "NA"]


class Column:
    """One column of a random table.

    name, role      as the request will say
    kind            numeric, date, ordinal or categorical (of quasi-identifiers, and of sensitive columns that are declared numeric)
    cells           what the file holds: texts, or Python values where `type` is set
    values          what each cell means
    type            the Arrow type in Parquet and Arrow files; None means text
    """

    def __init__(self, name, role, kind, cells, values, type=None):
        self.name, self.role, self.kind = name, role, kind
        self.cells, self.values, self.type = cells, values, type
        self.order = None  # labels of an ordinal column
        self.tree = None  # see hierarchies.py
        self.whole = False  # numeric: every value is a whole number
        self.declared = True  # the request says the kind


def number(text):
    """The exact number that a text spells, or None."""
    try:
        value = decimal.Decimal(text.strip())
    except decimal.InvalidOperation:
        return None
    return Fraction(value) if value.is_finite() else None


def instant(text):
    """Microseconds since 1970 of an ISO date or timestamp (without offset: as if UTC), or None."""
    text = text.strip()
    try:
        moment = datetime.datetime.fromisoformat(text)
    except ValueError:
        return None
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=datetime.timezone.utc)
    delta = moment - datetime.datetime(1970, 1, 1, tzinfo=datetime.timezone.utc)
    return (delta.days * 86_400 + delta.seconds) * 1_000_000 + delta.microseconds


def spelled(rng, value):
    """One of the spellings of a number."""
    whole = value.denominator == 1
    plain = str(value.numerator) if whole else format(decimal.Decimal(value.numerator) / decimal.Decimal(value.denominator), "f")
    choices = [plain] * 4
    if whole:
        choices += [plain + ".0", plain + ".00"]
    else:
        choices += [plain + "0"]
    if value >= 0:
        choices += ["+" + plain]
    choices += [" " + plain, plain + "e0"]
    return rng.choice(choices)


def with_missing(rng, column, texts, markers):
    """Makes some cells missing: empty, or one of the markers of the request."""
    share = rng.choice([0.05, 0.2, 0.5])
    for row in range(len(column.cells)):
        if rng.random() < share:
            column.cells[row] = rng.choice(texts + markers) if column.type is None and None not in texts else None
            column.values[row] = MISSING


def numeric(rng, name, rows, spellings, few=False):
    """A numeric quasi-identifier: small, negative, decimal or large numbers from a pool, so that values repeat."""
    style = rng.choice(["small", "small", "negative", "decimal", "large", "wide"])
    distinct = rng.choice([1, 2, 3] if few else [1, 2, 3, 5, 10, 40])
    if style == "small":
        pool = [Fraction(rng.randrange(0, 100)) for _ in range(distinct)]
    elif style == "negative":
        pool = [Fraction(rng.randrange(-60, 20)) for _ in range(distinct)]
    elif style == "decimal":
        pool = [Fraction(rng.randrange(-2000, 9000), rng.choice([2, 4, 10, 100])) for _ in range(distinct)]
    elif style == "large":
        pool = [Fraction(rng.randrange(10**11, 10**12)) for _ in range(distinct)]
    else:
        pool = [Fraction(rng.choice([0, 1, 7, 10**6, -(10**6), 3])) for _ in range(distinct)]
    values = [rng.choice(pool) for _ in range(rows)]
    if spellings:
        cells = [spelled(rng, value) for value in values]
    else:
        cells = [str(v.numerator) if v.denominator == 1 else format(decimal.Decimal(v.numerator) / v.denominator, "f") for v in values]
    column = Column(name, "quasi", "numeric", cells, values)
    column.whole = all(value.denominator == 1 for value in values)
    column.declared = rng.random() < 0.5
    return column


def date(rng, name, rows, few=False):
    """A date or timestamp column, with or without offsets."""
    style = rng.choice(["day", "day", "naive", "offset", "fraction"])
    distinct = rng.choice([2, 3] if few else [2, 3, 6, 20])
    pool = []
    for _ in range(distinct):
        moment = datetime.datetime(rng.randrange(1960, 2031), rng.randrange(1, 13), rng.randrange(1, 29), rng.randrange(24), rng.randrange(60), rng.randrange(60))
        if style == "day":
            pool.append(moment.date().isoformat())
        elif style == "naive":
            pool.append(moment.isoformat(sep=rng.choice("T ")))
        elif style == "fraction":
            pool.append(moment.isoformat() + rng.choice([".5", ".250", ".123456", ""]))
        else:
            pool.append(moment.isoformat() + rng.choice(["Z", "+00:00", "+02:00", "-05:30"]))
    cells = [rng.choice(pool) for _ in range(rows)]
    column = Column(name, "quasi", "date", cells, [instant(padded_fraction(cell)) for cell in cells])
    column.style = style
    column.declared = rng.random() < 0.5
    return column


def padded_fraction(text):
    """Python 3.11 reads fractions of 3 or 6 digits only: pads others with zeros."""
    if "." not in text:
        return text
    head, _, tail = text.partition(".")
    digits = ""
    while tail and tail[0].isdigit():
        digits, tail = digits + tail[0], tail[1:]
    return f"{head}.{digits.ljust(6, '0')[:6]}{tail}"


def ordinal(rng, name, rows):
    """A column of labels with a given order; not every label occurs."""
    labels = rng.sample(["lo", "mid", "hi", "very hi", "a-b", "c, d", "é", "zq7top", "x", "y", "=z", "1st"], rng.randrange(2, 8))
    present = rng.sample(labels, rng.randrange(1, len(labels) + 1))
    cells = [rng.choice(present) for _ in range(rows)]
    column = Column(name, "quasi", "ordinal", cells, list(cells))
    column.order = labels
    return column


def categorical(rng, name, rows, nasty, reserved, few=False):
    """A column of texts, some of them planted, some nasty."""
    distinct = rng.choice([1, 2, 3] if few else [1, 2, 3, 5, 8, 15])
    pool = [f"{CANARY}{rng.randrange(10**6):06}" for _ in range(distinct)]
    if nasty:
        pool = [rng.choice(nasty_texts()) if rng.random() < 0.8 else text for text in pool]
    if reserved:
        # Values beside a text that reads like a set of them.
        if rng.random() < 0.6:
            # The two rare values will be shown as a set that reads like the third.
            one, other = rng.choice([("p", "q"), ("a", "b")])
            cells = ([one, other] * rows)[: rng.choice([2, 2, 4])] + rng.choices([f"{{{one}, {other}}}", "r", "s"], k=rows)
            cells = cells[:rows]
            rng.shuffle(cells)
            return Column(name, "quasi", "categorical", cells, list(cells))
        pool = rng.sample(["p", "q", "a", "b", "r"] + RESERVED, rng.randrange(2, 8))
    if rng.random() < 0.03:
        pool.append(CANARY + "L" * rng.choice([300, 5000, 40000]))
    cells = [rng.choice(pool) for _ in range(rows)]
    return Column(name, "quasi", "categorical", cells, list(cells))


def postcode(rng, name, rows):
    """Digits with leading zeros, mostly of one length."""
    pool = [f"{rng.randrange(10**5):05}" for _ in range(rng.choice([2, 4, 8, 20]))]
    pool[0] = "0" + pool[0][1:]
    if rng.random() < 0.3:
        pool.append(pool[0][: rng.randrange(2, 5)])
    cells = [rng.choice(pool) for _ in range(rows)]
    return Column(name, "quasi", "categorical", cells, list(cells))


def sensitive(rng, name, rows, nasty):
    """A sensitive column: texts, or numbers in several spellings (declared numeric or not)."""
    if rng.random() < 0.4:
        pool = [Fraction(rng.randrange(0, 30), rng.choice([1, 1, 2])) for _ in range(rng.choice([2, 3, 5, 9]))]
        numbers = [rng.choice(pool) for _ in range(rows)]
        cells = [spelled(rng, value).strip() if rng.random() < 0.5 else str(float(value)) for value in numbers]
        if "spellings" in WITHOUT:
            cells = [str(float(value)) for value in numbers]
        declared = rng.random() < 0.7
        return Column(name, "sensitive", "numeric" if declared else "categorical", cells, numbers if declared else list(cells))
    pool = [f"{CANARY}s{rng.randrange(1000):03}" for _ in range(rng.choice([1, 2, 3, 5, 9]))]
    if nasty:
        pool += rng.sample(nasty_texts(), 3) + rng.sample(RESERVED, 1)
    if rng.random() < 0.5:
        weights = [rng.random() ** 2 + 0.02 for _ in pool]
        cells = rng.choices(pool, weights, k=rows)
    else:
        cells = [rng.choice(pool) for _ in range(rows)]
    return Column(name, "sensitive", "categorical", cells, list(cells))


def kept(rng, name, rows, nasty):
    """A text column that is published as it is."""
    pool = [f"{CANARY}k{rng.randrange(1000):03}" for _ in range(rng.choice([2, 4, 30]))] + ["", "NA", "5", "5.0"]
    if nasty:
        pool += rng.sample(nasty_texts(), 4) + rng.sample(RESERVED, 2)
    cells = [rng.choice(pool) for _ in range(rows)]
    return Column(name, "keep", "categorical", cells, list(cells))


TYPES = [
    "int8", "int16", "int32", "int64", "uint8", "uint32", "uint64", "float32", "float64", "bool", "decimal", "date32", "date64", "timestamp", "timestamp_tz", "binary",
    "fixed", "list", "struct", "dictionary", "time", "null", "large_string", "large_binary", "duration",
]
# Types that a CSV file has no form for.
WITHOUT_TEXT = {"binary", "fixed", "list", "struct", "large_binary", "duration"}


def typed(rng, name, rows, style):
    """A kept column of an Arrow type, with nulls."""
    day = datetime.date(2020, 1, 1)
    moment = datetime.datetime(2020, 1, 1, 3, 4, 5)
    makers = {
        "int8": (pa.int8(), lambda: rng.randrange(-128, 128)), "int16": (pa.int16(), lambda: rng.randrange(-999, 999)),
        "int32": (pa.int32(), lambda: rng.randrange(-10**9, 10**9)), "int64": (pa.int64(), lambda: rng.randrange(-(2**63), 2**63)),
        "uint8": (pa.uint8(), lambda: rng.randrange(256)), "uint32": (pa.uint32(), lambda: rng.randrange(2**32)),
        "uint64": (pa.uint64(), lambda: rng.randrange(2**64)), "float32": (pa.float32(), lambda: rng.randrange(-1000, 1000) / 8),
        "float64": (pa.float64(), lambda: rng.choice([rng.random(), 0.1, -0.0, 1e300, 5e-324, 2.0**60])),
        "bool": (pa.bool_(), lambda: rng.random() < 0.5), "decimal": (pa.decimal128(12, 3), lambda: decimal.Decimal(rng.randrange(-10**6, 10**6)) / 1000),
        "date32": (pa.date32(), lambda: day + datetime.timedelta(days=rng.randrange(-9000, 9000))),
        "date64": (pa.date64(), lambda: day + datetime.timedelta(days=rng.randrange(-9000, 9000))),
        "timestamp": (pa.timestamp(rng.choice(["s", "ms", "us", "ns"])), lambda: moment + datetime.timedelta(seconds=rng.randrange(10**8))),
        "timestamp_tz": (pa.timestamp("us", rng.choice(["UTC", "+02:00", "Europe/Berlin"])), lambda: (moment + datetime.timedelta(seconds=rng.randrange(10**8))).replace(tzinfo=datetime.timezone.utc)),
        "binary": (pa.binary(), lambda: rng.randbytes(rng.randrange(5))), "large_binary": (pa.large_binary(), lambda: rng.randbytes(rng.randrange(5))),
        "fixed": (pa.binary(4), lambda: rng.randbytes(4)), "list": (pa.list_(pa.int32()), lambda: [rng.randrange(5) for _ in range(rng.randrange(4))]),
        "struct": (pa.struct([("a", pa.int32()), ("b", pa.string())]), lambda: {"a": rng.randrange(3), "b": rng.choice(["x", "=y", None])}),
        "dictionary": (pa.dictionary(pa.int32(), pa.string()), lambda: rng.choice(["u", "v", "=w", "x,y"])),
        "time": (pa.time64("us"), lambda: datetime.time(rng.randrange(24), rng.randrange(60), rng.randrange(60))),
        "null": (pa.null(), lambda: None), "large_string": (pa.large_string(), lambda: rng.choice(["u", "=v", "w"])),
        "duration": (pa.duration("s"), lambda: datetime.timedelta(seconds=rng.randrange(10**5))),
    }
    kind, make = makers[style]
    pool = [make() for _ in range(rng.choice([2, 5, 40]))] + [None]
    cells = [rng.choice(pool) for _ in range(rows)]
    column = Column(name, "keep", style, cells, list(cells), type=kind)
    return column


def identifier(rng, name, rows, tag):
    """A column that names people: every cell is planted and must be seen nowhere."""
    cells = [f"{CANARY}id{tag}x{row}" for row in range(rows)]
    return Column(name, "identifier", "categorical", cells, list(cells))


def retyped(rng, column):
    """Gives a numeric or date quasi-identifier of a Parquet or Arrow file its own type, where its values allow one."""
    values = column.values
    if column.kind == "numeric" and column.whole:
        column.type = rng.choice([pa.int64(), pa.int64(), pa.float64()])
        column.cells = [None if v == MISSING else (float(v) if column.type == pa.float64() else int(v)) for v in values]
    elif column.kind == "numeric":
        column.type = rng.choice([pa.float64(), pa.decimal128(20, 4)])
        column.cells = [None if v == MISSING else (float(v) if column.type == pa.float64() else decimal.Decimal(v.numerator) / v.denominator) for v in values]
    elif column.kind == "date":
        start = datetime.datetime(1970, 1, 1)
        zone = "UTC" if column.style == "offset" else None
        column.type = pa.date32() if column.style == "day" else pa.timestamp("us", zone)
        moments = [None if v == MISSING else start + datetime.timedelta(microseconds=v) for v in values]
        column.cells = [m if m is None else m.date() if column.style == "day" else m for m in moments]
    elif column.kind == "categorical" and rng.random() < 0.3:
        column.type = pa.dictionary(pa.int32(), pa.string())
        column.cells = [None if v == MISSING else v for v in values]


# ---------------------------------------------------------------------------------------------------------------- files


def quoted(cell, delimiter, always=False):
    """A cell as a CSV file has it."""
    if always or any(letter in cell for letter in (delimiter, '"', "\n", "\r")):
        return '"' + cell.replace('"', '""') + '"'
    return cell


def csv_bytes(names, rows, delimiter, ending="\n", always=False):
    """A CSV file. A row whose only cell is empty is written as two quotes: otherwise it would be an empty line."""
    lines = []
    for row in [names] + rows:
        line = delimiter.join(quoted(cell, delimiter, always) for cell in row)
        lines.append(line if line else '""')
    return (ending.join(lines) + ending).encode()


def arrow_table(columns, rows):
    """The rows (a list of row numbers) as an Arrow table, with texts where nobody should look: in the file's metadata, among the
    values of a dictionary that no row has, and below nulls."""
    arrays, fields = [], []
    for column in columns:
        kind = column.type or pa.string()
        cells = [column.cells[row] for row in rows]
        if pa.types.is_dictionary(kind):
            codes = pa.array(cells + [CANARY + "unused"], pa.string()).dictionary_encode()
            arrays.append(codes.slice(0, len(cells)))
            kind = codes.type
        elif kind == pa.string() and None in cells:
            full = pa.array([CANARY + "below" if cell is None else cell for cell in cells], pa.string())
            valid = pa.array(cells, pa.string()).buffers()[0]
            arrays.append(pa.StringArray.from_buffers(len(cells), full.buffers()[1], full.buffers()[2], valid))
        else:
            arrays.append(pa.array(cells, kind))
        fields.append(pa.field(column.name, kind, metadata={"note": CANARY + "field"}))
    return pa.table(arrays, schema=pa.schema(fields, metadata={"note": CANARY + "meta"}))


def compressed(data, ending):
    if ending.endswith(".gz"):
        return gzip.compress(data, compresslevel=1, mtime=0)
    if ending.endswith(".zst"):
        return pa.compress(data, codec="zstd", asbytes=True)
    return data


def write(path, columns, rows, delimiter=",", ending="\n", always=False, group=1000):
    """Writes rows (row numbers) of a table; the path's ending tells the format."""
    name = str(path)
    if name.endswith(".parquet"):
        pyarrow.parquet.write_table(arrow_table(columns, rows), name, row_group_size=max(1, group))
    elif name.endswith(".arrow"):
        table = arrow_table(columns, rows)
        with pa.OSFile(name, "wb") as sink, pa.ipc.new_file(sink, unified(table).schema) as writer:
            writer.write_table(unified(table), max_chunksize=max(1, group))
    else:
        lines = [[column.cells[row] for column in columns] for row in rows]
        data = csv_bytes([column.name for column in columns], lines, delimiter, ending, always)
        with open(name, "wb") as file:
            file.write(compressed(data, name))


def unified(table):
    return table.unify_dictionaries() if hasattr(table, "unify_dictionaries") else table
