"""Reads a written release by its own means, and compares kept cells with the source."""

import csv
import datetime
import decimal
import gzip
import io
import re

import pyarrow as pa
import pyarrow.parquet

from .tables import instant, padded_fraction

csv.field_size_limit(2**31 - 1)


class Broken(Exception):
    """The program is at fault; the text says how."""


def demand(holds, what):
    if not holds:
        raise Broken(what)


# -------------------------------------------------------------------------------------------------------------- reading

NUMBER_BEHIND_SIGN = re.compile(r"\s*(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?\s*\Z")


def formula(text):
    """Whether a spreadsheet would run a text."""
    if text[:1] in ("=", "@", "\t", "\r"):
        return True
    if text[:1] in ("+", "-"):
        rest = text[1:].strip(" ")
        return bool(rest) and not NUMBER_BEHIND_SIGN.match(rest)
    return False


def unguarded(text):
    """A cell of a text file without its guard: one apostrophe less before apostrophes and a formula."""
    bare = text.lstrip("'")
    return text[1:] if len(bare) < len(text) and formula(bare) else text


def guarded(text):
    return "'" + text if formula(text.lstrip("'")) else text


class Release:
    """The names of the columns and the rows; cells are texts (text files) or Python values (Parquet, Arrow)."""

    def __init__(self, names, rows, text):
        self.names, self.rows, self.text = names, rows, text


def decompressed(data, ending):
    if ending.endswith(".gz"):
        return gzip.decompress(data)
    if ending.endswith(".zst"):
        with pa.CompressedInputStream(pa.BufferReader(data), "zstd") as stream:
            return stream.read()
    return data


def read(data, ending, raw, delimiter=","):
    """The release in these bytes, as text with this delimiter. `raw`: formulas were not guarded."""
    if ending == "parquet":
        table = pyarrow.parquet.read_table(pa.BufferReader(data))
    elif ending == "arrow":
        table = pa.ipc.open_file(pa.BufferReader(data)).read_all()
    else:
        text = decompressed(data, ending).decode("utf-8")
        lines = list(csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True))
        demand(bool(lines), "the release has no header")
        width = len(lines[0])
        # A row of one empty cell must not become an empty line: readers skip these.
        demand(all(len(line) == width for line in lines), "rows of the release differ in their number of cells")
        strip = (lambda cell: cell) if raw else checked_unguard
        return Release([strip(name) for name in lines[0]], [[strip(cell) for cell in line] for line in lines[1:]], True)
    columns = [plain(table.column(i)) for i in range(table.num_columns)]
    return Release(list(table.column_names), [list(row) for row in zip(*columns)], False)


def plain(column):
    """The cells of an Arrow column as Python values."""
    if pa.types.is_timestamp(column.type) and column.type.unit == "ns":
        column = column.cast(pa.timestamp("us", column.type.tz), safe=False)
    return column.to_pylist()


def checked_unguard(cell):
    demand(not formula(cell), "a cell or column name that a spreadsheet would run is not guarded")
    return unguarded(cell)


# ------------------------------------------------------------------------------------------------------- carried columns


def frozen(value):
    """A value that can be compared and counted."""
    if isinstance(value, list):
        return ("list", *map(frozen, value))
    if isinstance(value, dict):
        return ("dict", *((key, frozen(inner)) for key, inner in value.items()))
    if isinstance(value, float):
        return ("float", repr(value))
    return value


def source_key(column, row, markers):
    """A carried cell of the source, to compare with released ones."""
    cell = column.cells[row]
    if cell is None or cell == "":
        return None
    if column.role == "sensitive" and cell in markers:
        return None
    if isinstance(cell, datetime.datetime):
        return instant(cell.isoformat())
    return frozen(cell)


def released_key(column, cell, markers, text):
    """The same cell of the release."""
    if cell is None or cell == "":
        return None
    if column.role == "sensitive" and cell in markers:
        return None
    if column.type is None or not text:
        if isinstance(cell, datetime.datetime):
            return instant(cell.isoformat())
        return frozen(cell)
    return typed_key(column.type, cell)


def typed_key(kind, cell):
    """What a text says, where the source has a typed column."""
    try:
        if pa.types.is_boolean(kind):
            return {"true": True, "false": False}[cell]
        if pa.types.is_integer(kind):
            return int(cell)
        if pa.types.is_floating(kind):
            return frozen(float(cell))
        if pa.types.is_decimal(kind):
            return decimal.Decimal(cell)
        if pa.types.is_date(kind):
            return datetime.date.fromisoformat(cell[:10])
        if pa.types.is_timestamp(kind):
            return instant(padded_fraction(cell))
        if pa.types.is_time(kind):
            return datetime.time.fromisoformat(cell)
    except (ValueError, KeyError, decimal.InvalidOperation):
        return ("unreadable", cell)
    return cell
