"""Full disks, closed pipes, names that clash, links, limits and memory bombs. A seed picks one of the trials."""

import gzip
import os
import random
import resource
import subprocess

import pyarrow as pa
import pyarrow.parquet

from . import tables
from .released import demand
from .run import LIMIT, Hang, environment, record, run, temporary

REQUEST = ["--qi", "a,b", "--kind", "a=numeric", "--sensitive", "s", "-k", "2"]


class Trial:
    def __init__(self, rng, program, folder):
        self.rng, self.program, self.folder = rng, program, folder
        os.makedirs(self.path("out"), exist_ok=True)
        rows = rng.choice([6, 60, 600])
        self.table("in.csv", rows)

    def path(self, *names):
        return os.path.join(self.folder, *names)

    def table(self, name, rows):
        rng = self.rng
        columns = [
            tables.Column("a", "quasi", "numeric", [str(rng.randrange(50)) for _ in range(rows)], []),
            tables.Column("b", "quasi", "categorical", [rng.choice(["x", "y", "z"]) for _ in range(rows)], []),
            tables.Column("s", "sensitive", "categorical", [rng.choice(["p", "q", "r"]) for _ in range(rows)], []),
        ]
        tables.write(self.path(name), columns, list(range(rows)))

    def write(self, name, text):
        with open(self.path(name), "w", encoding="utf-8") as file:
            file.write(text)

    def read(self, name):
        with open(self.path(name), "rb") as file:
            return file.read()

    def anonymize(self, *words, algorithm="mondrian", **limits):
        return run(self.program, ["anonymize", "in.csv", *REQUEST, "--algorithm", algorithm, "--seed", "1", *words], self.folder, **limits)

    def clean(self, *allowed):
        """Nothing but the named files in the output folder, nothing in TMPDIR."""
        left = sorted(set(os.listdir(self.path("out"))) - set(allowed))
        demand(not left and not temporary(self.folder), f"left behind: {left + temporary(self.folder)}")

    def piped(self, words):
        """Runs with standard output as a pipe that nobody reads."""
        record(self.folder, [self.program, *words, "| true"])
        reader, writer = os.pipe()
        os.close(reader)
        process = subprocess.Popen([self.program, *words], cwd=self.folder, env=environment(self.folder), stdin=subprocess.DEVNULL, stdout=writer, stderr=subprocess.PIPE)
        os.close(writer)
        try:
            _, err = process.communicate(timeout=LIMIT)
        except subprocess.TimeoutExpired:
            process.kill()
            process.communicate()
            raise Hang("closed pipe") from None
        return process.returncode, err.decode("utf-8", "replace")


def ending(trial):
    return trial.rng.choice(["csv", "csv.gz", "csv.zst", "tsv", "parquet", "arrow"])


def closed_pipe_verify(trial):
    trial.write("bad.csv", "a,b,s\n1,x,p\n2,y,q\n3,z,r\n")
    command = trial.rng.choice(["verify", "check"])
    code, _ = trial.piped([command, "bad.csv", *REQUEST, *trial.rng.choice([[], ["--json"]])])
    demand(code == 1, f"{command} of a table that does not hold exits {code} when nobody reads its output")


def closed_pipe_good(trial):
    trial.write("good.csv", "a,b,s\n" + "1,x,p\n" * 4)
    code, _ = trial.piped(["verify", "good.csv", *REQUEST])
    demand(code in (0, 5), f"verify of a table that holds exits {code} when nobody reads its output")


def closed_pipe_release(trial):
    trial.table("in.csv", 5000)
    code, _ = trial.piped(["anonymize", "in.csv", *REQUEST, "--algorithm", "mondrian", "-o", "-"])
    demand(code == 5, f"anonymize -o - into a closed pipe exits {code}")
    trial.clean()


