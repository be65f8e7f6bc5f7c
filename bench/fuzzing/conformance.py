"""One conformance case: a random table and request, the release verified on the file, and heavier checks for some."""

import csv
import json
import os
import random
import re
from collections import Counter
from fractions import Fraction

from . import flags, released, request as requests, tables, verifier
from .released import Broken, demand
from .verifier import Verifier
from .run import run, temporary

EXITS = {0, 1, 2, 3, 4, 5}


class Case:
    def __init__(self, seed, program, folder, notes):
        self.seed, self.program, self.folder = seed, program, folder
        self.rng = random.Random(f"conformance {seed}")
        self.notes = notes
        self.proof = None

    def note(self, name, value):
        self.notes.setdefault(name, []).append(value)

    def path(self, name):
        return os.path.join(self.folder, name)


def prepare(case):
    """Makes the request and writes it with its table and hierarchies."""
    case.request = requests.make(case.rng)
    write_case(case)


def write_case(case):
    """Writes the table, the hierarchies and the request; `case.said` has the words of the command."""
    request = case.request
    case.input = "in." + request.input
    write_input(case, case.input, list(range(request.rows)))
    for column in request.of("quasi"):
        if column.tree is not None and column.tree.file:
            with open(case.path(column.tree.file[0]), "wb") as file:
                file.write(column.tree.file[1])
    if request.by_flags:
        case.said = flags.flags(request)
    else:
        with open(case.path("request.toml"), "w", encoding="utf-8", newline="") as file:
            file.write(flags.toml(request))
        case.said = ["-c", "request.toml"]
    if request.says_delimiter:
        case.read_words = ["--delimiter", request.delimiter]
    else:
        case.read_words = []


def write_input(case, name, rows):
    request = case.request
    tables.write(
        case.path(name), request.columns, rows, delimiter=request.delimiter or ",", ending=request.line_ending, always=request.always_quoted, group=request.row_group
    )


def anonymize(case, source, output, threads, more=(), piped=None):
    """Runs anonymize; the output folder holds nothing else."""
    os.makedirs(case.path("out"), exist_ok=True)
    target = "-" if output == "stdout" else os.path.join("out", "release." + output)
    words = ["anonymize", source, *case.said, *case.read_words, *flags.search_flags(case.request), "--seed", str(case.request.seed), "--threads", str(threads), "-o", target, *more]
    return run(case.program, words, case.folder, stdin=piped)


def conformance(seed, program, folder, notes):
    """Runs one case; fills in the notes; raises Broken."""
    case = Case(seed, program, folder, notes)
    prepare(case)
    request = case.request
    case.note("algorithm", request.algorithm)
    case.note("input", request.input)
    case.note("delimiter", request.delimiter)
    case.note("output", request.output)
    coded = request.snap and any(c.tree is not None and (c.tree.bottom is not None or c.tree.top is not None) for c in request.of("quasi"))
    case.note("publish", request.publish + ("+snap" if request.snap else "") + ("+coded" if coded else ""))
    for rule in request.rules or [None]:
        case.note("rule", "k alone" if rule is None else rule.name + ("(values)" if rule.values else "") + (f"({rule.distance})" if rule.distance else ""))
    if request.k_on:
        case.note("rule", "k-on")
    if request.suppress:
        case.note("rule", "suppress")
    more = ["--json"] if request.output != "stdout" else []
    recoding = request.algorithm in requests.GLOBAL and request.publish != "bounds" and case.rng.random() < 0.3
    if recoding:
        more += ["--recoding", os.path.join("out", "recoding.toml")]
    if request.algorithm == "ring" and case.rng.random() < 0.5:
        case.proof = os.path.join("out", "proof")
        more += ["--proof", case.proof]
    piped = request.input == "csv" and request.algorithm != "ring" and case.rng.random() < 0.1
    result = anonymize(case, "-" if piped else case.input, request.output, request.threads, more, case.path(case.input) if piped else None)
    case.note("exit", result.code)
    check_exit(case, result)
    if result.code != 0:
        words = re.sub(r"`[^`]*`", "`_`", result.said.strip().splitlines()[-1] if result.said.strip() else "")
        case.note("refusal", (result.code, re.sub(r"h-[0-9-]+.csv|[0-9][0-9./]*", "0", words)[:160]))
        if result.code == 1:
            demand(not verifier.surely_feasible(request), f"says infeasible, but the whole table is a class that holds: {result.said.strip()[-150:]}")
            follow_hint(case, result.said)
        elif not request.doubts and not request.odd_names and not (result.code == 1):
            raise Broken(f"a valid request was refused: {result.said.strip()[-200:]}")
        return
    why = verifier.infeasible(request)
    demand(why is None, f"exit 0 although no release can satisfy {why}")
    data = release_bytes(case, result, request.output)
    demand(sorted(os.listdir(case.path("out"))) == sorted((["release." + request.output] if request.output != "stdout" else []) + (["recoding.toml"] if recoding else []) + (["proof"] if case.proof else [])), "a file is left in the output folder")
    case.note("verified", 1)
    release = released.read(data, "csv" if request.output == "stdout" else request.output, request.raw, requests.own_delimiter(request))
    reported = json.loads(result.out) if request.output != "stdout" else None
    _, possible = Verifier(request).verify(release, reported)
    check_canaries(case, result, data, possible, recoding)
    heavier(case, release, data, recoding)


