"""Damaged files: cut, flipped, spliced, doubled, with NULs and broken UTF-8. A refusal, or a release that holds."""

import os
import random
import re

from . import tables
from .released import demand
from .run import run, temporary

ROLES = ["csv", "csv.gz", "csv.zst", "tsv", "parquet", "arrow", "hierarchy", "toml", "recoding", "order", "release"]
EXITS = {0, 1, 2, 3, 4, 5}


def damaged(rng, data, other):
    """The bytes with one to three faults."""
    for _ in range(rng.choice([1, 1, 2, 3])):
        size = len(data)
        if size == 0:
            return data
        at = rng.randrange(size)
        # Heads and tails of Parquet, Arrow and gzip files are where the structure is.
        if rng.random() < 0.4:
            at = rng.choice([min(rng.randrange(12), size - 1), max(0, size - 1 - rng.randrange(min(size, 400)))])
        style = rng.choice(["cut", "flip", "flip", "bytes", "splice", "double", "nul", "utf8", "drop", "swap", "zero"])
        if style == "cut":
            data = data[:at]
        elif style == "flip":
            data = data[:at] + bytes([data[at] ^ (1 << rng.randrange(8))]) + data[at + 1 :]
        elif style == "bytes":
            data = data[:at] + rng.randbytes(rng.randrange(1, 8)) + data[at + rng.randrange(0, 8) :]
        elif style == "splice":
            data = data[:at] + other[rng.randrange(len(other)) :]
        elif style == "double":
            end = min(size, at + rng.randrange(1, 200))
            data = data[:end] + data[at:end] * rng.choice([1, 1, 3]) + data[end:]
        elif style == "nul":
            data = data[:at] + b"\0" * rng.randrange(1, 4) + data[at:]
        elif style == "utf8":
            data = data[:at] + rng.choice([b"\xff\xfe", b"\xc3", b"\xed\xa0\x80", b"\xf8\x88\x80\x80\x80", b"\xef\xbb\xbf"]) + data[at:]
        elif style == "drop":
            data = data[:at] + data[at + rng.randrange(1, 100) :]
        elif style == "zero":
            length = min(size - at, rng.randrange(1, 30))
            data = data[:at] + b"\0" * length + data[at + length :]
        else:
            end = rng.randrange(size)
            low, high = min(at, end), max(at, end)
            data = data[:low] + data[high:] + data[low:high]
    return data


def text_damage(rng, data):
    """Faults that leave a text readable: words swapped, repeated, made huge or negative."""
    words = [b",", b";", b'"', b"\n", b"\r", b"'", b"=", b"[", b"]", b"{", b"}", b"#", b"\t", b"-", b"1e999", b"nan", b"inf", b"99999999999999999999", b"*", b"..", b"true", b"\\u0000", b" "]
    for _ in range(rng.randrange(1, 5)):
        at = rng.randrange(len(data) + 1)
        data = data[:at] + rng.choice(words) + data[at + rng.randrange(0, 3) :]
    return data


def table(rng):
    rows = rng.randrange(4, 40)
    columns = [
        tables.Column("age", "quasi", "numeric", [str(rng.randrange(20, 60)) for _ in range(rows)], []),
        tables.Column("job", "quasi", "categorical", [rng.choice(["p", "q", "r"]) for _ in range(rows)], []),
        tables.Column("edu", "quasi", "ordinal", [rng.choice(["lo", "mid", "hi"]) for _ in range(rows)], []),
        tables.Column("ill", "sensitive", "categorical", [rng.choice(["zq7a", "zq7b", "zq7c, d"]) for _ in range(rows)], []),
    ]
    return columns, rows