def full_json(trial):
    """Standard output is full: the exit code must fit what is there."""
    name = "release." + ending(trial)
    words = ["anonymize", "in.csv", *REQUEST, "--algorithm", "mondrian", "--json", "-o", f"out/{name}"]
    record(trial.folder, [trial.program, *words, ">", "/dev/full"])
    with open("/dev/full", "wb") as full:
        process = subprocess.run([trial.program, *words], cwd=trial.folder, env=environment(trial.folder), stdin=subprocess.DEVNULL, stdout=full, stderr=subprocess.PIPE, timeout=LIMIT)
    there = os.path.exists(trial.path("out", name))
    said = process.stderr.decode("utf-8", "replace")
    demand(process.returncode in (0, 5), f"exit {process.returncode}")
    # Exit 5: the message says what is there, if anything is.
    demand(there == (process.returncode == 0) or f"{name} is written" in said, f"--json to /dev/full exits {process.returncode}, release {'is' if there else 'is not'} there")
    trial.clean(name)


def full_release(trial):
    words = ["anonymize", "in.csv", *REQUEST, "--algorithm", "mondrian", "-o", "-"]
    with open("/dev/full", "wb") as full:
        process = subprocess.run([trial.program, *words], cwd=trial.folder, env=environment(trial.folder), stdin=subprocess.DEVNULL, stdout=full, stderr=subprocess.PIPE, timeout=LIMIT)
    demand(process.returncode == 5, f"anonymize -o - to /dev/full exits {process.returncode}")
    trial.clean()


def missing_folder(trial):
    result = trial.anonymize("-o", "nowhere/release." + ending(trial))
    demand(result.code in (2, 5), f"exit {result.code}")
    demand(not os.path.exists(trial.path("nowhere")), "the folder was made")


def onto_input(trial):
    """The output is the input: the same path, a symbolic link, a hard link, or by way of a folder's link."""
    before = trial.read("in.csv")
    style = trial.rng.choice(["same", "dot", "symlink", "hardlink", "folder"])
    name = {"same": "in.csv", "dot": "./out/../in.csv", "symlink": "out/link.csv", "hardlink": "out/hard.csv", "folder": "here/in.csv"}[style]
    if style == "symlink":
        os.symlink(trial.path("in.csv"), trial.path("out/link.csv"))
    elif style == "hardlink":
        os.link(trial.path("in.csv"), trial.path("out/hard.csv"))
    elif style == "folder":
        os.symlink(trial.folder, trial.path("here"))
    result = trial.anonymize("-o", name, "--force")
    demand(trial.read("in.csv") == before, f"the input was replaced ({style}), exit {result.code}")
    demand(result.code in (2, 5) or style == "hardlink", f"exit {result.code} ({style})")
    trial.clean("link.csv", "hard.csv")


def recoding_clash(trial):
    """--recoding is the output, or a link to it, in either order: the release must not be the recoding."""
    style = trial.rng.choice(["same", "link to output", "link to recoding", "hard link", "dangling"])
    recoding = "out/release.csv" if style == "same" else "out/r.toml"
    if style == "link to output":
        trial.write("out/release.csv", "old\n")
        os.symlink("release.csv", trial.path("out/r.toml"))
    elif style == "link to recoding":
        trial.write("out/r.toml", "old\n")
        os.symlink("r.toml", trial.path("out/release.csv"))
    elif style == "hard link":
        trial.write("out/r.toml", "old\n")
        os.link(trial.path("out/r.toml"), trial.path("out/release.csv"))
    elif style == "dangling":
        os.symlink("release.csv", trial.path("out/r.toml"))
    result = trial.anonymize("-o", "out/release.csv", "--recoding", recoding, "--force", "--hierarchy", "a=intervals:5,10", algorithm="incognito")
    demand(result.code in (0, 2, 5), f"exit {result.code} ({style})")
    if result.code == 0:
        first = trial.read("out/release.csv").splitlines()[0]
        demand(first == b"a,b,s", f"exit 0, and the release is the recoding ({style})")
    trial.clean("release.csv", "r.toml")