def follow_hint(case, said):
    """`or allow 12.50% suppressed`: what a message offers must work."""
    hint = re.search(r"or allow ([0-9.]+%) suppressed", said)
    request = case.request
    if not hint or said.count("cannot be met") != 1 or request.algorithm == "ring" or case.rng.random() < 0.5:
        return
    if Fraction(hint[1][:-1]) >= 100 or any(rule.name == "t" for rule in request.rules):
        return
    case.note("check", "hint")
    if "--suppress" in case.said:
        at = case.said.index("--suppress")
        case.said = case.said[:at] + case.said[at + 2 :]
    result = anonymize(case, case.input, request.output, 1, ["--suppress", hint[1]])
    demand(result.code == 0, f"the message offers --suppress {hint[1]}; with it the exit code is {result.code}: {result.said.strip()[-150:]}")


def release_bytes(case, result, output):
    if output == "stdout":
        return result.out
    with open(case.path(os.path.join("out", "release." + output)), "rb") as file:
        return file.read()


def check_exit(case, result):
    """Exit code, messages, leftovers."""
    said = result.said
    demand(result.code in EXITS, f"exit {result.code}: {said.strip()[-200:]}")
    demand("panicked" not in said, "panic text")
    demand(temporary(case.folder) == [], f"left in TMPDIR: {temporary(case.folder)}")
    if result.code != 0:
        left = os.listdir(case.path("out"))
        demand(left == [], f"exit {result.code} but files are left: {left}")
        demand(case.request.output != "stdout" or result.out == b"", f"exit {result.code} but a release on standard output")
    check_words(case, said if case.request.output == "stdout" else said + result.out.decode("utf-8", "replace"))


def check_words(case, words):
    """No message shows a cell. Labels of hierarchies and orders, and values that the request names, may be named."""
    allowed = set()
    for column in case.request.columns:
        allowed.update(column.order or [])
        if column.tree is not None and column.tree.file:
            allowed.update(label for path in column.tree.paths.values() for label in path)
            allowed.update(value for value in column.tree.paths if isinstance(value, str))
    for rule in case.request.rules:
        if rule.values:
            allowed.update(rule.values[0])
    for label in sorted(allowed, key=len, reverse=True):
        if tables.CANARY in label:
            words = words.replace(label, "")
    demand(tables.CANARY not in words, "a message shows a cell")


