"""The program's own audits of persons: `verify`, `check` and `report` on good releases, and on releases and proofs with planted faults."""

import copy
import csv
import os
import types
from collections import defaultdict

from . import person_rules, persons, released, request as requests, tables
from .released import Broken, demand
from .run import run
from .verifier import sensitive_value

TEXT = ("csv", "tsv")


def audits(case, release):
    """Audits that must agree with ours, each for some of the cases."""
    rng, request = case.rng, case.request
    verify(case)
    if request.output in TEXT and len(release.rows):
        for _ in range(3):
            plant(case)
    if rng.random() < 0.3:
        check(case)
    if rng.random() < 0.1:
        report(case)


def files(case):
    """The words for a source that has the delimiter of the release."""
    request = case.request
    if request.output.split(".")[0] not in TEXT:
        return case.input, case.read_words
    delimiter = requests.own_delimiter(request)
    if request.input in ("parquet", "arrow"):
        return case.input, ["--delimiter", delimiter]
    source = "plain." + ("tsv" if delimiter == "\t" else "csv")
    tables.write(case.path(source), request.columns, list(range(request.rows)), delimiter=delimiter)
    return source, ["--delimiter", delimiter]


def said(result):
    return (result.out + result.err).decode("utf-8", "replace").strip()[-300:]


def verify(case):
    """Good releases verify: against the source along the proof, and alone where pseudonyms tell persons."""
    request = case.request
    release = os.path.join("out", "release." + request.output)
    source, words = files(case)
    common = [*case.said, *words, "--threads", str(request.threads)]
    result = run(case.program, ["verify", release, *common, "--source", source, "--proof", persons.PROOF], case.folder)
    case.note("check", "verify --source --proof")
    demand(result.code == 0, f"verify --source --proof exits {result.code} on a good release: {said(result)}")
    result = run(case.program, ["verify", release, *common], case.folder)
    if request.pseudonyms:
        case.note("check", "verify, pseudonyms")
        demand(result.code == 0 or any(rule.name == "t" for rule in request.rules), f"verify exits {result.code} on a good release with pseudonyms: {said(result)}")
    else:
        case.note("check", "verify without a proof")
        demand(result.code == 2, f"verify without proof and pseudonyms exits {result.code}: {said(result)}")
    if request.pseudonyms:
        result = run(case.program, ["verify", release, *common, "--source", source], case.folder)
        case.note("check", f"verify --source, pseudonyms, exit {result.code}")


# ------------------------------------------------------------------------------------------------------------------- faults


def plant(case):
    """Changes release or proof. Where our own count finds a fault, `verify` must find one too; where it finds none, neither may it."""
    rng, request, found = case.rng, case.request, case.verified
    delimiter = requests.own_delimiter(request)
    with open(case.path(os.path.join("out", "release." + request.output)), newline="", encoding="utf-8") as file:
        lines = list(csv.reader(file, delimiter=delimiter))
    proof = [[at + 1, row + 1, number] for at, own in enumerate(found["origins"]) for row, number in own]
    kind = rng.choice(FAULTS)
    if kind(case, lines, proof) is False:
        return
    name = "broken." + request.output
    data = tables.csv_bytes(lines[0], lines[1:], delimiter)
    with open(case.path(name), "wb") as file:
        file.write(data)
    with open(case.path("broken.proof"), "w", encoding="utf-8") as file:
        file.write("released_row,source_row,rows\n" + "".join(f"{a},{b},{c}\n" for a, b, c in proof))
    fault = None
    # Where the request says no reading, one that holds is enough.
    for reading in [case.reading] if request.reading or request.pseudonyms else ["whole", "rows"]:
        try:
            persons.along_proof(case, released.read(data, request.output, request.raw, requests.own_delimiter(request)), persons.read_proof(case.path("broken.proof")), reading)
            fault = None
            break
        except Broken as error:
            fault = str(error)
    source, words = files(case)
    result = run(case.program, ["verify", name, *case.said, *words, "--source", source, "--proof", "broken.proof"], case.folder)
    case.note("planted", f"{kind.__name__}, {'at fault' if fault else 'still good'}")
    if request.pseudonyms:
        alone(case, name, released.read(data, request.output, request.raw, requests.own_delimiter(request)), kind.__name__)
    if fault:
        demand(result.code in (1, 2, 3), f"verify exits {result.code} after the fault {kind.__name__!r}: {fault}: {said(result)}")
        demand("panicked" not in said(result), "panic text")
    else:
        demand(result.code == 0, f"verify exits {result.code} after {kind.__name__!r}, which breaks nothing: {said(result)}")


