"""Random hierarchies, and the meaning of published labels: which values of the source a label stands for."""

import datetime
import re
from fractions import Fraction

from .tables import MISSING, instant, number, padded_fraction, quoted


class Tree:
    """A hierarchy of one column.

    how     file, prefix, intervals or date
    paths   for file and prefix: value -> the labels above it, up to the root
    """

    def __init__(self, how):
        self.how = how
        self.paths = {}
        self.file = None  # (name, bytes) of a hierarchy file
        self.levels = []
        self.origin = Fraction(0)
        self.bottom = self.top = None
        self.labels = None
        self.doubtful = False  # a value has a group of its own name above another group

    def named(self):
        """Label -> the values below it, for hierarchies by paths."""
        if self.labels is None:
            below = {}
            for value, path in self.paths.items():
                for label in path:
                    below.setdefault(label, set()).add(value)
            labels = {}
            for label, values in below.items():
                # A group with the name of one of its values is published with a word behind it, unless that value is all it has.
                shown = f"{label} (all)" if label in values and len(values) > 1 else label
                labels.setdefault(shown, set()).update(values)
            for value in self.paths:
                labels.setdefault("" if value == MISSING else value, set()).add(value)
            self.labels = labels
        return self.labels


def from_file(rng, column, values, extra, nasty, markers):
    """A random tree over the column's values (and some that do not occur), as a file."""
    tree = Tree("file")
    leaves = sorted({v for v in values if v != MISSING}, key=str)
    leaves += [f"extra{i}" for i in range(rng.randrange(0, 3) if extra else 0)]
    rng.shuffle(leaves)
    root = rng.choice(["*", "*", "any", "All of them"])
    depth = rng.choice([0, 1, 1, 2, 3])
    padded = rng.random() < 0.3

    def divide(part, above, left, name):
        """Gives every leaf of `part` its path (least group first)."""
        if left == 0 or (padded and len(part) == 1 and rng.random() < 0.5):
            for leaf in part:
                # A short path repeats its lowest label; the value itself is repeated where it stands right below the root.
                fill = (above[0] if above != [root] or rng.random() < 0.5 else leaf) if left else None
                tree.paths[leaf] = [fill] * left + above
            return
        pieces = rng.randrange(1, min(4, len(part)) + 1)
        cuts = sorted(rng.sample(range(1, len(part)), pieces - 1)) if len(part) > 1 else []
        for index, (start, end) in enumerate(zip([0] + cuts, cuts + [len(part)])):
            piece = part[start:end]
            label = f"{name}{index}"
            if nasty and rng.random() < 0.15:
                label = rng.choice(["g,", "g;", "G ", "é"]) + label
            if markers and rng.random() < 0.03:
                # A group that is named as missing values are: to be refused.
                label = rng.choice(markers)
                tree.doubtful = True
            elif rng.random() < 0.1 and not set(piece) & set(above):
                # A group with the name of one of its values.
                label = rng.choice(piece)
                tree.doubtful |= left > 1
            divide(piece, [label] + above, left - 1, name + str(index) + ".")

    divide(leaves, [root], depth, "g")
    if MISSING in values and rng.random() < 0.7:
        tree.paths[MISSING] = rng.choice([path for path in tree.paths.values()]) if rng.random() < 0.5 else ["unknown"] * depth + [root]
    delimiter = rng.choice([";", ";", ",", "\t"])
    lines = []
    for leaf, path in tree.paths.items():
        cells = ["" if leaf == MISSING else leaf] + path
        lines.append(delimiter.join(quoted(cell, delimiter, always=any(letter in cell for letter in ';,\t"\n\r')) for cell in cells))
    tree.file = (f"h-{len(column.name)}-{rng.randrange(10**6)}.csv", ("\n".join(lines) + "\n").encode())
    tree.root = root
    if MISSING in values and MISSING not in tree.paths:
        tree.paths[MISSING] = [root]
    return tree