def check_canaries(case, result, data, possible, recoding):
    """No planted text of a dropped column or of a suppressed row is in any artefact."""
    request = case.request
    artefacts = [released.decompressed(data, request.output if request.output != "stdout" else "csv"), data]
    if recoding:
        with open(case.path(os.path.join("out", "recoding.toml")), "rb") as file:
            artefacts.append(file.read())
    for hidden in ("unused", "below", "field", "meta"):
        demand(not any((tables.CANARY + hidden).encode() in artefact for artefact in artefacts), f"a text that no row of the source shows is in the release ({hidden})")
    for column in request.of("identifier"):
        for cell in column.cells[:50]:
            demand(not any(cell.encode() in artefact for artefact in artefacts), f"a cell of the dropped column {column.name!r} is in the release or the recoding")
    identified = next((c for c in request.columns if getattr(c, "row_id", False)), None)
    if identified is None:
        return
    published = {row for rows in possible if rows for row in rows}
    gone = [row for row in range(request.rows) if row not in published]
    for column in request.columns:
        if column.type is not None or column.role == "identifier" or (column.tree is not None and column.tree.file):
            continue
        kept = {column.cells[row] for row in published}
        for row in gone:
            cell = column.cells[row] or ""
            if len(cell) >= 9 and cell.startswith(tables.CANARY) and cell not in kept:
                case.note("suppressed canaries", 1)
                demand(not any(cell.encode() in artefact for artefact in artefacts), f"a cell that only suppressed rows have is in the release or the recoding ({column.name!r})")


def heavier(case, release, data, recoding):
    """Checks that need further runs, each for some of the cases."""
    rng, request = case.rng, case.request
    # `verify` does not know that formulas stand unguarded: it would take an apostrophe of the source for a guard.
    if rng.random() < 0.35 and not request.raw:
        verify(case)
    if rng.random() < 0.3 and request.algorithm != "ring":
        repeat(case, data)
    if rng.random() < 0.15 and request.algorithm != "ring" and request.output in ("csv", "tsv") and not request.raw:
        tamper(case)
    if recoding:
        apply(case, suppressed=request.rows - len(release.rows))
    if rng.random() < 0.1 and request.algorithm != "ring":
        check(case)


def verify(case):
    """The audit of the program must agree, with the source and without."""
    request = case.request
    if request.output == "stdout":
        return
    release = os.path.join("out", "release." + request.output)
    words = ["verify", release, *case.said, *(["--threads", str(request.threads)])]
    ring = request.algorithm == "ring"
    if ring and request.rules and not case.proof:
        return
    if case.proof:
        words += ["--proof", case.proof]
    modes = [["--source", case.input, *case.read_words]]
    if not ring:
        modes.append([])
    for mode in modes:
        case.note("check", "verify" + (" --source" if mode else ""))
        if case.read_words and mode:
            # --delimiter is about both files: the release has its own. Only where both have the same can it be said.
            own = requests.own_delimiter(request)
            if request.output.startswith(("csv", "tsv")) and own != request.delimiter:
                plain = "same.parquet" if request.input in ("parquet", "arrow") else "same." + ("tsv" if own == "\t" else "csv")
                tables.write(case.path(plain), request.columns, list(range(request.rows)), delimiter=own)
                mode = ["--source", plain, "--delimiter", own]
        elif mode and request.output.startswith(("csv", "tsv")) and request.nasty:
            mode = mode + ["--delimiter", requests.own_delimiter(request)]
        elif not mode and request.output.startswith(("csv", "tsv")):
            mode = ["--delimiter", requests.own_delimiter(request)]
        result = run(case.program, words + mode + (["--non-homogeneous"] if ring else []), case.folder)
        demand(result.code == 0, f"verify {' '.join(mode[:1])} exits {result.code} on a good release: {(result.out + result.err).decode('utf-8', 'replace').strip()[-300:]}")


def repeat(case, data):
    """The same bytes with other threads and with the rows in another order."""
    request, rng = case.request, case.rng
    rows = list(range(request.rows))
    source, more = case.input, []
    case.note("check", "same bytes")
    if not request.input_order and rng.random() < 0.7:
        rng.shuffle(rows)
        source = "shuffled." + request.input
        write_input(case, source, rows)
        case.note("check", "same bytes, rows shuffled")
    first = case.path("out")
    os.rename(first, case.path("first"))
    try:
        result = anonymize(case, source, request.output, rng.choice([1, 2, 4]), more)
        demand(result.code == 0, f"exit {result.code} when repeated with other threads or another order of rows")
        demand(release_bytes(case, result, request.output) == data, "other bytes when repeated with other threads or another order of rows")
    finally:
        os.rename(first, case.path("second"))
        os.rename(case.path("first"), first)