def alone(case, name, release, fault):
    """A changed release with pseudonyms, without its source: persons are what the pseudonyms say."""
    request, places = case.request, case.verified["places"]
    count = next(iter(request.of("count")), None)
    shown = types.SimpleNamespace(
        of=[row[places["pseudonym"]] for row in release.rows],
        counts=[int(row[places[count.name][0]]) if count else 1 for row in release.rows],
    )
    rules = []
    for rule in request.rules:
        if rule.name == "t":
            return  # the distribution of the whole table is not in the release
        place = places[rule.column.name][0]
        rule, column = copy.copy(rule), rule.column
        rule.column = types.SimpleNamespace(values=[sensitive_value(column, row[place], request.markers) for row in release.rows])
        rules.append(rule)
    quasi = request.of("quasi")
    published = types.SimpleNamespace(k=request.k, k_on=request.k_on, rules=rules, rows=len(release.rows), of=lambda role: quasi)
    classes, where = defaultdict(list), defaultdict(set)
    for at, row in enumerate(release.rows):
        key = tuple(tuple(row[slice(*places[c.name])]) for c in quasi)
        classes[key].append((at, shown.counts[at]))
        where[shown.of[at]].add(key)
    broken = person_rules.broken_rule(published, classes, set(classes), shown, "whole")
    if any(len(labels) > 1 for labels in where.values()):
        broken = "a pseudonym is in several classes"
    result = run(case.program, ["verify", name, *case.said, "--delimiter", requests.own_delimiter(request)], case.folder)
    case.note("planted", f"seen without the source, {'at fault' if broken else 'good by itself'}")
    demand(result.code == 1 if broken else result.code == 0, f"verify without the source exits {result.code} after {fault!r}; by our count: {broken}: {said(result)}")


def quasi_cells(case):
    return [at for c in case.request.of("quasi") for at in range(*case.verified["places"][c.name])]


def move(case, lines, proof):
    """One row gets the labels of another class."""
    rng = case.rng
    at, other = rng.randrange(1, len(lines)), rng.randrange(1, len(lines))
    cells = quasi_cells(case)
    if [lines[at][i] for i in cells] == [lines[other][i] for i in cells]:
        return False
    for i in cells:
        lines[at][i] = lines[other][i]


def move_person(case, lines, proof):
    """All rows of a person get the labels of another class."""
    rng = case.rng
    person = rng.choice(list(case.people.rows))
    other = rng.randrange(1, len(lines))
    cells = quasi_cells(case)
    labels = [lines[other][i] for i in cells]
    changed = False
    for at, row, _ in proof:
        if case.people.of[row - 1] == person and [lines[at][i] for i in cells] != labels:
            for i, label in zip(cells, labels):
                lines[at][i] = label
            changed = True
    return changed


def drop(case, lines, proof):
    """One released row is gone."""
    at = case.rng.randrange(1, len(lines))
    if len(lines) < 3:
        return False
    remove(lines, proof, {at})


def drop_person(case, lines, proof):
    """All rows of one person, or of several, are gone."""
    chosen = set(case.rng.sample(list(case.people.rows), case.rng.randrange(1, len(case.people.rows) + 1) if case.rng.random() < 0.3 else 1))
    gone = {at for at, row, _ in proof if case.people.of[row - 1] in chosen}
    shared = any(at in gone and case.people.of[row - 1] not in chosen for at, row, _ in proof)
    if not gone or shared or len(gone) == len(lines) - 1:
        return False
    remove(lines, proof, gone)


def remove(lines, proof, gone):
    number, at = {}, 0
    for old in range(1, len(lines)):
        if old not in gone:
            at += 1
            number[old] = at
    lines[1:] = [line for old, line in enumerate(lines) if old and old not in gone]
    proof[:] = [[number[at], row, rows] for at, row, rows in proof if at in number]


