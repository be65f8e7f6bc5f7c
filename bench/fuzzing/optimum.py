"""Tiny tables: the exact search against a brute force over all recodings that the schemes allow."""

import itertools
import json
import os
import random
from collections import Counter, defaultdict
from fractions import Fraction

from . import released, tables
from .released import Broken, demand
from .run import run

SCHEMES = ["bhs", "ghs", "gops", "ops", "gsps", "sps"]
MOST = 20_000  # recodings of a table that are looked at


class Attribute:
    """A quasi-identifier: its values in order, and its groups (a list of lists of values; None: no hierarchy)."""

    def __init__(self, name, kind, domain, groups, cells):
        self.name, self.kind, self.domain, self.groups, self.cells = name, kind, domain, groups, cells
        self.weight = Fraction(1)
        self.scheme = None

    def present(self):
        used = set(self.cells)
        return [value for value in self.domain if value in used]


def set_partitions(values):
    """All partitions of a list."""
    if not values:
        yield []
        return
    first, rest = values[0], values[1:]
    for partition in set_partitions(rest):
        yield [[first]] + partition
        for at in range(len(partition)):
            yield partition[:at] + [[first] + partition[at]] + partition[at + 1 :]


def interval_partitions(values):
    """All partitions into values in a row."""
    for cuts in itertools.product([False, True], repeat=len(values) - 1):
        blocks = [[values[0]]]
        for value, cut in zip(values[1:], cuts):
            if cut:
                blocks.append([value])
            else:
                blocks[-1].append(value)
        yield blocks


def guided(partition, groups):
    """Whether a block with values of two groups has both of them whole."""
    for block in partition:
        touched = [group for group in groups if set(group) & set(block)]
        if len(touched) > 1 and any(not set(group) <= set(block) for group in touched):
            return False
    return True


def partitions(attribute):
    """The partitions of the domain that the attribute's scheme allows, each once."""
    domain, scheme = attribute.domain, attribute.scheme
    groups = attribute.groups or [[value] for value in domain]
    if attribute.kind in ("numeric", "ordinal"):
        scheme = {"sps": "ops", "gsps": "gops"}.get(scheme, scheme)
    if scheme == "bhs":
        found = [[[v] for v in domain], [list(g) for g in groups], [list(domain)]]
    elif scheme == "ghs":
        found = [sum(choice, []) for choice in itertools.product(*([[[v] for v in g], [list(g)]] for g in groups))] + [[list(domain)]]
    elif scheme == "ops":
        found = interval_partitions(domain)
    elif scheme == "gops":
        found = (p for p in interval_partitions(domain) if guided(p, groups))
    elif scheme == "sps":
        found = set_partitions(domain)
    else:
        found = (p for p in set_partitions(domain) if guided(p, groups))
    seen = {}
    for partition in found:
        seen[frozenset(frozenset(block) for block in partition)] = partition
    return list(seen.values())


def block_loss(attribute, block, used):
    """The normalized certainty penalty of a cell in a block. `used`: the values that occur."""
    inside = [v for v in block if v in used]
    if len(inside) <= 1:
        return Fraction(0)
    if attribute.kind == "numeric":
        spread = max(used) - min(used)
        return Fraction(max(inside) - min(inside)) / Fraction(spread) if spread else Fraction(0)
    if attribute.kind == "ordinal":
        ranks = [attribute.domain.index(v) for v in inside]
        return Fraction(max(ranks) - min(ranks), len(attribute.domain) - 1)
    # A set can leave out the values that do not occur; a group of the hierarchy schemes cannot.
    size = len(block) if attribute.scheme in ("bhs", "ghs") else len(inside)
    return Fraction(size, len(attribute.domain))


