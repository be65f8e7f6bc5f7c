"""Verifies a release: rules, truth, counts, with arithmetic of its own."""

import math
from collections import Counter, defaultdict
from fractions import Fraction

from .hierarchies import Labels, members
from .matching import saturates
from .released import demand, released_key, source_key
from .request import GLOBAL, entropy
from .tables import MISSING, number

# Entropy and t need sums of floating point numbers: the program has a tolerance, and so have we.
TOLERANCE = 1e-6

# ----------------------------------------------------------------------------------------------------------------- rules


def holds(rule, values, whole):
    """Whether a class with these sensitive values satisfies a rule. `whole` counts the values of the whole table."""
    counts, size = Counter(values), len(values)
    if rule.name == "alpha":
        if rule.values:
            return sum(counts[v] for v in rule.values[1]) <= rule.number * size
        return max(counts.values()) <= rule.number * size
    if rule.name == "l":
        return max(counts.values()) * rule.number <= size
    if rule.name == "distinct":
        return len(counts) >= rule.number
    if rule.name == "entropy":
        return entropy(counts) >= math.log(rule.number) - TOLERANCE
    if rule.name == "recursive":
        ordered = sorted(counts.values(), reverse=True)
        return ordered[0] < rule.number * sum(ordered[rule.second - 1 :])
    if rule.name == "t":
        return distance(rule.distance, counts, whole) <= rule.number + Fraction(TOLERANCE)
    raise AssertionError(rule.name)


def distance(kind, counts, whole):
    """The earth mover's distance of two distributions."""
    size, total = sum(counts.values()), sum(whole.values())
    if kind == "equal":
        return sum(abs(Fraction(counts[v], size) - Fraction(c, total)) for v, c in whole.items()) / 2
    ordered = sorted(whole)
    if len(ordered) < 2:
        return Fraction(0)
    moved, carried = Fraction(0), Fraction(0)
    for value in ordered[:-1]:
        carried += Fraction(counts[value], size) - Fraction(whole[value], total)
        moved += abs(carried)
    return moved / (len(ordered) - 1)


def infeasible(request):
    """Surely no release can satisfy the request. (False says nothing.)"""
    rows, allowance = request.rows, request.allowance
    if any(k > rows for k in [request.k] + [k for k, _ in request.k_on]):
        return "k"
    for rule in request.rules:
        whole = Counter(rule.column.values)
        if not allowance:
            if rule.name == "entropy" and abs(entropy(whole) - math.log(rule.number)) < 1e-3:
                continue
            if rule.name != "t" and not holds(rule, rule.column.values, whole):
                return rule.name
        elif rule.name == "distinct" and len(whole) < rule.number:
            return rule.name
        elif rule.name in ("alpha", "l") and not rule.values:
            share = rule.number if rule.name == "alpha" else 1 / rule.number
            sizes = range(max(1, rows - allowance), rows + 1)
            if not any(sum(min(c, math.floor(share * n)) for c in whole.values()) >= n for n in sizes):
                return rule.name
    return None


def surely_feasible(request):
    """The whole table as one class satisfies every rule, without a doubt."""
    if any(k > request.rows for k in [request.k] + [k for k, _ in request.k_on]):
        return False
    for rule in request.rules:
        whole = Counter(rule.column.values)
        if rule.name == "entropy" and entropy(whole) < math.log(rule.number) + 1e-3:
            return False
        if not holds(rule, rule.column.values, whole):
            return False
    return True


# ----------------------------------------------------------------------------------------------------------------- truth


