"""Kills and signals at random moments: what is there afterwards must be whole, and what was said must be true."""

import os
import random
import shutil
import signal
import stat
import subprocess
import time

from . import tables
from .released import demand
from .run import LIMIT, Hang, environment, record, run, temporary

OLD = b"this file was here before\n"


class Storm:
    """A run that takes some tenths of a second, in one of several forms."""

    def __init__(self, rng, program, folder):
        self.rng, self.program, self.folder = rng, program, folder
        rows = rng.choice([300, 3000, 20000])
        columns = [
            tables.Column("age", "quasi", "numeric", [str(rng.randrange(100)) for _ in range(rows)], []),
            tables.Column("zip", "quasi", "categorical", [f"z{rng.randrange(30)}" for _ in range(rows)], []),
            tables.Column("sex", "quasi", "categorical", [rng.choice("fm") for _ in range(rows)], []),
            tables.Column("ill", "sensitive", "categorical", [rng.choice(["a", "b", "c"]) for _ in range(rows)], []),
        ]
        self.source = rng.choice(["in.csv", "in.csv", "in.parquet"])
        tables.write(os.path.join(folder, self.source), columns, list(range(rows)))
        self.rows = rows
        self.request = ["--qi", "age,zip,sex", "--sensitive", "ill", "-k", "3", "--kind", "age=numeric", "--suppress", "20%"]
        self.ending = rng.choice(["csv", "csv.gz", "csv.zst", "parquet", "arrow", "stdout"])
        self.recoding = rng.random() < 0.35
        if self.recoding:
            algorithm = rng.choice([["incognito"], ["optimal", "--scheme", "ops", "--nodes", "50"]])
        else:
            algorithm = rng.choice([["mondrian"], ["cluster"], ["auto", "--time", "300ms"], ["auto", "--time", "5s"], ["peel"]])
        self.algorithm = algorithm
        if self.recoding:
            self.request += ["--hierarchy", "age=intervals:5,20,60"]
        self.forced = self.ending != "stdout" and rng.random() < 0.4
        self.out = os.path.join(folder, "out")
        os.makedirs(self.out, exist_ok=True)
        self.target = os.path.join(self.out, "release." + ("csv" if self.ending == "stdout" else self.ending))
        self.kept = os.path.join(self.out, "recoding.toml")
        if self.forced:
            with open(self.target, "wb") as file:
                file.write(OLD)
        self.words = ["anonymize", self.source, *self.request, "--algorithm", *algorithm, "--bound", "none", "--threads", str(rng.choice([1, 2]))]
        self.words += ["-o", "-" if self.ending == "stdout" else os.path.relpath(self.target, folder)]
        self.words += ["--force"] if self.forced else []
        self.words += ["--recoding", os.path.relpath(self.kept, folder)] if self.recoding else []

    def calm(self):
        """How long an undisturbed run takes. (A long search is not waited for: the first signal ends it.)"""
        if "5s" in self.algorithm:
            return 0.4
        started = time.time()
        words = list(self.words)
        words[words.index("-o") + 1] = "calm." + ("csv" if self.ending == "stdout" else self.ending)
        if self.recoding:
            words[words.index("--recoding") + 1] = "calm.toml"
        result = run(self.program, words, self.folder)
        demand(result.code == 0, f"exit {result.code} without any signal: {result.said.strip()[-200:]}")
        return time.time() - started

    def start(self, slow=None):
        """Starts the run; `slow` names system calls that take 40 ms."""
        before = ["strace", "-f", "-qq", "-o", "/dev/null", "-e", f"trace={slow[0]}", "-e", f"inject={slow[0]}:{slow[1]}=40000"] if slow else []
        record(self.folder, [self.program, *self.words])
        out = open(self.target, "wb") if self.ending == "stdout" else subprocess.DEVNULL
        process = subprocess.Popen(
            [*before, self.program, *self.words], cwd=self.folder, env=environment(self.folder), stdin=subprocess.DEVNULL, stdout=out, stderr=subprocess.PIPE, close_fds=False
        )
        if self.ending == "stdout":
            out.close()
        return process

    def wait(self, process, length):
        """Waits until the moment to strike: anywhere in the run, near its end, or when a file appears beside the target."""
        style = self.rng.choice(["anywhere", "end", "file", "file"])
        if style == "anywhere":
            time.sleep(self.rng.uniform(0, length * 1.05))
        elif style == "end":
            time.sleep(self.rng.uniform(length * 0.6, length * 1.05))
        else:
            before = set(os.listdir(self.out))
            limit = time.time() + length * 1.5
            while process.poll() is None and time.time() < limit and set(os.listdir(self.out)) == before and not temporary(self.folder):
                time.sleep(0.0002)
            time.sleep(self.rng.choice([0, self.rng.uniform(0, 0.002), self.rng.uniform(0, 0.02)]))

    def verified(self):
        """Whether the file under the final name is a release that the program calls good."""
        ending = "csv" if self.ending == "stdout" else self.ending
        found = run(self.program, ["verify", os.path.relpath(self.target, self.folder), *self.request, "--source", self.source, *(["--delimiter", ","] if ending.startswith("csv") and self.source.endswith("csv") else [])], self.folder)
        return found.code == 0

    def content(self):
        if not os.path.exists(self.target):
            return None
        with open(self.target, "rb") as file:
            return file.read()


def traced(process):
    """The process that strace runs, or None."""
    for _ in range(200):
        try:
            with open(f"/proc/{process.pid}/task/{process.pid}/children", encoding="ascii") as file:
                children = file.read().split()
        except OSError:
            return None
        if children:
            return int(children[0])
        time.sleep(0.001)
    return None