def brute(attributes, sensitive, k, l, allowance, cost):
    """The least cost of all recodings, or None where none is valid."""
    rows = len(attributes[0].cells)
    choices = []
    for attribute in attributes:
        used, counts = set(attribute.cells), Counter(attribute.cells)
        found = {}
        for partition in partitions(attribute):
            code, loss, hdm = {}, {}, {}
            for at, block in enumerate(partition):
                total = sum(counts[v] for v in block)
                for value in block:
                    if value in used:
                        code[value] = at
                        loss[value] = attribute.weight * block_loss(attribute, block, used)
                        own = counts[value]
                        hdm[value] = Fraction(total - own, rows - own) if rows > own else Fraction(0)
            codes = tuple(code[cell] for cell in attribute.cells)
            terms = tuple(loss[cell] for cell in attribute.cells) if cost == "ncp" else tuple(hdm[cell] for cell in attribute.cells)
            found[codes, terms] = (codes, terms)
        choices.append(list(found.values()))
    best = None
    full = sum(attribute.weight for attribute in attributes)
    for choice in itertools.product(*choices):
        classes = defaultdict(list)
        for row, key in enumerate(zip(*(codes for codes, _ in choice))):
            classes[key].append(row)
        suppressed, total = 0, Fraction(0)
        for members in classes.values():
            size = len(members)
            good = size >= k and (l is None or max(Counter(sensitive[row] for row in members).values()) * l <= size)
            if not good:
                suppressed += size
                total += size * (rows if cost == "dm" else full if cost == "ncp" else 1)
            elif cost == "dm":
                total += size * size
            elif cost == "ncp":
                total += sum(terms[row] for _, terms in choice for row in members)
            else:
                total += sum(terms[row] for _, terms in choice for row in members) / len(choice)
        if suppressed <= allowance and suppressed < rows and (best is None or total < best):
            best = total
    if best is not None and cost == "hdm":
        best /= rows
    return best


def make(rng):
    """A random tiny problem whose recodings can all be looked at."""
    while True:
        rows = rng.randrange(2, 9)
        attributes = []
        for at in range(rng.choice([1, 1, 2, 2, 3])):
            attributes.append(attribute(rng, f"q{at}", rows))
        many = 1
        for one in attributes:
            many *= len(partitions(one))
        if many <= MOST:
            return attributes, rows


def attribute(rng, name, rows):
    kind = rng.choice(["flat", "tree", "tree", "numeric", "ordinal"])
    size = rng.randrange(1, 6)
    if kind == "numeric":
        domain = sorted(rng.sample(range(-9, 40), size))
    else:
        domain = [f"v{i}" for i in range(size)]
    groups = None
    # Values of the hierarchy that do not occur: only where a set may leave them out, so that the cost is beyond doubt.
    scheme = rng.choice(SCHEMES)
    extra = kind == "tree" and scheme == "sps" and rng.random() < 0.3
    if kind == "tree":
        rng.shuffle(domain)
        if extra:
            domain = domain + ["x0", "x1"][: rng.randrange(1, 3)]
            rng.shuffle(domain)
        pieces = rng.randrange(1, min(3, len(domain)) + 1)
        cuts = sorted(rng.sample(range(1, len(domain)), pieces - 1)) if len(domain) > 1 else []
        groups = [domain[a:b] for a, b in zip([0] + cuts, cuts + [len(domain)])]
        if extra:
            groups = [domain]
    possible = [v for v in domain if not str(v).startswith("x")]
    cells = [rng.choice(possible) for _ in range(rows)]
    if not extra:
        # Every value of the domain occurs.
        used = set(cells)
        domain = [v for v in domain if v in used]
        groups = [[v for v in g if v in used] for g in groups] if groups else None
        groups = [g for g in groups if g] if groups else None
    found = Attribute(name, {"flat": "categorical", "tree": "categorical"}.get(kind, kind), domain, groups, cells)
    found.flat_tree = extra
    if kind in ("numeric", "ordinal"):
        scheme = rng.choice(["ops", "sps"])
    found.scheme = scheme
    return found


