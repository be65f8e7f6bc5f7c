"""Random requests: roles, rules, algorithm, form of publication; as flags or as a TOML file."""

import math
from collections import Counter
from fractions import Fraction

from . import hierarchies, tables
from .tables import MISSING

ALGORITHMS = [
    "auto", "mondrian", "mondrian-relaxed", "bottom-up", "bottom-up-row", "top-down", "top-down-row", "peel", "cluster", "specialize", "ring", "optimal", "incognito",
]
GLOBAL = {"optimal", "incognito"}
SCHEMES = ["bhs", "ghs", "gops", "ops", "gsps", "sps"]
INPUTS = ["csv", "csv", "csv", "csv.gz", "csv.zst", "tsv", "parquet", "arrow"]
OUTPUTS = ["csv", "csv", "csv", "csv.gz", "csv.zst", "tsv", "parquet", "arrow", "stdout"]


class Rule:
    """A rule on one sensitive column: `name` is alpha, l, distinct, entropy, recursive or t; `text` what the request says."""

    def __init__(self, column, name, text, number, values=None, second=None, distance=None):
        self.column, self.name, self.text, self.number = column, name, text, number
        self.values, self.second, self.distance = values, second, distance


class Request:
    """Everything that one case asks for. `doubts` names what the program may refuse the request for; without any it must not."""

    def __init__(self):
        self.columns, self.rules, self.k_on, self.doubts = [], [], [], []
        self.k, self.suppress, self.markers = 2, None, []
        self.algorithm, self.extra, self.publish, self.snap, self.input_order, self.raw = "mondrian", [], "label", False, False, False
        self.seed, self.threads = None, 1
        self.by_flags, self.delimiter, self.schemes = False, None, {}
        self.weights = {}
        self.reading, self.pseudonyms = None, False  # how persons count; see persons.py

    def of(self, role):
        return [column for column in self.columns if column.role == role]

    @property
    def rows(self):
        return len(self.columns[0].cells)

    @property
    def allowance(self):
        """How many rows may be suppressed."""
        return math.floor(self.suppress[1] * self.rows) if self.suppress else 0


def share_text(rng, share):
    """A share in one of the spellings that the request may use; the share is rounded up to hundredths first."""
    hundredths = math.ceil(share * 100)
    exact = Fraction(hundredths, 100)
    return rng.choice([f"{hundredths / 100:.2f}", f"{hundredths}%", f"{hundredths}/100"]), exact


def random_table(rng, request, inputs):
    """Fills in the columns."""
    size = rng.random()
    rows = rng.randrange(2, 12) if size < 0.35 else rng.randrange(12, 60) if size < 0.8 else rng.randrange(60, 200) if size < 0.985 else rng.randrange(500, 3000)
    nasty = rng.random() < 0.6
    reserved = rng.random() < 0.06 and "reserved" not in tables.WITHOUT
    large = rows >= 200
    columnar = inputs in ("parquet", "arrow")
    request.nasty, request.large, request.reserved = nasty, large, reserved
    if rng.random() < 0.3:
        request.markers = rng.sample(tables.MARKERS, rng.randrange(1, 3))
    names = naming(rng, request)
    # Few columns of few values: many rows are equal.
    few = request.few = rng.random() < 0.25
    for _ in range(rng.choice([1, 1, 2] if few else [1, 1, 2, 2, 3, 3, 4, 5])):
        style = rng.choice(["numeric", "numeric", "date", "ordinal", "categorical", "categorical", "postcode"])
        name = next(names)
        if style == "numeric":
            column = tables.numeric(rng, name, rows, spellings=nasty, few=few)
        elif style == "date":
            column = tables.date(rng, name, rows, few)
        elif style == "ordinal":
            column = tables.ordinal(rng, name, rows)
        elif style == "postcode":
            column = tables.postcode(rng, name, rows)
        else:
            column = tables.categorical(rng, name, rows, nasty, reserved, few)
            if reserved:
                request.doubts.append("a reserved text")
        if columnar and rng.random() < 0.6:
            tables.retyped(rng, column)
        if rng.random() < 0.25:
            # Text columns of Parquet and Arrow files have nulls as well as empty texts.
            tables.with_missing(rng, column, [None] if columnar and rng.random() < 0.5 else [""], request.markers)
        if style == "postcode":
            column.postcode = True
        request.columns.append(column)
    for _ in range(rng.choice([0, 1, 1, 1, 2])):
        column = tables.sensitive(rng, next(names), rows, nasty)
        if rng.random() < 0.1:
            tables.with_missing(rng, column, [""], request.markers)
        request.columns.append(column)
    for _ in range(rng.choice([0, 0, 1, 2])):
        if columnar and rng.random() < 0.7:
            column = tables.typed(rng, next(names), rows, rng.choice([t for t in tables.TYPES if not ("binary" in tables.WITHOUT and t in tables.WITHOUT_TEXT | {"date64"})]))
        else:
            column = tables.kept(rng, next(names), rows, nasty)
        request.columns.append(column)
    if large or rng.random() < 0.4:
        # A text of its own for every row: tells which source row each released row is.
        cells = [f"{tables.CANARY}r{row:05}" for row in range(rows)]
        column = tables.Column(next(names), rng.choice(["keep", "sensitive"]), "categorical", cells, list(cells))
        column.row_id = True
        request.columns.append(column)
    for _ in range(rng.choice([0, 1, 1])):
        request.columns.append(tables.identifier(rng, next(names), rows, rng.randrange(10**5)))
    rng.shuffle(request.columns)
    settle_missing(request)


