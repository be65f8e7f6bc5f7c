"""Counts persons along the origins of a release, and evaluates every rule by its definition: plain dicts and fractions.

Whole persons: all rows of a person are in one class; a person counts once, and has a value if any row has it.
Rows: k counts different persons; a row weighs one over the number of its person's rows.
"""

import itertools
import math
from collections import Counter, defaultdict
from fractions import Fraction

from .request import entropy
from .verifier import TOLERANCE, distance

# The least common multiple of 1 to 16: the weight of a person, in parts.
PARTS = 720720


class Persons:
    """The persons of a table: `of` gives the key of each row, `counts` how many rows a row stands for."""

    def __init__(self, request):
        keys = request.of("person")
        self.of = [tuple(key_text(column.cells[row], request.markers) for column in keys) for row in range(request.rows)]
        count = next(iter(request.of("count")), None)
        self.counts = [int(cell) for cell in count.cells] if count else [1] * request.rows
        self.rows = defaultdict(list)
        for row, person in enumerate(self.of):
            self.rows[person].append(row)
        self.total = sum(self.counts)
        self.size = {person: sum(self.counts[row] for row in rows) for person, rows in self.rows.items()}
        quasi = request.of("quasi")
        self.changing = sum(len({tuple(c.values[row] for c in quasi) for row in rows}) > 1 for rows in self.rows.values())

    def reading(self, request):
        """The reading that the run must take."""
        if request.reading:
            return request.reading
        if request.pseudonyms:
            return "whole"
        return "whole" if self.changing * 10 <= len(self.rows) else "rows"


def key_text(cell, markers):
    """The text of a key cell; all cells that mean missing are one."""
    text = "" if cell is None else str(cell)
    return "" if text == "" or text.strip(" ") in markers else text


def count_persons(members, persons):
    """How many persons are behind (row, count) pairs."""
    return len({persons.of[row] for row, _ in members})


def distribution(members, persons, values, reading):
    """What each value weighs."""
    weights = Counter()
    if reading == "rows":
        for row, count in members:
            weights[values[row]] += max(1, PARTS // persons.size[persons.of[row]]) * count
        return weights
    for own in values_of(members, persons, values).values():
        for value in own:
            weights[value] += PARTS // len(own)
    return weights


def values_of(members, persons, values):
    """Person -> the values of the person's rows."""
    found = defaultdict(set)
    for row, _ in members:
        found[persons.of[row]].add(values[row])
    return found


def holds(rule, members, persons, reading, whole):
    """Whether a class of (row, count) pairs satisfies a rule. `whole` is the distribution of the whole table."""
    values = rule.column.values
    if rule.name in ("entropy", "t"):
        weights = distribution(members, persons, values, reading)
        if rule.name == "entropy":
            return entropy(weights) >= math.log(rule.number) - TOLERANCE
        return distance(rule.distance, weights, whole) <= rule.number + Fraction(TOLERANCE)
    if reading == "whole":
        own = values_of(members, persons, values)
        size = len(own)
        counts = Counter(value for held in own.values() for value in held)
        named = sum(bool(held & rule.values[1]) for held in own.values()) if rule.values else None
    else:
        counts = distribution(members, persons, values, reading)
        size = sum(counts.values())
        named = sum(counts[value] for value in rule.values[1]) if rule.values else None
    ordered = sorted(counts.values(), reverse=True)
    if rule.name == "alpha":
        return (ordered[0] if named is None else named) <= rule.number * size
    if rule.name == "l":
        return ordered[0] * rule.number <= size
    if rule.name == "distinct":
        if reading == "whole":
            return sum(ordered[: rule.number - 1]) < size
        return len(ordered) >= rule.number
    if rule.name == "recursive":
        return ordered[0] < rule.number * max(0, size - sum(ordered[: rule.second - 1]))
    raise AssertionError(rule.name)


def broken_rule(request, classes, keys, persons, reading):
    """What is broken, in words, or None. `classes`: label -> (row, count) pairs; `keys`: the labels as tuples over the quasi-identifiers."""
    everything = [(row, persons.counts[row]) for row in range(request.rows)]
    for members in classes.values():
        if count_persons(members, persons) < request.k:
            return f"a class of {count_persons(members, persons)} persons, k = {request.k}"
    quasi = request.of("quasi")
    for k, columns in request.k_on:
        at = [quasi.index(column) for column in columns]
        larger = defaultdict(list)
        for key in keys:
            larger[tuple(key[i] for i in at)] += classes[key]
        for members in larger.values():
            if count_persons(members, persons) < k:
                return f"k-on: a class of {count_persons(members, persons)} persons, k = {k}"
    for rule in request.rules:
        whole = distribution(everything, persons, rule.column.values, reading)
        for members in classes.values():
            if not holds(rule, members, persons, reading, whole):
                return f"a class of {count_persons(members, persons)} persons breaks {rule.name} {rule.text} ({reading})"
    return None


def feasible_at_once(request, persons, reading, dropped=()):
    """The whole table, without some persons, satisfies every rule as one class, without a doubt."""
    members = [(row, persons.counts[row]) for row in range(request.rows) if persons.of[row] not in dropped]
    if not members:
        return False
    for rule in request.rules:
        if rule.name == "entropy" and entropy(distribution(members, persons, rule.column.values, reading)) < math.log(rule.number) + 1e-3:
            return False
    key = ("all",) * len(request.of("quasi"))
    return broken_rule(request, {key: members}, [key], persons, reading) is None


def feasible_without_some(request, persons):
    """Whole persons, few of them: which persons to suppress so that the others hold as one class; None where there are none."""
    allowed = math.floor(request.suppress[1] * len(persons.rows)) if request.suppress else 0
    for number in range(allowed + 1):
        for dropped in itertools.combinations(persons.rows, number):
            if feasible_at_once(request, persons, "whole", dropped):
                return dropped
    return None