def prefix(rng, values):
    tree = Tree("prefix")
    tree.levels = sorted(rng.sample([1, 2, 3, 4], rng.randrange(1, 4)), reverse=True)
    for value in set(values):
        if value == MISSING:
            tree.paths[value] = ["*"]
        else:
            tree.paths[value] = [value[:keep] + "*" * (len(value) - keep) if keep < len(value) else value for keep in tree.levels] + ["*"]
    tree.root = "*"
    return tree


def intervals(rng, column):
    tree = Tree("intervals")
    present = [v for v in column.values if v != MISSING]
    spread = max(present) - min(present) if present else Fraction(1)
    unit = Fraction(rng.choice([1, 2, 5, 10]))
    if spread > 1000:
        unit *= 10 ** (len(str(int(spread))) - 2)
    elif not column.whole and rng.random() < 0.5:
        unit /= rng.choice([2, 10])
    tree.levels = [unit]
    coded = rng.random() < 0.5
    for _ in range(rng.randrange(0, 3)):
        tree.levels.append(tree.levels[-1] * rng.choice([2, 3, 4]))
    if rng.random() < 0.3:
        tree.origin = Fraction(rng.randrange(-5, 6))
    if present and coded and rng.random() < 0.6:
        tree.bottom = Fraction(rng.choice(sorted(present))) + rng.choice([0, 0, 1, -1])
    if present and coded and rng.random() < 0.6:
        tree.top = Fraction(rng.choice(sorted(present))) + rng.choice([0, 0, 1, -1])
    if tree.bottom is not None and tree.top is not None and tree.bottom >= tree.top:
        tree.bottom = None
    return tree


def dates(rng):
    tree = Tree("date")
    order = ["day", "month", "quarter", "year", "decade"]
    tree.levels = [unit for unit in order if rng.random() < 0.5] or ["year"]
    return tree


# ---------------------------------------------------------------------------------------------------------------- labels


def members(text):
    """The members of a published set, or None where the text is no set."""
    if not (text.startswith("{") and text.endswith("}")):
        return None
    inner, found, at = text[1:-1], [], 0
    while True:
        if inner.startswith('"', at):
            word, at = "", at + 1
            while True:
                if at >= len(inner):
                    return None
                if inner.startswith('""', at):
                    word, at = word + '"', at + 2
                elif inner[at] == '"':
                    at += 1
                    break
                else:
                    word, at = word + inner[at], at + 1
            found.append(word)
            if at == len(inner):
                return found
            if not inner.startswith(", ", at):
                return None
            at += 2
        else:
            end = inner.find(", ", at)
            if end < 0:
                found.append(inner[at:])
                return found
            found.append(inner[at:end])
            at = end + 2


def plain_number(value):
    """A whole number as text; a decimal one without trailing zeros."""
    if value.denominator == 1:
        return str(value.numerator)
    digits = format(float(value), ".15g")
    return digits