def damage(seed, program, folder, notes):
    rng = random.Random(f"damage {seed}")
    columns, rows = table(rng)
    victim = rng.choice(ROLES)
    notes["victim"] = [victim]
    kind = victim if victim in ROLES[:6] else "csv"
    source = "in." + kind

    def path(*names):
        return os.path.join(folder, *names)

    os.makedirs(path("out"), exist_ok=True)
    tables.write(path(source), columns, list(range(rows)), delimiter="\t" if kind == "tsv" else ",", group=rng.choice([3, 100]))
    with open(path("h.csv"), "w", encoding="utf-8") as file:
        file.write("p;g;*\nq;g;*\nr;r;*\n")
    with open(path("o.txt"), "w", encoding="utf-8") as file:
        file.write("lo\nmid\nhi\n")
    with open(path("c.toml"), "w", encoding="utf-8") as file:
        file.write(
            'version = 1\nk = 2\nmissing = ["?"]\nrules = [{ k = 2, columns = ["age", "job"] }]\n[output]\npublish = "label"\n[columns]\n'
            'age = { role = "quasi", kind = "numeric", weight = 2, hierarchy = { intervals = [5, 10], origin = 0, top = 55 } }\n'
            'job = { role = "quasi", hierarchy = "h.csv" }\nedu = { role = "quasi", order = ["lo", "mid", "hi"] }\nill = { role = "sensitive", alpha = 0.9 }\n[limits]\nsuppress = "30%"\n'
        )
    request = ["-c", "c.toml"]
    if victim == "order":
        request = ["--qi", "age,job,edu", "--sensitive", "ill", "-k", "2", "--kind", "age=numeric", "--hierarchy", "job=h.csv", "--order", "edu=o.txt"]
    searched = rng.choice([["mondrian"], ["auto", "--steps", "20"], ["cluster"], ["incognito"], ["peel"], ["top-down"]])
    first = None
    if victim in ("recoding", "release"):
        made = run(program, ["anonymize", source, *request, "--algorithm", "incognito", "-o", "first.csv", "--recoding", "r.toml"], folder)
        if made.code == 1:
            notes["exit"] = ["no release to damage"]
            return
        demand(made.code == 0, f"exit {made.code} on sound files: {made.said.strip()[-200:]}")
        first = "first.csv"
    name = {"hierarchy": "h.csv", "toml": "c.toml", "recoding": "r.toml", "order": "o.txt", "release": first}.get(victim, source)
    with open(path(name), "rb") as file:
        whole = file.read()
    other = rng.randbytes(50) if rng.random() < 0.3 else whole
    text = victim not in ("csv.gz", "csv.zst", "parquet", "arrow")
    hurt = text_damage(rng, whole) if text and rng.random() < 0.5 else damaged(rng, whole, other)
    if rng.random() < 0.05:
        # Sound files must pass: otherwise the cases above test nothing.
        hurt = whole
    with open(path(name), "wb") as file:
        file.write(hurt)
    words = ["anonymize", source, *request, "--algorithm", *searched, "-o", "out/release." + rng.choice(["csv", "parquet"])]
    if victim == "recoding":
        words = ["apply", "r.toml", source, *request, "-o", "out/release.csv"]
    elif victim == "release":
        words = ["verify", first, *request, *rng.choice([[], ["--source", source]])]
    elif victim == "hierarchy" and rng.random() < 0.4:
        words = rng.choice([["hierarchy", "check", "h.csv", "--data", source, "--column", "job"], ["hierarchy", "show", "h.csv"]])
    elif rng.random() < 0.25:
        words = rng.choice([["check", source, *request], ["verify", source, *request], ["init", source, "-o", "out/i.toml"]])
    notes["command"] = [words[0]]
    result = run(program, words, folder)
    notes["exit"] = [result.code]
    said = result.said + ("" if words[0] == "hierarchy" else result.out.decode("utf-8", "replace"))
    demand(result.code in EXITS, f"exit {result.code} on a damaged {victim} file: {said.strip()[-200:]}")
    demand(hurt != whole or result.code in (0, 1), f"exit {result.code} on sound files: {said.strip()[-200:]}")
    if victim in ("parquet", "arrow", "csv.gz", "csv.zst") or (victim in ("csv", "tsv") and hurt.startswith(whole.split(b"\n")[0] + b"\n")):
        # Where the header is sound no row can be taken for it.
        demand(tables.CANARY not in said, f"a message shows a cell of a damaged {victim} file")
    if result.code:
        notes["refusal"] = [(result.code, re.sub(r"`[^`]*`", "`_`", re.sub(r"[0-9]+", "0", said.strip().splitlines()[-1]))[:150] if said.strip() else "")]
    demand("panicked" not in said and "RUST_BACKTRACE" not in said, "panic text")
    demand(temporary(folder) == [], f"left in TMPDIR: {temporary(folder)}")
    left = sorted(os.listdir(path("out")))
    if result.code != 0:
        demand(left == [], f"exit {result.code}, and files are left: {left}")
        return
    if words[0] in ("anonymize", "apply"):
        release = os.path.join("out", left[0])
        demand(len(left) == 1, f"other files are left: {left}")
        # The delimiter is that of each file: nothing is said about it. A damaged table may be read in a way of its own.
        again = run(program, ["verify", release, *request], folder)
        notes["verified"] = [1]
        demand(again.code == 0, f"a release of a damaged {victim} file does not verify, exit {again.code}: {(again.out + again.err).decode('utf-8', 'replace').strip()[-200:]}")