class Verifier:
    """Verifies one release of a request."""

    def __init__(self, request):
        self.request = request
        self.quasi = request.of("quasi")
        self.carried = [c for c in request.columns if c.role in ("sensitive", "keep")]
        self.labels = {column.name: Labels(column) for column in self.quasi}
        self.publish = request.publish

    def header(self):
        """The names that the release must have, and where each quasi-identifier's cells stand."""
        names, places = [], {}
        for column in self.request.columns:
            if column.role in ("identifier", "person"):
                continue
            start = len(names)
            if column.role == "quasi" and self.publish == "bounds" and column.kind != "categorical":
                names += [column.name + "_min", column.name + "_max"]
                # Under snap `*` has no ends: the third column tells it from a missing value.
                snaps = self.request.snap and column.tree is not None
                if MISSING in column.values or snaps:
                    names.append(column.name + "_missing")
            else:
                names.append(column.name)
            places[column.name] = (start, len(names))
        return names, places

    def verify(self, release, reported=None):
        """Raises Broken where the release is at fault. Gives the classes and, where rows are known, which were suppressed."""
        request = self.request
        names, self.places = self.header()
        demand(release.names == names, f"the header is not what the request says: {len(release.names)} names for {len(names)}")
        suppressed = request.rows - len(release.rows)
        demand(suppressed >= 0, "more rows than the source has")
        limit = request.allowance
        if request.algorithm != "ring":
            demand(suppressed <= limit, f"{suppressed} rows suppressed, {limit} allowed")
        classes = defaultdict(list)
        keys = []
        for row in release.rows:
            # A null and an empty text are said apart by neither CSV nor us.
            key = tuple(tuple("" if cell is None else str(cell) for cell in row[slice(*self.places[c.name])]) for c in self.quasi)
            keys.append(key)
            classes[key].append(row)
        if reported is not None:
            self.compare_report(release, classes, suppressed, reported)
        meanings = [self.meaning(key) for key in keys]
        if request.algorithm == "ring":
            self.candidates(meanings)
        else:
            self.rules(release, classes, keys)
            if not request.input_order:
                self.contiguous(keys)
        sources = self.match(release, meanings)
        if request.algorithm != "ring":
            self.attained(keys, sources)
        return classes, sources

    def compare_report(self, release, classes, suppressed, reported):
        demand(reported["released"] == len(release.rows), "--json says another number of released rows")
        demand(reported["suppressed"] == suppressed, "--json says another number of suppressed rows")
        demand(reported["input_rows"] == self.request.rows, "--json says another number of input rows")
        if self.request.algorithm != "ring" and release.rows:
            demand(reported["measures"]["k"] == min(map(len, classes.values())), "--json says another size of the smallest class")
            demand(reported["measures"]["classes"] == len(classes), "--json says another number of classes")
            cost = sum(len(rows) ** 2 for rows in classes.values()) + suppressed * self.request.rows
            demand(reported["loss"]["c_dm"] == cost, "--json says another C_DM than the file has")

    def rules(self, release, classes, keys):
        request = self.request
        for rows in classes.values():
            demand(len(rows) >= request.k, f"a class of {len(rows)} rows, k = {request.k}")
        for k, columns in request.k_on:
            at = [self.quasi.index(column) for column in columns]
            sizes = Counter(tuple(key[i] for i in at) for key in keys)
            demand(all(size >= k for size in sizes.values()), f"k-on: a class of {min(sizes.values(), default=0)} rows, k = {k}")
        for rule in request.rules:
            place = self.places[rule.column.name][0]
            whole = Counter(rule.column.values)
            for rows in classes.values():
                values = [sensitive_value(rule.column, row[place], request.markers) for row in rows]
                demand(holds(rule, values, whole), f"a class of {len(rows)} rows breaks {rule.name} {rule.text}")

    def contiguous(self, keys):
        """Equal rows stand together: otherwise the order tells two classes with one label apart."""
        seen, last = set(), None
        for key in keys:
            if key != last:
                demand(key not in seen, "two classes share one label and are said apart by the order of the rows")
                seen.add(key)
                last = key

    def meaning(self, key):
        """For each quasi-identifier the source values that the published cells may stand for."""
        found = []
        for column, cells in zip(self.quasi, key):
            labels = self.labels[column.name]
            demand(not set(cells) & set(self.request.markers), f"a label of column {column.name!r} is a text that the request calls missing")
            if len(cells) == 1 and not (self.publish == "bounds" and column.kind != "categorical"):
                values = labels.meaning(cells[0])
                if self.request.snap and column.kind == "numeric":
                    demand(labels.snapped(cells[0]) or column.tree is None, "snap: a range that is no interval of the hierarchy")
            else:
                values = self.bounds(column, labels, cells)
                if self.request.snap and column.tree is not None and column.tree.how == "intervals":
                    ends = [labels.value(cell) for cell in cells[:2] if cell != ""]
                    demand(len(set(ends)) < 2 or labels.on_grid(ends[0]), "snap: bounds that are no interval of the hierarchy")
            demand(values is not None, f"a label of column {column.name!r} ({column.kind}) covers no value of the source")
            found.append(values)
        return tuple(found)

    def bounds(self, column, labels, cells):
        """The meaning of typed bounds: empty ends are open, and _missing says whether a missing value may be behind them."""
        low, high = (labels.value(cell) if cell != "" else None for cell in cells[:2])
        demand((cells[0] == "" or low is not None) and (cells[1] == "" or high is not None), "an end of bounds cannot be read")
        missing = cells[2] if len(cells) > 2 else "no"
        demand(missing in ("yes", "no", "maybe"), "a word other than yes, no, maybe in a _missing column")
        found = set()
        if missing != "yes":
            rank = labels.rank
            found |= {v for v in labels.present if (low is None or rank(low) <= rank(v)) and (high is None or rank(v) <= rank(high))}
        if missing != "no":
            found.add(MISSING)
        return (found & labels.distinct) or None

    def match(self, release, meanings):
        """Matches every released row with a source row of its own that it covers and whose carried cells it has.

        Gives, for each released row, the source rows that it can be. A group of equal carried cells is matched by augmenting paths."""
        request = self.request
        markers = request.markers
        source = defaultdict(list)
        for row in range(request.rows):
            source[tuple(source_key(c, row, markers) for c in self.carried)].append(row)
        released = defaultdict(list)
        for at, cells in enumerate(release.rows):
            key = tuple(released_key(c, cells[self.places[c.name][0]], markers, release.text) for c in self.carried)
            released[key].append(at)
        possible = [None] * len(release.rows)
        for key, rows in released.items():
            candidates = source.get(key)
            demand(candidates is not None, "a released row has carried cells that no source row has")
            demand(len(rows) <= len(candidates), "carried cells occur more often than in the source")
            tuples = defaultdict(list)
            for row in candidates:
                tuples[tuple(c.values[row] for c in self.quasi)].append(row)
            kinds = defaultdict(list)
            for at in rows:
                kinds[id_of(meanings[at])].append(at)
            edges = {}
            for kind, ats in kinds.items():
                sets = meanings[ats[0]]
                edges[kind] = [t for t in tuples if all(value in part for value, part in zip(t, sets))]
                reach = [row for t in edges[kind] for row in tuples[t]]
                for at in ats:
                    possible[at] = reach
            demand(
                saturates({kind: len(ats) for kind, ats in kinds.items()}, {t: len(r) for t, r in tuples.items()}, edges),
                "a released row covers no source row of its own (untrue labels)",
            )
        return possible

    def candidates(self, meanings):
        """Non-homogeneous: every released row covers at least k source rows, every person is covered by at least k released rows."""
        k = self.request.k
        tuples = Counter(tuple(c.values[row] for c in self.quasi) for row in range(self.request.rows))
        shown = Counter(map(id_of, meanings))
        sets = {id_of(m): m for m in meanings}
        persons = Counter()
        for kind, count in shown.items():
            inside = [t for t in tuples if all(value in part for value, part in zip(t, sets[kind]))]
            demand(sum(tuples[t] for t in inside) >= k, "a released row has fewer than k candidates")
            for t in inside:
                persons[t] += count
        if len(meanings) == self.request.rows:
            demand(all(persons[t] >= k for t in tuples), "a person has fewer than k candidates")

    def attained(self, keys, possible):
        """Ends of ranges and members of sets belong to rows that can be behind them: rows of the class, or, where
        values are recoded globally, released rows of any class with that label."""
        request = self.request
        # Under a rule on some columns these show what a larger class has.
        whole = request.algorithm in GLOBAL or bool(request.k_on)
        reach = defaultdict(set)
        for key, rows in zip(keys, possible):
            if rows is None:
                continue
            for at, column in enumerate(self.quasi):
                reach[(at, key[at]) if whole else (at, key[at], key)].update(column.values[row] for row in rows)
        for key in set(keys):
            for at, column in enumerate(self.quasi):
                cells, labels = key[at], self.labels[column.name]
                values = reach[(at, cells) if whole else (at, cells, key)]
                if len(cells) > 1:
                    # Snapped bounds are ends of intervals.
                    if not (request.snap and column.tree is not None):
                        for cell in cells[:2]:
                            demand(cell == "" or labels.value(cell) in values, f"an end of bounds of {column.name!r} is attained by no row of the class")
                    continue
                pair = labels.ends(cells[0]) if column.kind != "categorical" else None
                if pair is not None and not (request.snap and column.tree is not None):
                    demand(pair[0] in values and pair[1] in values, f"an end of a range of {column.name!r} is attained by no row of the class")
                parts = members(cells[0]) if column.kind == "categorical" else None
                if parts is not None and cells[0] not in labels.distinct:
                    for part in parts:
                        below = {MISSING} if part == "" else {part} if column.tree is None else column.tree.named().get(part, set())
                        demand(bool(below & values), f"a member of a set of {column.name!r} belongs to no row of the class")


def sensitive_value(column, cell, markers):
    """What a released sensitive cell counts as."""
    if cell is None or cell == "" or cell in markers:
        return MISSING
    if column.kind == "numeric":
        value = number(cell) if isinstance(cell, str) else Fraction(str(cell))
        return cell if value is None else value
    return cell


def id_of(meaning):
    return tuple(frozenset(part) for part in meaning)