def onto_request(trial):
    """--force onto the hierarchy or the configuration that the request reads."""
    trial.write("h.csv", "x;g;*\ny;g;*\nz;h;*\n")
    trial.write("c.toml", 'k = 2\n[columns]\na = { role = "quasi", hierarchy = { intervals = [5, 10] } }\nb = { role = "quasi", hierarchy = "h.csv" }\ns = { role = "sensitive" }\n')
    victim = trial.rng.choice(["h.csv", "c.toml"])
    before = trial.read(victim)
    words = trial.rng.choice([["-o", victim if victim == "h.csv" else "c.toml"], ["-o", "out/release.csv", "--recoding", victim]])
    result = run(trial.program, ["anonymize", "in.csv", "-c", "c.toml", "--algorithm", "incognito", "--force", *words], trial.folder)
    demand(trial.read(victim) == before, f"{victim} of the request was replaced by {' '.join(words)}, exit {result.code}")
    demand(result.code in (0, 2, 5), f"exit {result.code}")
    trial.clean("release.csv") if result.code == 0 else trial.clean()


def file_too_large(trial):
    """The file grows beyond the limit of the system."""
    trial.table("in.csv", 20000)
    kind = ending(trial)
    result = trial.anonymize("-o", f"out/release.{kind}", file_size=300)
    demand(result.code == 5, f"exit {result.code} when the file is too large: {result.said.strip()[-150:]}")
    trial.clean()


def full_disk(trial):
    """The recoding cannot be written: the release must not stand alone."""
    result = trial.anonymize("-o", "out/release.csv", "--recoding", "/dev/full", "--force", "--hierarchy", "a=intervals:5,10", algorithm="incognito")
    demand(result.code in (0, 2, 5), f"exit {result.code}")
    if result.code:
        trial.clean()


def without_force(trial):
    """An existing file stays."""
    trial.write("out/release.csv", "old\n")
    result = trial.anonymize("-o", "out/release.csv")
    demand(result.code in (2, 5) and trial.read("out/release.csv") == b"old\n", f"exit {result.code} onto an existing file without --force")
    trial.clean("release.csv")


def private_mode(trial):
    """--force keeps a private file private."""
    trial.write("out/release.csv", "old\n")
    os.chmod(trial.path("out/release.csv"), 0o600)
    result = trial.anonymize("-o", "out/release.csv", "--force")
    demand(result.code == 0, f"exit {result.code}")
    mode = os.stat(trial.path("out/release.csv")).st_mode & 0o777
    demand(mode & 0o077 == 0, f"--force replaced a file of mode 600 by one of mode {mode:o}")


def secret_mode(trial):
    """A recoding is as secret as the table."""
    result = trial.anonymize("-o", "out/release.csv", "--recoding", "out/r.toml", "--hierarchy", "a=intervals:5,10", algorithm="incognito")
    demand(result.code == 0, f"exit {result.code}")
    mode = os.stat(trial.path("out/r.toml")).st_mode & 0o777
    demand(mode & 0o077 == 0, f"the recoding has mode {mode:o}")


def odd_targets(trial):
    """A folder, a fifo or a device as the output."""
    style = trial.rng.choice(["folder", "null", "input folder"])
    if style == "folder":
        os.makedirs(trial.path("out/release.csv"))
        result = trial.anonymize("-o", "out/release.csv", "--force")
        demand(result.code in (2, 5), f"exit {result.code} onto a folder")
        trial.clean("release.csv")
    elif style == "null":
        result = trial.anonymize("-o", "/dev/null", "--force")
        demand(result.code in (0, 2, 5), f"exit {result.code} onto /dev/null")
        demand(not os.path.isfile("/dev/null"), "/dev/null was replaced")
    else:
        result = run(trial.program, ["anonymize", "out", *REQUEST, "-o", "out/release.csv"], trial.folder)
        demand(result.code in (2, 3, 5), f"exit {result.code} for a folder as the input")
        trial.clean()


def no_header(trial):
    """A table without a header: its first row must not be in the message."""
    trial.write("in.csv", "zq7anna,zq7berlin,zq734\nzq7ben,zq7rome,zq735\n")
    result = trial.anonymize("-o", "out/release.csv")
    demand(result.code in (2, 3), f"exit {result.code}")
    demand(tables.CANARY not in result.said, "a table without a header: the message shows the first row")