def tamper(case):
    """A changed release must not verify."""
    request, rng = case.request, case.rng
    path = case.path(os.path.join("out", "release." + request.output))
    delimiter = requests.own_delimiter(request)
    with open(path, newline="", encoding="utf-8") as file:
        lines = list(csv.reader(file, delimiter=delimiter))
    checker = Verifier(request)
    _, places = checker.header()
    carried = [c for c in request.columns if c.role in ("sensitive", "keep") and c.type is None and c.kind != "numeric"]
    row = rng.randrange(1, len(lines)) if len(lines) > 1 else 0
    if not row:
        return
    if carried and rng.random() < 0.6:
        lines[row][places[rng.choice(carried).name][0]] = "tampered with"
        what = "a carried cell"
    else:
        column = rng.choice(checker.quasi)
        start, end = places[column.name]
        others = [line[start:end] for line in lines[1:] if line[start:end] != lines[row][start:end]]
        if not others or request.k < 2:
            return
        spots = [places[c.name] for c in checker.quasi]
        before = tuple(tuple(lines[row][a:b]) for a, b in spots)
        lines[row][start:end] = rng.choice(others)
        after = tuple(tuple(lines[row][a:b]) for a, b in spots)
        present = [tuple(tuple(line[a:b]) for a, b in spots) for line in lines[1:]]
        # Sure to be wrong only where a class is now too small.
        if present.count(after) >= request.k and not 0 < present.count(before) < request.k:
            return
        what = "a quasi-identifier"
    data = tables.csv_bytes(lines[0], lines[1:], delimiter)
    name = "tampered." + request.output
    with open(case.path(name), "wb") as file:
        file.write(data)
    source = "plain." + request.output if request.input not in ("parquet", "arrow") else case.input
    if source != case.input:
        tables.write(case.path(source), request.columns, list(range(request.rows)), delimiter=delimiter)
    case.note("check", "tampered")
    result = run(case.program, ["verify", name, *case.said, "--source", source, "--delimiter", delimiter], case.folder)
    demand(result.code == 1, f"verify --source exits {result.code} although {what} was changed: {result.said.strip()[-200:]}")


def check(case):
    """`check` must say of the source what it is. Spellings are left out: the table as it is shows 5 and 5.0 as two values."""
    request = case.request
    if request.nasty or request.markers:
        return
    classes = {}
    for row in range(request.rows):
        classes.setdefault(tuple(column.values[row] for column in request.of("quasi")), []).append(row)
    good = all(len(rows) >= request.k for rows in classes.values())
    for k, columns in request.k_on:
        good &= min(Counter(tuple(column.values[row] for column in columns) for row in range(request.rows)).values()) >= k
    for rule in request.rules:
        if rule.name in ("entropy", "t"):
            return
        whole = Counter(rule.column.values)
        good &= all(verifier.holds(rule, [rule.column.values[row] for row in rows], whole) for rows in classes.values())
    result = run(case.program, ["check", case.input, *case.said, *case.read_words], case.folder)
    case.note("check", "check")
    demand(result.code == (0 if good else 1), f"check exits {result.code} on a table that {'holds' if good else 'does not hold'}: {result.said.strip()[-200:]}")
    check_words(case, result.said + result.out.decode("utf-8", "replace"))


def apply(case, suppressed):
    """The kept recoding, applied to the same table, must give a release that holds."""
    request = case.request
    os.makedirs(case.path("applied"), exist_ok=True)
    ending = "parquet" if request.needs_binary_output else "csv"
    result = run(
        case.program,
        ["apply", os.path.join("out", "recoding.toml"), case.input, *case.said, *case.read_words, "-o", os.path.join("applied", "release." + ending), *(["--raw-formulas"] if request.raw else [])],
        case.folder,
    )
    case.note("check", f"apply, exit {result.code}")
    # Values that only suppressed rows have are not in the recoding: then the table is refused.
    demand(result.code == 0 or (suppressed and result.code in (1, 3)), f"apply exits {result.code} on the recoding's own table: {result.said.strip()[-200:]}")
    check_words(case, result.said)
    if result.code == 0:
        with open(case.path(os.path.join("applied", "release." + ending)), "rb") as file:
            release = released.read(file.read(), ending, request.raw, requests.own_delimiter(request, ending))
        Verifier(request).verify(release)
    else:
        demand(os.listdir(case.path("applied")) == [], "apply refused and left a file")