def settle_missing(request):
    """A text that the request calls missing is missing wherever a column is judged by value."""
    for column in request.columns:
        if column.role in ("quasi", "sensitive") and column.type is None:
            for row, cell in enumerate(column.cells):
                if cell is None or cell == "" or cell in request.markers:
                    column.values[row] = MISSING


def naming(rng, request):
    """Names for columns: plain ones, or such that need the TOML file."""
    plain = [f"c{i}" for i in range(12)] + ["age", "zip", "sex", "Ünïcode", "a b", "x.y", "a_min"]
    odd = ["=cmd|calc", "@n", "-n", "a,b", "k=v", 'q"u', "'=n", "li\nne", " lead", "+1", "[x]", "*", "#h"]
    rng.shuffle(plain)
    request.odd_names = rng.random() < 0.08 and "names" not in tables.WITHOUT
    if request.odd_names:
        rng.shuffle(odd)
        plain = odd[:3] + plain
    return iter(plain)


def random_hierarchies(rng, request):
    """Gives quasi-identifiers hierarchies."""
    for column in request.of("quasi"):
        present = [v for v in column.values if v != MISSING]
        if not present:
            # Nothing tells the kind of such a column but the request.
            column.declared = True
        if column.kind == "numeric" and present and rng.random() < 0.5:
            column.tree = hierarchies.intervals(rng, column)
            if "coding" in tables.WITHOUT:
                column.tree.bottom = column.tree.top = None
        elif column.kind == "date" and present and column.style != "offset" and rng.random() < 0.5:
            column.tree = hierarchies.dates(rng)
        elif column.kind == "categorical" and getattr(column, "postcode", False) and present and rng.random() < 0.7:
            column.tree = hierarchies.prefix(rng, column.values)
        elif column.kind == "categorical" and present and rng.random() < 0.5:
            column.tree = hierarchies.from_file(rng, column, column.values, extra=True, nasty=request.nasty, markers=request.markers)
            if column.tree.doubtful or any(str(value).endswith("(all)") for value in column.tree.paths):
                request.doubts.append("a hierarchy file")
            if sum(letter in column.tree.file[1].decode() for letter in ";,\t") > 1:
                # The program guesses the delimiter of a hierarchy file.
                request.doubts.append("two delimiters in a hierarchy file")