def merge(case, lines, proof):
    """The proof says that rows of two persons are those of one."""
    line = case.rng.choice(proof)
    rows = case.people.rows[case.people.of[case.rng.choice(proof)[1] - 1]]
    row = case.rng.choice(rows) + 1
    if line[1] == row:
        return False
    line[1] = row


def swap_origins(case, lines, proof):
    """Two released rows of the proof have each other's source rows."""
    one, other = case.rng.choice(proof), case.rng.choice(proof)
    if one[1] == other[1]:
        return False
    one[1], other[1] = other[1], one[1]


def lose(case, lines, proof):
    """A line of the proof is gone."""
    del proof[case.rng.randrange(len(proof))]


def repeat(case, lines, proof):
    """A line of the proof stands twice."""
    proof.append(list(case.rng.choice(proof)))


def recount(case, lines, proof):
    """A number of the proof is another."""
    line = case.rng.choice(proof)
    at = case.rng.choice([0, 1, 2])
    line[at] = case.rng.choice([line[at] + 1, 0, len(lines) + 5, case.request.rows + 1, 4294967296])


def pseudonym(case, lines, proof):
    """A row gets the pseudonym of another row."""
    if not case.request.pseudonyms:
        return False
    place = case.verified["places"]["pseudonym"]
    one, other = case.rng.randrange(1, len(lines)), case.rng.randrange(1, len(lines))
    if lines[one][place] == lines[other][place]:
        return False
    if case.rng.random() < 0.5:
        lines[one][place], lines[other][place] = lines[other][place], lines[one][place]
    else:
        lines[one][place] = lines[other][place]


def new_pseudonym(case, lines, proof):
    """A row gets a pseudonym of its own."""
    if not case.request.pseudonyms:
        return False
    place = case.verified["places"]["pseudonym"]
    lines[case.rng.randrange(1, len(lines))][place] = str(len(lines) + 7)


def sensitive(case, lines, proof):
    """A row gets the sensitive cell of another row."""
    column = case.rng.choice(case.request.of("sensitive") or [None])
    if column is None:
        return False
    place = case.verified["places"][column.name][0]
    one, other = case.rng.randrange(1, len(lines)), case.rng.randrange(1, len(lines))
    if lines[one][place] == lines[other][place]:
        return False
    lines[one][place] = lines[other][place]


FAULTS = [move, move, move_person, drop, drop_person, merge, swap_origins, lose, repeat, recount, pseudonym, pseudonym, new_pseudonym, sensitive]


# ------------------------------------------------------------------------------------------------------- check and report


def check(case):
    """`check` says of the source what it is. Spellings are left out: the table as it is shows 5 and 5.0 as two values."""
    request, people = case.request, case.people
    if request.nasty or request.markers or any(rule.name in ("entropy", "t") for rule in request.rules):
        return
    classes = defaultdict(list)
    for row in range(request.rows):
        classes[tuple(column.values[row] for column in request.of("quasi"))].append((row, people.counts[row]))
    # Where the request says no reading, one that holds is enough.
    readings = [case.reading] if request.reading or request.pseudonyms else ["whole", "rows"]
    good = any(
        person_rules.broken_rule(request, classes, set(classes), people, reading) is None for reading in readings if reading == "rows" or not people.changing
    )
    result = run(case.program, ["check", case.input, *case.said, *case.read_words], case.folder)
    case.note("check", "check")
    demand(result.code == (0 if good else 1), f"check exits {result.code} on a table that {'holds' if good else 'does not hold'} ({case.reading}): {said(result)}")


def report(case):
    """A report of a good release."""
    source, words = files(case)
    release = os.path.join("out", "release." + case.request.output)
    result = run(case.program, ["report", source, release, *case.said, *words, "--proof", persons.PROOF, "-o", "report.html"], case.folder)
    case.note("check", "report")
    demand(result.code == 0, f"report exits {result.code} on a good release: {said(result)}")
    with open(case.path("report.html"), encoding="utf-8") as file:
        text = file.read()
    for column in case.request.of("identifier") + case.request.of("person"):
        for cell in column.cells[:50]:
            demand(not (isinstance(cell, str) and cell.startswith(tables.CANARY) and cell in text), f"the report shows a cell of {column.name!r}")
