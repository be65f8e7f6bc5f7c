"""One case of persons: a random table in which persons have several rows, and the release verified along its proof.

The proof says which source rows each released row stands for. It is believed only as far as it holds: no source row is used more
often than it occurs, released cells cover it, passed cells are its own. Then persons are counted (person_rules.py)."""

import csv
import json
import math
import os
import random
import re
import shutil
import stat
from collections import Counter, defaultdict
from fractions import Fraction

import pyarrow as pa

from . import conformance, person_faults, person_rules, released, request as requests, tables
from .conformance import Case, anonymize, check_exit, release_bytes
from .person_rules import Persons
from .released import demand, released_key, source_key
from .request import GLOBAL, entropy
from .tables import CANARY, MISSING
from .verifier import Verifier

PROOF = os.path.join("out", "proof.csv")
LOCAL = [name for name in requests.ALGORITHMS if name not in GLOBAL and name != "ring"]

# ------------------------------------------------------------------------------------------------------------ the table


def sizes(rng, rows):
    """How many rows each person has."""
    style = rng.choice(["one", "few", "few", "few", "many", "heavy", "equal"])
    found, left = [], rows
    if style == "heavy":
        found.append(max(1, rows // rng.choice([2, 3])))
        left -= found[0]
    each = rng.choice([2, 3, 5])
    while left:
        size = {"one": 1, "few": rng.choice([1, 1, 2, 3, 4]), "many": rng.randrange(1, 20), "heavy": rng.choice([1, 1, 1, 2]), "equal": each}[style]
        found.append(min(left, size))
        left -= found[-1]
    return found


def key_texts(rng, number, style):
    """Different texts for persons."""
    if style == "numbers":
        spelled = ["1", "01", "1.0", "+1", "1e0", "10", "-1", "0", "00", "1.00"]
        return (spelled + [str(at) for at in range(100, 100 + number)])[:number]
    if style == "unicode":
        odd = ["é", "e\u0301", "日本", "ß", "ss", "SS", "ﬀ", "ff", "Ⅳ", "IV", "\u212b", "Å", "a\u200b", "a", "😀", "İ", "i\u0307"]
        return (odd + [f"ü{at}" for at in range(number)])[:number]
    if style == "blanks":
        odd = ["a", " a", "a ", "a  ", "A", "a\u00a0", "a b", "a  b", "\ta", "'a", "=a", "'=a", '"a"', "a,b", "a;b", "a\nb"]
        return (odd + [f"x {at}" for at in range(number)])[:number]
    return [f"{CANARY}p{rng.randrange(10**6):06}n{at}" for at in range(number)]


def keys(rng, number, several):
    """Different keys: tuples of texts. Cells of several columns repeat, run together to the same text, and may be missing."""
    if several == 1:
        return [(text,) for text in key_texts(rng, number, rng.choice(["plain", "plain", "numbers", "unicode", "blanks"]))]
    found = {}
    pool = ["a", "ab", "b", "bc", "c", "abc", "1", "11", "", "  ", " a", "é", "e\u0301", "x\x1fy", "\x1f"] + key_texts(rng, 4, "plain")
    pool = rng.sample(pool, rng.randrange(4, len(pool)))
    for at in range(number * 20):
        key = tuple(rng.choice(pool) for _ in range(several))
        if any(key):
            found.setdefault(key)
        if len(found) == number:
            break
    for at in range(number - len(found)):
        found.setdefault((f"n{at}",) + ("",) * (several - 1))
    return list(found)


def give_persons(rng, request):
    """Gives every row a person. Quasi-identifiers of a person stay, or change in some rows; sensitive values too."""
    rows = request.rows
    groups = sizes(rng, rows)
    several = rng.choice([1, 1, 1, 2, 3])
    named = keys(rng, len(groups), several)
    rng.shuffle(named)
    owners = [key for key, size in zip(named, groups) for _ in range(size)]
    rng.shuffle(owners)
    changing = rng.choice([0, 0, 0, 0.03, 0.3, 1])
    sticky = rng.random()
    first, mobile = {}, {}
    for row, owner in enumerate(owners):
        lead = first.setdefault(owner, row)
        for column in request.columns:
            if getattr(column, "row_id", False) or column.role in ("identifier", "keep"):
                continue
            if column.role == "quasi":
                stays = not mobile.setdefault((owner, column.name), rng.random() < changing) or rng.random() < 0.5
            else:
                stays = rng.random() < sticky
            if stays:
                column.cells[row], column.values[row] = column.cells[lead], column.values[lead]
                if column.kind == "numeric" and column.role == "quasi" and column.type is None and request.nasty and column.values[row] != MISSING:
                    column.cells[row] = tables.spelled(rng, column.values[row])
    names = iter(["pid", "person key", "Schlüssel"])
    columnar = request.input in ("parquet", "arrow")
    for at in range(several):
        cells = [owner[at] for owner in owners]
        column = tables.Column(next(names), "person", "categorical", cells, list(cells))
        if columnar and several == 1 and rng.random() < 0.4:
            numbers = {key: at for at, key in enumerate(named)}
            column.type = rng.choice([pa.int64(), pa.int32()])
            column.cells = column.values = [numbers[owner] - 3 for owner in owners]
        elif several > 1:
            # A missing cell has many spellings.
            spelled = ["", "", *request.markers, *([None] if columnar else [])]
            column.cells = [cell or rng.choice(spelled) for cell in cells]
        request.columns.insert(rng.randrange(len(request.columns) + 1), column)
    if rng.random() < 0.2:
        # A person may have more rows than the parts that a person's weight is cut into.
        most = rng.choice([[1, 1, 2, 3, 7]] * 5 + [[1, 2, 150], [1, 2, 1_000_003]])
        request.counted_in_millions = most[-1] > 10**6
        cells = [str(rng.choice(most)) for _ in range(rows)]
        column = tables.Column("how many", "count", "numeric", cells, list(cells))
        if columnar and rng.random() < 0.5:
            column.type, column.cells = pa.int64(), [int(cell) for cell in cells]
        request.columns.insert(rng.randrange(len(request.columns) + 1), column)


def plant_nobody(rng, request):
    """A row without a person: the number of the row, counted from 1."""
    row = rng.randrange(request.rows)
    for column in request.of("person"):
        if column.type is not None and column.type != pa.string():
            return None
        column.cells[row] = rng.choice(["", *request.markers])
        if request.input in ("parquet", "arrow") and rng.random() < 0.5:
            column.cells[row] = None
    return row + 1


# ------------------------------------------------------------------------------------------------------------- the rules


def random_rules(rng, request, persons):
    """Rules that the persons can mostly meet."""
    number = len(persons.rows)
    reading = persons.reading(request)
    request.k = max(1, rng.choice([2, 2, 3, 3, 4, 5, max(2, number // 3), max(2, number // 2)]))
    if request.k > number and rng.random() < 0.9:
        request.k = max(1, number // 2)
    quasi = request.of("quasi")
    if len(quasi) > 1 and rng.random() < 0.2:
        request.k_on.append((max(1, min(number, request.k + rng.randrange(0, 4))), rng.sample(quasi, rng.randrange(1, len(quasi)))))
    if rng.random() < 0.35:
        share = Fraction(rng.choice([1, 5, 10, 20, 34, 50]), 100)
        request.suppress = (rng.choice([f"{int(share * 100)}%", f"{float(share)}"]), share)
    everything = [(row, persons.counts[row]) for row in range(request.rows)]
    for column in request.of("sensitive"):
        if getattr(column, "row_id", False) and rng.random() < 0.7:
            continue
        if reading == "whole":
            held = person_rules.values_of(everything, persons, column.values)
            counts, size = Counter(v for own in held.values() for v in own), len(held)
        else:
            counts = person_rules.distribution(everything, persons, column.values, reading)
            size = sum(counts.values())
        weights = person_rules.distribution(everything, persons, column.values, reading)
        greatest = max(counts.values())
        slack = rng.choice([Fraction(0), Fraction(1, 20), Fraction(1, 5), Fraction(1, 2), Fraction(-1, 10)])
        for name in rng.sample(["alpha", "values", "l", "distinct", "entropy", "recursive", "t"], rng.choice([0, 1, 1, 1, 2])):
            if name in ("alpha", "values") and any(r.name == "alpha" and r.column is column for r in request.rules):
                continue
            if name == "alpha":
                text, share = requests.share_text(rng, min(Fraction(1), max(Fraction(1, 100), Fraction(greatest, size) + slack)))
                request.rules.append(requests.Rule(column, "alpha", text, share))
            elif name == "values":
                texts = sorted({cell for cell, v in zip(column.cells, column.values) if v != MISSING})
                if not texts:
                    continue
                chosen = rng.sample(texts, rng.randrange(1, min(3, len(texts)) + 1))
                values = {column.values[column.cells.index(text)] for text in chosen}
                if reading == "whole":
                    together = sum(bool(own & values) for own in held.values())
                else:
                    together = sum(counts[v] for v in values)
                text, share = requests.share_text(rng, min(Fraction(1), max(Fraction(1, 100), Fraction(together, size) + slack)))
                request.rules.append(requests.Rule(column, "alpha", text, share, values=(chosen, values)))
            elif name == "l":
                most = max(1, min(size // greatest + rng.choice([0, 0, 0, -1, 1]), 9))
                request.rules.append(requests.Rule(column, "l", str(most), Fraction(most)))
            elif name == "distinct":
                most = max(1, len(counts) - rng.choice([0, 0, 1, 2]))
                while reading == "whole" and most > 1 and sum(sorted(counts.values(), reverse=True)[: most - 1]) >= size and rng.random() < 0.95:
                    most -= 1
                request.rules.append(requests.Rule(column, "distinct", str(most), most))
            elif name == "entropy":
                most = max(1.0, round(math.exp(entropy(weights)) * rng.choice([0.5, 0.8, 0.95, 1.0]), 2))
                request.rules.append(requests.Rule(column, "entropy", str(most), most))
            elif name == "recursive":
                level = rng.randrange(1, min(4, len(counts)) + 1)
                if reading == "whole" and sum(sorted(counts.values(), reverse=True)[: level - 1]) >= size:
                    level = 1
                c = Fraction(rng.randrange(2, 30), 2)
                request.rules.append(requests.Rule(column, "recursive", str(float(c)), c, second=level))
            elif name == "t" and not request.suppress:
                distance = rng.choice(["equal", "ordered"]) if column.kind == "numeric" and MISSING not in counts else "equal"
                text = rng.choice(["0.1", "0.3", "0.5", "0.05", "0.9"])
                request.rules.append(requests.Rule(column, "t", text, Fraction(text), distance=distance))


def make(rng):
    """One random request with its table."""
    request = requests.Request()
    request.counted_in_millions = False
    request.input = rng.choice(requests.INPUTS)
    requests.random_table(rng, request, request.input)
    give_persons(rng, request)
    requests.random_hierarchies(rng, request)
    request.reading = rng.choice([None, None, "whole", "whole", "whole", "rows", "rows"])
    request.pseudonyms = request.reading != "rows" and rng.random() < 0.3
    random_rules(rng, request, Persons(request))
    requests.random_search(rng, request)
    if request.counted_in_millions and request.algorithm not in GLOBAL:
        # Other algorithms take a row of the table for as many rows as it stands for, which takes long.
        request.algorithm, request.extra = "mondrian", ["--bound", "none"]
    elif request.algorithm == "ring":
        request.algorithm = rng.choice(LOCAL)
        request.extra = ["--bound", "none"] + (["--steps", "20"] if request.algorithm == "auto" else [])
    request.output = rng.choice([ending for ending in requests.OUTPUTS if ending != "stdout"])
    requests.spell(rng, request)
    if request.input_order and (request.of("count") or Persons(request).reading(request) == "rows"):
        request.doubts.append("the order of the input")
    return request


# --------------------------------------------------------------------------------------------------------------- the case


def persons(seed, program, folder, notes):
    """Runs one case; fills in the notes; raises Broken."""
    case = Case(seed, program, folder, notes)
    case.rng = random.Random(f"persons {seed}")
    rng = case.rng
    request = case.request = make(rng)
    nobody = plant_nobody(rng, request) if rng.random() < 0.03 else None
    conformance.write_case(case)
    people = case.people = Persons(request)
    reading = case.reading = people.reading(request)
    case.note("algorithm", request.algorithm)
    case.note("publish", request.publish + ("+snap" if request.snap else ""))
    case.note("output", request.output)
    case.note("reading", f"{request.reading or 'default'}: {reading}" + (", pseudonyms" if request.pseudonyms else ""))
    case.note("key", f"{len(request.of('person'))} columns")
    for rule in request.rules or [None]:
        case.note("rule", "k alone" if rule is None else rule.name + ("(values)" if rule.values else "") + (f"({rule.distance})" if rule.distance else ""))
    for name in ("k_on", "suppress"):
        if getattr(request, name):
            case.note("rule", name)
    if request.of("count"):
        case.note("rule", "count")
    piped = case.path(case.input) if request.input == "csv" and rng.random() < 0.1 else None
    result = anonymize(case, "-" if piped else case.input, request.output, request.threads, ["--json", "--proof", PROOF], piped)
    case.note("exit", result.code)
    check_exit(case, result)
    demand("this is a bug" not in result.said, f"says that it has a bug: {result.said.strip()[-200:]}")
    if nobody and not request.doubts:
        demand(result.code == 3 and re.search(rf"\b{nobody}\b", result.said), f"row {nobody} has no person; exit {result.code}: {result.said.strip()[-200:]}")
        case.note("check", "a row without a person")
        return
    if result.code != 0:
        return refused(case, result)
    with open(case.path(os.path.join("out", "release." + request.output)), "rb") as file:
        data = file.read()
    demand(sorted(os.listdir(case.path("out"))) == ["proof.csv", "release." + request.output], "a file is left in the output folder")
    demand(stat.S_IMODE(os.stat(case.path(PROOF)).st_mode) == 0o600, "others can read the proof")
    case.note("verified", 1)
    release = released.read(data, request.output, request.raw, requests.own_delimiter(request))
    case.verified = verify_release(case, release, read_proof(case.path(PROOF)), json.loads(result.out))
    hidden_keys(case, data)
    heavier(case, release, data)


def refused(case, result):
    request, people = case.request, case.people
    words = re.sub(r"`[^`]*`", "`_`", result.said.strip().splitlines()[-1] if result.said.strip() else "")
    case.note("refusal", (result.code, re.sub(r"h-[0-9-]+.csv|[0-9][0-9./]*", "0", words)[:160]))
    said = result.said.strip()[-200:]
    if case.reading == "whole" and people.changing and request.algorithm in GLOBAL:
        demand(result.code == 1 or "change" in result.said or request.doubts or request.odd_names, f"a global recoding of persons that change: exit {result.code}: {said}")
        if result.code != 1:
            return
    if result.code == 1:
        demand(not person_rules.feasible_at_once(request, people, case.reading), f"says infeasible, but the whole table is a class that holds: {said}")
        few = len(people.rows) <= 9 and not any(rule.name == "t" for rule in request.rules)
        if few and request.suppress and case.reading == "whole" and "by the whole table" not in result.said:
            dropped = person_rules.feasible_without_some(request, people)
            # Whom to suppress is a set packing where persons have several values or there are several rules: the program may miss it.
            single = len(request.rules) <= 1 and all(
                len(own) == 1 for rule in request.rules for own in person_rules.values_of([(row, 1) for row in range(request.rows)], people, rule.column.values).values()
            )
            demand(dropped is None or not single, f"says infeasible, but the persons without {len(dropped or ())} are a class that holds: {said}")
            case.note("check", "infeasible by brute force" if dropped is None else "infeasible, and brute force finds a suppression")
        if not (case.reading == "whole" and people.changing and request.algorithm in GLOBAL):
            conformance.follow_hint(case, result.said)
        return
    demand(bool(request.doubts or request.odd_names), f"a valid request was refused, exit {result.code}: {said}")


def read_proof(path):
    """For each released row (counted from 1) its (source row, rows) pairs."""
    with open(path, newline="", encoding="utf-8") as file:
        lines = list(csv.reader(file))
    demand(bool(lines) and lines[0] == ["released_row", "source_row", "rows"], "the first line of the proof is another")
    found = defaultdict(list)
    for line in lines[1:]:
        demand(len(line) == 3 and all(cell.isdigit() for cell in line), "a line of the proof is not three numbers")
        found[int(line[0])].append((int(line[1]) - 1, int(line[2])))
    return found


def header(case, verifier):
    """The names of the release; where each column stands; the column of pseudonyms, of counts, or None."""
    request, names, places = case.request, [], {}
    key = request.of("person")
    inner, own = verifier.header()
    for column in request.columns:
        if column.role == "identifier" or (column.role == "person" and not (request.pseudonyms and column is key[0])):
            continue
        start = len(names)
        if column.role == "person":
            names.append(column.name if len(key) == 1 else "person")
            places["pseudonym"] = start
            continue
        names += inner[slice(*own[column.name])]
        places[column.name] = (start, len(names))
    return names, places


def verify_release(case, release, proof, reported=None):
    """Raises Broken where release or proof are at fault. Gives what was counted."""
    request = case.request
    found = along_proof(case, release, proof)
    verifier, places, keys, origins, used = found["verifier"], found["places"], found["keys"], found["origins"], found["used"]
    if not request.input_order:
        verifier.contiguous(keys)
    verifier.attained(keys, [[row for row, _ in own] for own in origins])
    count = next(iter(request.of("count")), None)
    if count:
        shown = Counter(tuple(repr(cell) for at, cell in enumerate(row) if at != places[count.name][0]) for row in release.rows)
        demand(max(shown.values(), default=0) <= 1, "two counted rows show the same")
    if request.pseudonyms:
        case.pseudonyms = found["pseudonyms"]
        random_order(case)
    if reported is not None:
        compare_report(case, reported, used, found["gone"], found["classes"])
    return found


def along_proof(case, release, proof, reading=None):
    """What `verify --source --proof` must find: the proof, truth along it, rules, suppression and pseudonyms."""
    request, people, reading = case.request, case.people, reading or case.reading
    verifier = Verifier(request)
    names, places = header(case, verifier)
    verifier.places = places
    demand(release.names == names, f"the header is {release.names}, and must be {names}")
    count = next(iter(request.of("count")), None)
    counted = [int(row[places[count.name][0]]) if count else 1 for row in release.rows]
    # The proof itself.
    demand(sorted(proof) == list(range(1, len(release.rows) + 1)), "the proof has other released rows than the release")
    used = Counter()
    origins = [proof[at + 1] for at in range(len(release.rows))]
    for own, number in zip(origins, counted):
        demand(all(0 <= row < request.rows and rows >= 1 for row, rows in own), "the proof has a source row or a count that is not there")
        demand(sum(rows for _, rows in own) == number, "the proof has other counts than the release")
        for row, rows in own:
            used[row] += rows
    demand(all(rows <= people.counts[row] for row, rows in used.items()), "a source row is used more often than it occurs")
    # Truth along it.
    keys = [tuple(tuple("" if cell is None else str(cell) for cell in row[slice(*places[c.name])]) for c in verifier.quasi) for row in release.rows]
    meanings = {}
    for key, cells, own in zip(keys, release.rows, origins):
        if key not in meanings:
            meanings[key] = verifier.meaning(key)
        for row, _ in own:
            for column, part in zip(verifier.quasi, meanings[key]):
                demand(column.values[row] in part, f"a label of {column.name!r} does not cover the source row of the proof")
            for column in verifier.carried:
                here = released_key(column, cells[places[column.name][0]], request.markers, release.text)
                demand(here == source_key(column, row, request.markers), f"a cell of {column.name!r} is not that of the source row of the proof")
    # Persons along it.
    classes = defaultdict(list)
    for key, own in zip(keys, origins):
        classes[key] += own
    fault = person_rules.broken_rule(request, classes, set(keys), people, reading)
    demand(fault is None, fault)
    gone = suppressed(case, used, classes, reading)
    named = pseudonyms(case, release, origins, places["pseudonym"]) if request.pseudonyms else None
    return {"verifier": verifier, "keys": keys, "origins": origins, "places": places, "classes": classes, "used": used, "gone": gone, "pseudonyms": named}


def suppressed(case, used, classes, reading):
    """Gives the number of suppressed persons (none of whose rows is released)."""
    request, people = case.request, case.people
    gone = {person for person, rows in people.rows.items() if not any(used[row] for row in rows)}
    share = request.suppress[1] if request.suppress else 0
    if reading == "rows":
        limit = math.floor(share * people.total)
        demand(people.total - sum(used.values()) <= limit, f"{people.total - sum(used.values())} rows suppressed, {limit} allowed")
        return len(gone)
    limit = math.floor(share * len(people.rows))
    demand(len(gone) <= limit, f"{len(gone)} persons suppressed, {limit} allowed")
    where = defaultdict(set)
    for key, own in classes.items():
        for row, _ in own:
            where[people.of[row]].add(key)
    for person, rows in people.rows.items():
        if person not in gone:
            demand(all(used[row] == people.counts[row] for row in rows), "a person is released without some rows")
            demand(len(where[person]) == 1, "the rows of a person are in several classes")
    return len(gone)


def pseudonyms(case, release, origins, place):
    """One to one with persons. Gives the pseudonym of each."""
    named, owners = {}, {}
    for row, own in zip(release.rows, origins):
        shown = str(row[place])
        for at, _ in own:
            person = case.people.of[at]
            demand(named.setdefault(person, shown) == shown, "a person has two pseudonyms")
            demand(owners.setdefault(shown, person) == person, "two persons have one pseudonym")
    return named


def random_order(case):
    """The pseudonyms are 1 to the number of persons, in no order that the source has."""
    people = case.people
    named = case.pseudonyms
    demand(all(shown.isdigit() for shown in named.values()), "a pseudonym is no number")
    case.pseudonyms = named = {person: int(shown) for person, shown in named.items()}
    demand(sorted(named.values()) == list(range(1, len(named) + 1)), "pseudonyms are not 1 to the number of persons")
    number = len(named)
    if number < 12:
        return
    case.note("check", "order of pseudonyms")
    orders = {"keys": lambda p: p, "rows": lambda p: people.rows[p][0], "number of rows": lambda p: people.size[p]}
    for column in case.request.of("quasi") + case.request.of("sensitive"):
        orders[f"values of {column.name!r}"] = lambda p, c=column: str(c.values[people.rows[p][0]])
    for what, order in orders.items():
        demand(abs(tau([(order(p), named[p]) for p in named])) < by_chance(number), f"the pseudonyms follow the order of the {what}")


def by_chance(number):
    """Six standard deviations of Kendall's rank correlation of random orders."""
    number = min(number, 300)
    return min(0.95, 6 * math.sqrt(2 * (2 * number + 5) / (9 * number * (number - 1))))


def tau(pairs):
    """Kendall's rank correlation; pairs that are equal on one side count as nothing."""
    pairs, total = pairs[:300], 0
    for at, (a, x) in enumerate(pairs):
        for b, y in pairs[:at]:
            if a != b and x != y:
                total += 1 if (a < b) == (x < y) else -1
    return total / (len(pairs) * (len(pairs) - 1) / 2)


def compare_report(case, reported, used, gone, classes):
    people = case.people
    if classes:
        least = min(person_rules.count_persons(members, people) for members in classes.values())
        demand(reported["measures"]["k"] == least, f"--json says that the smallest class has {reported['measures']['k']} persons, not {least}")
        demand(reported["measures"]["classes"] == len(classes), "--json says another number of classes")
    if reported["bound"]:
        lost, bound = reported["loss"]["ncp"], reported["bound"]["value"]
        case.note("check", "bound")
        demand(bound <= lost * (1 + 1e-9) + 1e-9, f"the lower bound is {bound}, and the release loses {lost}")
    demand(reported["input_rows"] == people.total, "--json says another number of input rows")
    demand(reported["released"] == sum(used.values()), "--json says another number of released rows")
    demand(reported["suppressed"] == people.total - sum(used.values()), "--json says another number of suppressed rows")
    said = reported["persons"]
    demand(said["count"] == len(people.rows), f"--json says {said['count']} persons of {len(people.rows)}")
    demand(said["reading"] == case.reading, f"--json says the reading {said['reading']!r}, not {case.reading!r}")
    demand(said["changing"] == people.changing, f"--json says that {said['changing']} persons change, not {people.changing}")
    # By rows a person may lose some rows: no number says how many persons are suppressed.
    demand(said["suppressed"] == (gone if case.reading == "whole" else None), f"--json says {said['suppressed']} suppressed persons, not {gone}")


def hidden_keys(case, data):
    """No planted key, and no cell of a dropped column, is in the release."""
    artefacts = [released.decompressed(data, case.request.output), data]
    for column in case.request.of("identifier") + case.request.of("person"):
        for cell in column.cells[:50]:
            if isinstance(cell, str) and cell.startswith(CANARY):
                demand(not any(cell.encode() in artefact for artefact in artefacts), f"a cell of {column.name!r} is in the release")


# ----------------------------------------------------------------------------------------------------------- further runs


def heavier(case, release, data):
    rng = case.rng
    if rng.random() < 0.35:
        repeat(case, data)
    if case.request.pseudonyms and len(case.pseudonyms) >= 12 and rng.random() < 0.5:
        other_seed(case)
    if rng.random() < 0.6 and not case.request.raw:
        person_faults.audits(case, release)


def again(case, source, threads):
    """Another run in place of the first, which is put back."""
    out, first, second = case.path("out"), case.path("first"), case.path("second")
    shutil.rmtree(second, ignore_errors=True)
    os.rename(out, first)
    try:
        result = anonymize(case, source, case.request.output, threads, ["--json", "--proof", PROOF])
        demand(result.code == 0, f"exit {result.code} when repeated: {result.said.strip()[-200:]}")
        data = release_bytes(case, result, case.request.output)
        return data, read_proof(case.path(PROOF))
    finally:
        os.rename(out, second)
        os.rename(first, out)


def repeat(case, data):
    """The same bytes with other threads and with the rows in another order."""
    request, rng = case.request, case.rng
    rows = list(range(request.rows))
    source = case.input
    case.note("check", "same bytes")
    if not request.input_order and rng.random() < 0.7:
        rng.shuffle(rows)
        source = "shuffled." + request.input
        conformance.write_input(case, source, rows)
        case.note("check", "same bytes, rows shuffled")
    found, proof = again(case, source, rng.choice([1, 2, 4]))
    demand(found == data, "other bytes when repeated with other threads or another order of rows")
    # The proof of the shuffled table holds too.
    moved = {at: [(rows[row], number) for row, number in own] for at, own in proof.items()}
    verify_release(case, released.read(data, request.output, request.raw, requests.own_delimiter(request)), moved)


def other_seed(case):
    """Pseudonyms are made anew."""
    before = case.pseudonyms
    kept, case.request.seed = case.request.seed, case.request.seed + 1
    data, proof = again(case, case.input, 1)
    case.request.seed = kept
    verify_release(case, released.read(data, case.request.output, case.request.raw, requests.own_delimiter(case.request)), proof)
    after, case.pseudonyms = case.pseudonyms, before
    case.note("check", "other seed, other pseudonyms")
    common = [(before[p], after[p]) for p in before if p in after]
    demand(sum(a == b for a, b in common) < len(common) * 0.8, "another seed gives the same pseudonyms")
    if len(common) >= 12:
        demand(abs(tau(common)) < by_chance(len(common)), "the pseudonyms of two seeds follow each other")