def optimum(seed, program, folder, notes):
    rng = random.Random(f"optimum {seed}")
    attributes, rows = make(rng)
    k = rng.choice([1, 2, 2, 3, 3, max(1, rows // 2)])
    sensitive = [rng.choice("xyz") for _ in range(rows)]
    greatest = max(Counter(sensitive).values())
    l = rng.choice([None, None, 2]) if greatest * 2 <= rows else None
    cost = rng.choice(["dm", "ncp", "ncp", "hdm"])
    share = rng.choice([None, None, "10%", "30%", "99%"])
    allowance = int(Fraction(share.rstrip("%")) / 100 * rows) if share else 0
    weighted = cost == "ncp" and rng.random() < 0.3
    columns = [tables.Column(a.name, "quasi", a.kind, [str(c) for c in a.cells], list(a.cells)) for a in attributes]
    columns.append(tables.Column("s", "sensitive", "categorical", sensitive, sensitive))
    tables.write(os.path.join(folder, "in.csv"), columns, list(range(rows)))
    words = ["anonymize", "in.csv", "--qi", ",".join(a.name for a in attributes), "--sensitive", "s", "-k", str(k), "--algorithm", "optimal", "--cost", cost, "--json", "-o", "out.csv", "--seed", "1"]
    words += ["--threads", str(rng.choice([1, 2])), "--time", "10s"]
    for a in attributes:
        if a.kind == "ordinal":
            with open(os.path.join(folder, f"{a.name}.txt"), "w", encoding="utf-8") as file:
                file.write("\n".join(a.domain) + "\n")
            words += ["--order", f"{a.name}={a.name}.txt"]
        else:
            words += ["--kind", f"{a.name}={a.kind}"]
        words += ["--scheme", f"{a.name}={a.scheme}"]
        if a.groups is not None:
            with open(os.path.join(folder, f"{a.name}.csv"), "w", encoding="utf-8") as file:
                for at, group in enumerate(a.groups):
                    file.writelines(f"{value};*\n" if a.flat_tree else f"{value};g{at};*\n" for value in group)
            words += ["--hierarchy", f"{a.name}={a.name}.csv"]
        if weighted:
            a.weight = Fraction(rng.choice([1, 2, 3]))
            words += ["--weight", f"{a.name}={a.weight}"]
    if l:
        words += ["--l", f"s={l}"]
    if share:
        words += ["--suppress", share]
    if rng.random() < 0.3:
        words += ["--branching", rng.choice(["bottom-up", "top-down"])]
    if rng.random() < 0.2:
        words += ["--without", rng.choice(["seeding", "both-sides", "charge", "prices", "useless", "useful", "node-order", "applicator-order", "deferral"])]
    best = brute(attributes, sensitive, k, l, allowance, cost)
    result = run(program, words, folder)
    notes["cost"] = [cost]
    notes["scheme"] = [a.scheme for a in attributes]
    notes["exit"] = [result.code]
    demand(result.code in (0, 1), f"exit {result.code}: {result.said.strip()[-200:]}")
    if result.code == 1:
        demand(best is None or k > rows, f"says infeasible; a recoding of cost {float(best or 0):.6g} is valid: {result.said.strip()[-160:]}")
        return
    if best is None:
        raise Broken("exit 0, but no recoding is valid")
    found = json.loads(result.out)
    value = found["optimum"]["value"]
    notes["proven"] = [found["optimum"]["proven"]]
    close = 1e-9 * max(1, abs(float(best)))
    if found["optimum"]["proven"]:
        demand(abs(value - float(best)) <= close, f"says the optimum of {cost} is {value}; all recodings: {float(best):.12g}")
    else:
        demand(value >= float(best) - close, f"cost {value} is below the least {float(best):.12g}")
        demand(found["optimum"]["bound"] <= float(best) + close, f"the bound {found['optimum']['bound']} is above the least cost {float(best):.12g}")
    with open(os.path.join(folder, "out.csv"), "rb") as file:
        release = released.read(file.read(), "csv", raw=False)
    sizes = Counter(tuple(row[:-1]) for row in release.rows)
    demand(min(sizes.values()) >= k, "a class below k")
    if cost == "dm":
        counted = sum(size * size for size in sizes.values()) + (rows - len(release.rows)) * rows
        demand(counted <= value + close, f"C_DM of the file is {counted}, the search said {value}")
    notes["verified"] = [1]