def random_rules(rng, request):
    """Rules that the table can mostly meet."""
    rows = request.rows
    request.k = rng.choice([2, 2, 2, 3, 3, 4, 5, max(2, rows // 3), max(2, rows // 2)])
    if request.few and rng.random() < 0.6:
        request.k = 2
    if rng.random() < 0.03:
        request.k = rng.choice([1, rows, rows + 1])
    request.k = max(1, request.k)
    quasi = request.of("quasi")
    if len(quasi) > 1 and rng.random() < 0.15:
        some = rng.sample(quasi, rng.randrange(1, len(quasi)))
        request.k_on.append((min(rows, request.k + rng.randrange(0, 5)), some))
    if rng.random() < 0.35:
        share = Fraction(rng.choice([0, 1, 5, 10, 20, 50]), 100)
        request.suppress = (rng.choice([f"{int(share * 100)}%", f"{float(share)}"]), share)
    for column in request.of("sensitive"):
        if getattr(column, "row_id", False) and rng.random() < 0.7:
            continue
        counts = Counter(column.values)
        greatest = max(counts.values())
        slack = rng.choice([Fraction(0), Fraction(1, 20), Fraction(1, 5), Fraction(1, 2), Fraction(-1, 10)])
        for name in rng.sample(["alpha", "values", "l", "distinct", "entropy", "recursive", "t"], rng.choice([0, 1, 1, 1, 2])):
            if name == "alpha" and any(r.name == "alpha" and r.column is column for r in request.rules):
                continue
            if name == "alpha":
                text, share = share_text(rng, min(Fraction(1), max(Fraction(1, 100), Fraction(greatest, rows) + slack)))
                request.rules.append(Rule(column, "alpha", text, share))
            elif name == "values" and not any(r.name == "alpha" and r.column is column for r in request.rules):
                texts = sorted({cell for cell, v in zip(column.cells, column.values) if v != MISSING})
                if not texts:
                    continue
                chosen = rng.sample(texts, rng.randrange(1, min(3, len(texts)) + 1))
                values = {column.values[column.cells.index(text)] for text in chosen}
                together = sum(counts[v] for v in values)
                text, share = share_text(rng, min(Fraction(1), max(Fraction(1, 100), Fraction(together, rows) + slack)))
                request.rules.append(Rule(column, "alpha", text, share, values=(chosen, values)))
            elif name == "l":
                number = max(1, min(rows // greatest + rng.choice([0, 0, 0, -1, 1]), 9))
                request.rules.append(Rule(column, "l", str(number), Fraction(number)))
            elif name == "distinct":
                number = max(1, len(counts) - rng.choice([0, 0, 1, 2]) + (rng.random() < 0.05))
                request.rules.append(Rule(column, "distinct", str(number), number))
            elif name == "entropy":
                number = max(1.0, round(math.exp(entropy(counts)) * rng.choice([0.5, 0.8, 0.95, 1.0, 1.05]), 2))
                request.rules.append(Rule(column, "entropy", str(number), number))
            elif name == "recursive":
                level = rng.randrange(1, min(4, len(counts)) + 1)
                c = Fraction(rng.randrange(2, 30), 2)
                request.rules.append(Rule(column, "recursive", str(float(c)), c, second=level))
            elif name == "t" and not request.suppress:
                distance = rng.choice(["equal", "ordered"]) if column.kind == "numeric" and MISSING not in counts else "equal"
                number = rng.choice(["0.1", "0.3", "0.5", "0.05", "0.9"])
                request.rules.append(Rule(column, "t", number, Fraction(number), distance=distance))


def entropy(counts):
    total = sum(counts.values())
    return -sum(c / total * math.log(c / total) for c in counts.values())


def random_search(rng, request):
    """Algorithm, form of publication and the rest."""
    request.algorithm = rng.choice(ALGORITHMS)
    if request.reserved and rng.random() < 0.4:
        # Sets of values are what a reserved text can be mistaken for.
        request.algorithm = "optimal"
    if request.large and request.algorithm in ("bottom-up", "bottom-up-row", "optimal"):
        request.algorithm = rng.choice(["mondrian", "cluster", "top-down", "auto"])
    flags = ["--bound", rng.choice(["none", "none", "none", "quick", "full"] if not request.large else ["none"])]
    if request.algorithm == "ring":
        flags += ["--non-homogeneous"]
        request.suppress = None
    if request.algorithm == "auto":
        flags += ["--steps", str(rng.choice([0, 20, 200]))]
    if request.algorithm == "optimal":
        flags += ["--nodes", str(rng.choice([1, 20, 100]))]
        if rng.random() < 0.7 or request.reserved:
            request.schemes[None] = rng.choice(["sps", "gsps"] if request.reserved else SCHEMES)
            for column in request.of("quasi"):
                if rng.random() < 0.15:
                    request.schemes[column.name] = rng.choice(SCHEMES)
        if rng.random() < 0.2:
            flags += ["--branching", rng.choice(["bottom-up", "top-down"])]
    if request.algorithm in GLOBAL and rng.random() < 0.7:
        flags += ["--cost", rng.choice(["ncp", "hdm", "dm", "distortion"])]
    if rng.random() < 0.1:
        flags += ["--rounds", str(rng.randrange(1, 5))]
    request.publish = rng.choice(["label", "label", "set", "bounds"] if not request.reserved else ["label", "set"])
    request.snap = any(c.tree is not None and c.tree.how in ("intervals", "date") for c in request.of("quasi")) and rng.random() < 0.5
    request.input_order = rng.random() < 0.05
    request.raw = rng.random() < 0.05
    if rng.random() < 0.2:
        for column in request.of("quasi"):
            request.weights[column.name] = rng.choice(["0", "0.5", "2", "1000"])
    request.seed = rng.randrange(2**32)
    request.threads = rng.choice([1, 1, 2, 4])
    request.extra = flags
    if request.snap and any(scheme not in ("bhs", "ghs") for scheme in request.schemes.values()):
        if rng.random() < 0.8:
            request.schemes = {}
        else:
            request.doubts.append("snap and a scheme that cuts intervals")
    if request.algorithm == "ring":
        # A ring's rows do not list their values, and their order must not be that of the input.
        request.input_order = False
        request.publish = "label" if request.publish == "set" else request.publish
    listed = any(c.kind != "categorical" and c.tree is not None and c.tree.how not in ("intervals", "date") for c in request.of("quasi"))
    if request.snap and request.publish == "bounds" and listed:
        # The groups of a listed hierarchy have no ends: the program refuses them.
        if rng.random() < 0.9:
            request.publish = "label"
        else:
            request.doubts.append("snap and bounds")
    if request.algorithm == "ring" and keep_types_without_text(request):
        request.doubts.append("ring and binary columns")
    if len(request.of("quasi")) > 1 and request.publish == "bounds" and any(c.name == "a_min" for c in request.columns):
        request.doubts.append("a clash of names")
    request.needs_binary_output = keep_types_without_text(request)


def keep_types_without_text(request):
    """Whether a kept column has a type that no text file can hold."""
    return any(column.type is not None and column.kind in tables.WITHOUT_TEXT for column in request.of("keep"))


def make(rng):
    """One random request with its table."""
    request = Request()
    request.input = rng.choice(INPUTS)
    random_table(rng, request, request.input)
    random_hierarchies(rng, request)
    random_rules(rng, request)
    random_search(rng, request)
    request.output = rng.choice(OUTPUTS)
    spell(rng, request)
    return request


def spell(rng, request):
    """How the request and its files are written."""
    if request.needs_binary_output and request.output not in ("parquet", "arrow"):
        request.output = rng.choice(["parquet", "parquet", "arrow"])
    texts = [column.name for column in request.columns]
    for rule in request.rules:
        if rule.values:
            texts += rule.values[0]
    for column in request.of("quasi"):
        if column.tree is not None and (column.tree.bottom is not None or column.tree.top is not None or column.tree.origin):
            texts.append(",")
        texts += column.order or []
    request.by_flags = not any(letter in text for text in texts for letter in ",=\n\"") and not any(t != t.strip() or t.startswith("-") for t in texts) and rng.random() < 0.5
    csv_like = request.input.startswith(("csv", "tsv"))
    request.delimiter = "\t" if request.input == "tsv" else rng.choice([",", ",", ";", "|"]) if csv_like else None
    # The delimiter is said where the program might guess another.
    request.says_delimiter = csv_like and (request.nasty or request.odd_names or request.delimiter not in (",", "\t") or rng.random() < 0.3)
    request.line_ending = rng.choice(["\n", "\n", "\r\n"])
    request.always_quoted = rng.random() < 0.1
    request.row_group = rng.choice([1, 3, 50, 1000])


def own_delimiter(request, output=None):
    """The delimiter of the release as text: that of the source; `.tsv` has tabs, and no file of another name has."""
    output = output or request.output
    if output.startswith("tsv"):
        return "\t"
    if request.delimiter is None or (request.delimiter == "\t" and output != "stdout"):
        return ","
    return request.delimiter