def waited(process):
    try:
        _, err = process.communicate(timeout=LIMIT)
    except subprocess.TimeoutExpired:
        process.kill()
        process.communicate()
        raise Hang(f"no end {LIMIT} s after the signal") from None
    return process.returncode, err.decode("utf-8", "replace")


def kills(seed, program, folder, notes):
    """SIGKILL: the final name has nothing, the old file, or a complete release. What is left beside it is private."""
    storm = Storm(random.Random(f"kills {seed}"), program, folder)
    length = storm.calm()
    process = storm.start()
    storm.wait(process, length)
    process.kill()
    code, _ = waited(process)
    demand(code in (0, -signal.SIGKILL), f"exit {code}")
    notes["exit"] = [code]
    notes["output"] = [storm.ending]
    content = storm.content()
    if storm.ending == "stdout":
        # A file behind standard output is the shell's: it is cut short when the copy is cut short. Only a clean end must be whole.
        state = "ended" if code == 0 else "killed"
        if code == 0:
            demand(storm.verified(), "exit 0 but the release on standard output does not verify")
    elif content is None:
        state = "nothing"
        demand(not storm.forced, "the old file is gone and no release is there")
    elif content == OLD:
        state = "old file"
        demand(storm.forced, "a file that nobody wrote")
    else:
        state = "release"
        demand(storm.verified(), "the file under the final name is no complete release")
    notes["after"] = [state]
    left = leftovers(storm)
    notes["left"] = ["something" if left else "nothing"]
    for path in left:
        mode = stat.S_IMODE(os.stat(path).st_mode)
        demand(mode & 0o077 == 0, f"left after the kill with mode {mode:o}: {os.path.basename(path)}")


def leftovers(storm):
    """Temporary files and folders beside the target and in TMPDIR. What stands inside a private folder is private."""
    found = [os.path.join(storm.out, name) for name in os.listdir(storm.out) if os.path.join(storm.out, name) not in (storm.target, storm.kept)]
    return found + [os.path.join(storm.folder, "tmp", name) for name in temporary(storm.folder)]


def signals(seed, program, folder, notes):
    """SIGINT and SIGTERM, once, twice or many times: exit 0 with a release, or 130 and a last line that says what is there."""
    rng = random.Random(f"signals {seed}")
    strike(rng, Storm(rng, program, folder), notes, slow=None)


# System calls around publishing: flushing, renaming, linking, removing, changing modes.
CALLS = ["fsync", "fsync", "rename,renameat,renameat2", "rename,renameat,renameat2", "unlink,unlinkat", "fchmod,chmod", "link,linkat"]


def delays(seed, program, folder, notes):
    """The same with system calls around publishing that take 40 ms, before or after their work. Needs strace."""
    if shutil.which("strace") is None:
        notes["skipped"] = ["no strace"]
        return
    rng = random.Random(f"delays {seed}")
    call = rng.choice(CALLS)
    notes["call"] = [call]
    strike(rng, Storm(rng, program, folder), notes, slow=(call, rng.choice(["delay_exit", "delay_enter"])))


def strike(rng, storm, notes, slow):
    """Sends the signals and compares what is said with what is there."""
    length = storm.calm()
    process = storm.start(slow)
    storm.wait(process, length + (0.5 if slow else 0))
    target = traced(process) if slow else process.pid
    style = rng.choice(["one", "one", "two", "storm"])
    for _ in range({"one": 1, "two": 2, "storm": 12}[style]):
        if process.poll() is None and target:
            try:
                os.kill(target, rng.choice([signal.SIGINT, signal.SIGTERM]))
            except ProcessLookupError:
                pass
        time.sleep(rng.choice([0, 0.001, 0.01, 0.03]))
    code, said = waited(process)
    # Words of strace itself are not the program's.
    said = "\n".join(line for line in said.splitlines() if not line.startswith("strace:"))
    notes["exit"] = [code]
    notes["style"] = [style]
    notes["output"] = [storm.ending]
    content = storm.content()
    left = leftovers(storm)
    if code in (-signal.SIGINT, -signal.SIGTERM) and not said and content in (None, b"", OLD) and not left:
        # Before main() could set up its handlers the system's own answer to the signal holds; nothing was begun.
        notes["exit"] = ["by the signal, before anything began"]
        return
    demand(code in (0, 130), f"exit {code}: {said.strip()[-200:]}")
    demand(not left, f"exit {code}, left behind: {[os.path.basename(p) for p in left]} (said: {said.strip()[-100:]})")
    released = content not in (None, OLD) if storm.ending != "stdout" else code == 0
    kept = os.path.exists(storm.kept)
    if code == 0:
        demand(released, "exit 0 without a release")
        demand(storm.verified(), "exit 0, and the release does not verify")
        demand(kept == storm.recoding, "exit 0, and the recoding is not as asked")
        return
    # What an interrupted run leaves is named in its last line, and whole.
    last = said.strip().splitlines()[-1] if said.strip() else ""
    notes["last line"] = ["nothing was written" if "nothing was written" in last else "names what is there"]
    demand(not storm.forced or content is not None, "exit 130, and the old file is gone")
    for there, path, what in [(released, storm.target, "release"), (kept, storm.kept, "recoding")]:
        if storm.ending == "stdout" and what == "release":
            continue
        named = os.path.basename(path) in last
        demand(not there or named, f"exit 130, and the {what} is there, which the last line does not say: {last[-150:]}")
        demand(there or not named or "not" in last, f"exit 130, and the last line names a {what} that is not there: {last[-150:]}")
    demand("nothing was written" not in last or not (released or kept), f"exit 130, said nothing was written, and something is there: {last[-150:]}")
    if released:
        demand(storm.verified(), "exit 130, and the release that is there does not verify")