def wrong_words(trial):
    """Requests that are wrong in one word: exit 2, nothing written."""
    words = trial.rng.choice(
        [["-k", "0"], ["-k", "-1"], ["-k", "x"], ["--alpha", "s=1.5"], ["--alpha", "s=0"], ["--l", "s=0"], ["--t", "s=-1"], ["--suppress", "2"], ["--suppress", "-1%"], ["--weight", "a=-1"], ["--weight", "a=nan"],
         ["--kind", "a=colour"], ["--hierarchy", "a=intervals:0"], ["--hierarchy", "a=intervals:-5"], ["--hierarchy", "a=intervals:5,7"], ["--hierarchy", "b=prefix:0"], ["--entropy-l", "s=0"], ["--recursive", "s=0:2"],
         ["--recursive", "s=2:0"], ["--k-on", "2:nowhere"], ["--k-on", "2:s"], ["--values", "s=p"], ["--qi", "a,a"], ["--sensitive", "a"], ["--algorithm", "ring"], ["--threads", "-1"], ["--time", "x"],
         ["--suppress", "10%", "--t", "s=0.5"], ["--order", "b=x,x,y,z"], ["--order", "b=x"], ["--missing", "*"], ["--delimiter", "ab"], ["--distance", "s=far"], ["--scheme", "sps"]]
    )
    result = run(trial.program, ["anonymize", "in.csv", *REQUEST, "-o", "out/release.csv", "--time", "100ms", *words], trial.folder)
    demand(result.code in (0, 1, 2, 3), f"exit {result.code} for {' '.join(words)}: {result.said.strip()[-150:]}")
    trial.clean("release.csv") if result.code == 0 else trial.clean()


def bomb(trial):
    """A small file that unpacks to a gigabyte (or to 25 million rows), under a memory limit."""
    if trial.program not in HELP:
        HELP[trial.program] = run(trial.program, ["anonymize", "--help"], trial.folder).out.decode()
    if "--max-memory" not in HELP[trial.program]:
        return "skipped: no --max-memory"
    style = trial.rng.choice(["rows.zst", "rows.gz", "cell.zst", "header.zst"])
    packed = style.rsplit(".", 1)[1]
    piece = b"a,b,s\n" if style.startswith("rows") else b""
    body = b"1,x,p\n" * 170_000 if style.startswith("rows") else b"z" * 1_000_000
    name = f"bomb.csv.{packed}"
    with open(trial.path(name), "wb") as file:
        if packed == "gz":
            with gzip.GzipFile(fileobj=file, mode="wb", compresslevel=1) as sink:
                sink.write(piece)
                for _ in range(150):
                    sink.write(body)
        else:
            with pa.CompressedOutputStream(pa.PythonFile(file, mode="w"), "zstd") as sink:
                sink.write(piece if not style.startswith("cell") else b"a,b,s\n1,x,")
                for _ in range(150 if style.startswith("rows") else 1000):
                    sink.write(body)
                sink.write(b"\n")
    before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss
    result = run(trial.program, ["anonymize", name, *REQUEST, "--algorithm", "mondrian", "--max-memory", "200MB", "-o", "out/release.csv"], trial.folder, limit=120)
    used = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss
    # One text row repeated takes little memory when coded: such a table may pass.
    demand(result.code == 4 or (style.startswith("rows") and result.code == 0) or (style.startswith("header") and result.code in (2, 3)), f"{style}: exit {result.code}: {result.said.strip()[-150:]}")
    demand(used <= before or used < 600_000, f"{style}: {used} kB of memory under --max-memory 200MB")
    trial.clean("release.csv") if result.code == 0 else trial.clean()
    return None