class Labels:
    """What the labels of one quasi-identifier mean.

    `meaning(label)` gives the set of source values below a label, or None where no reading fits; `ends(label)` the two ends of a
    plain range, where the label is one; `parts(label)` the members of a set.
    """

    def __init__(self, column):
        self.column = column
        self.distinct = set(column.values)
        self.present = sorted((v for v in self.distinct if v != MISSING), key=self.rank)
        self.known = {}
        self.spellings = {}
        for cell, value in zip(column.cells, column.values):
            if value != MISSING and column.type is None:
                self.spellings.setdefault(cell, value)

    def rank(self, value):
        return self.column.order.index(value) if self.column.kind == "ordinal" else value

    def meaning(self, label):
        if label not in self.known:
            self.known[label] = self.read(label)
        return self.known[label]

    def value(self, text):
        """The value that a single text spells, or None."""
        kind = self.column.kind
        if kind == "numeric":
            return number(text)
        if kind == "date":
            return instant(padded_fraction(text))
        return text

    def ends(self, label):
        """(least, greatest) of a plain range such as [20-30] or [-5 .. 30], or None. All readings that make sense are looked at."""
        if not (label.startswith("[") and label.endswith("]")):
            return None
        inner = label[1:-1]
        for mark in (" .. ", "-"):
            at = inner.find(mark)
            while at >= 0:
                low, high = self.value(inner[:at]), self.value(inner[at + len(mark) :])
                if low is not None and high is not None and self.orderly(low, high):
                    return low, high
                at = inner.find(mark, at + 1)
        return None

    def orderly(self, low, high):
        if self.column.kind == "ordinal":
            order = self.column.order
            return low in order and high in order and order.index(low) < order.index(high)
        return low < high

    def between(self, low, high):
        low, high = self.rank(low), self.rank(high)
        return {v for v in self.present if low <= self.rank(v) <= high}

    def read(self, label):
        """All source values that the label may stand for."""
        if label is None or label == "":
            return {MISSING}
        found = set()
        column = self.column
        if column.kind == "categorical":
            if column.tree is not None and column.tree.how != "dates":
                found |= column.tree.named().get(label, set()) & self.distinct
                parts = members(label)
                if parts is not None:
                    for part in parts:
                        found |= ({MISSING} if part == "" else column.tree.named().get(part, set())) & self.distinct
            else:
                if label == "*":
                    return set(self.distinct)
                if label in self.distinct:
                    found.add(label)
                parts = members(label)
                if parts is not None:
                    found |= {MISSING if part == "" else part for part in parts} & self.distinct
            return found or None
        if label == "*":
            return set(self.distinct)
        single = self.value(label)
        if single is not None and single in self.distinct:
            found.add(single)
        pair = self.ends(label)
        if pair is not None:
            found |= self.between(*pair)
        if column.tree is not None:
            found |= self.interval(label) or set()
        return found or None

    def interval(self, label):
        """The values in an interval of the column's hierarchy: [0-10), <20, >=80, 2021-03, 2021-Q2, 2021, 2020s."""
        if self.column.kind == "numeric":
            match = re.fullmatch(r"\[(\S+?)(?:-| \.\. )(-?[0-9.eE+]+)\)", label)
            if match:
                low, high = number(match[1]), number(match[2])
                if low is not None and high is not None:
                    return {v for v in self.present if low <= v < high}
            if label.startswith("<") and number(label[1:]) is not None:
                return {v for v in self.present if v < number(label[1:])}
            if label.startswith(">=") and number(label[2:]) is not None:
                return {v for v in self.present if v >= number(label[2:])}
            return None
        if self.column.kind == "date":
            return {v for v in self.present if label in date_names(v)}
        return None

    def snapped(self, label):
        """Whether an interval label of a snapped column belongs to its hierarchy. True where the label is no interval."""
        tree = self.column.tree
        if tree is None or tree.how != "intervals":
            return True
        match = re.fullmatch(r"\[(\S+?)(-| \.\. )(-?[0-9.eE+]+)([\])])", label)
        if not match:
            return True
        low, high = number(match[1]), number(match[3])
        if low is None or high is None:
            return True
        beyond = high if match[4] == ")" else high + 1
        return self.on_grid(low) and self.on_grid(beyond)

    def on_grid(self, end):
        tree = self.column.tree
        if end in (tree.bottom, tree.top):
            return True
        return any(((end - tree.origin) / width).denominator == 1 for width in tree.levels)


def date_names(moment):
    """The names of the day, month, quarter, year and decade of an instant."""
    day = datetime.date(1970, 1, 1) + datetime.timedelta(days=moment // 86_400_000_000)
    return {
        day.isoformat(), day.strftime("%Y-%m"), f"{day.year}-Q{(day.month + 2) // 3}", f"{day.year} Q{(day.month + 2) // 3}", f"{day.year:04}",
        f"{day.year // 10 * 10}s",
    }