def wide_table(trial):
    """Very many columns, very many levels."""
    style = trial.rng.choice(["columns", "levels", "nesting"])
    if style == "columns":
        names = [f"n{i}" for i in range(20_000)]
        trial.write("wide.csv", ",".join(["a", "b", "s"] + names) + "\n" + (",".join(["1", "x", "p"] + ["v"] * 20_000) + "\n") * 4)
        result = run(trial.program, ["anonymize", "wide.csv", *REQUEST, "--rest", "drop", "--algorithm", "mondrian", "-o", "out/release.csv"], trial.folder)
        demand(result.code == 0, f"exit {result.code} for 20,000 columns")
    elif style == "levels":
        trial.write("deep.csv", "".join(";".join([value] + [f"{value}{i}" for i in range(600)] + ["*"]) + "\n" for value in "xyz"))
        result = trial.anonymize("--hierarchy", "b=deep.csv", "-o", "out/release.csv")
        demand(result.code in (0, 2), f"exit {result.code} for 600 levels")
    else:
        trial.write("c.toml", "k = " + "[" * 50_000 + "]" * 50_000)
        result = run(trial.program, ["anonymize", "in.csv", "-c", "c.toml", "-o", "out/release.csv"], trial.folder)
        demand(result.code == 2, f"exit {result.code} for deep TOML")
    trial.clean("release.csv")


def union_column(trial):
    """A kept column of a type that Parquet lacks."""
    union = pa.UnionArray.from_sparse(pa.array([0, 1, 0, 1], pa.int8()), [pa.array([1, 2, 3, 4]), pa.array(["a", "b", "c", "d"])])
    table = pa.table({"a": pa.array([1, 1, 2, 2]), "b": pa.array(["x"] * 4), "s": pa.array(["p", "q"] * 2), "u": union})
    with pa.OSFile(trial.path("union.arrow"), "wb") as sink, pa.ipc.new_file(sink, table.schema) as writer:
        writer.write_table(table)
    kind = trial.rng.choice(["parquet", "arrow", "csv"])
    result = run(trial.program, ["anonymize", "union.arrow", *REQUEST, "--keep", "u", "--dependent", "u", "--algorithm", "mondrian", "-o", f"out/release.{kind}"], trial.folder)
    demand(result.code in (0, 2, 3, 5), f"a union column to {kind}: exit {result.code}")
    trial.clean(f"release.{kind}") if result.code == 0 else trial.clean()


def nul_cell(trial):
    """A NUL character in a cell of a Parquet file, published as CSV."""
    table = pa.table({"a": pa.array([1, 1, 2, 2]), "b": pa.array(["x"] * 4), "s": pa.array(["p\0q", "q"] * 2)})
    pyarrow.parquet.write_table(table, trial.path("nul.parquet"))
    kind = trial.rng.choice(["csv", "parquet", "arrow"])
    result = run(trial.program, ["anonymize", "nul.parquet", *REQUEST, "--algorithm", "mondrian", "-o", f"out/release.{kind}"], trial.folder)
    demand(result.code in (0, 2, 3), f"exit {result.code}")
    demand("no CSV" not in result.said, "a NUL in a cell: the message is about the program's own file")
    trial.clean(f"release.{kind}") if result.code == 0 else trial.clean()


def empty_inputs(trial):
    """Empty files of every ending, and a table without rows."""
    kind = trial.rng.choice(["csv", "csv.gz", "csv.zst", "tsv", "parquet", "arrow"])
    with open(trial.path("e." + kind), "wb") as file:
        file.write(trial.rng.choice([b"", b"\n", b"a,b,s\n" if kind == "csv" else b"", b"\xef\xbb\xbf", b"PAR1", b"ARROW1\0\0"]))
    result = run(trial.program, ["anonymize", "e." + kind, *REQUEST, "-o", "out/release.csv"], trial.folder)
    demand(result.code in (1, 2, 3, 5), f"exit {result.code} for an empty file")
    trial.clean()


HELP = {}
TRIALS = [
    closed_pipe_verify, closed_pipe_good, closed_pipe_release, full_json, full_release, missing_folder, onto_input, onto_input, recoding_clash, recoding_clash, onto_request, onto_request, file_too_large, full_disk,
    without_force, private_mode, secret_mode, odd_targets, no_header, wrong_words, wrong_words, wrong_words, wide_table, union_column, nul_cell, empty_inputs, bomb,
]


def faults(seed, program, folder, notes):
    rng = random.Random(f"faults {seed}")
    # One round tries everything once; later rounds draw other variants.
    trial = TRIALS[seed % len(TRIALS)]
    notes["trial"] = [trial.__name__]
    said = trial(Trial(rng, program, folder))
    if said:
        notes["skipped"] = [trial.__name__]


