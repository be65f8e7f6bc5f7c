"""Runs the program, with a time limit and a private folder for its temporary files."""

import os
import resource
import shlex
import signal
import subprocess

# With --keep every command is written to a file in the case's folder.
RECORD = {"on": False}
LIMIT = 20  # seconds: a run that takes longer hangs


class Hang(Exception):
    """A run did not end within LIMIT seconds."""


class Result:
    def __init__(self, code, out, err):
        self.code, self.out, self.err = code, out, err

    @property
    def said(self):
        return self.err.decode("utf-8", "replace")


def environment(folder):
    """The environment of a run: temporary files go to a folder of its own."""
    scratch = os.path.join(folder, "tmp")
    os.makedirs(scratch, exist_ok=True)
    return {**os.environ, "TMPDIR": scratch}


def run(program, arguments, folder, limit=LIMIT, file_size=None, stdin=None):
    """Runs the program in a folder and waits for it."""
    record(folder, [program, *arguments])
    before = (lambda: limit_files(file_size)) if file_size else None
    source = open(stdin or os.devnull, "rb")
    process = subprocess.Popen(
        [program, *arguments], cwd=folder, env=environment(folder), stdin=source, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        preexec_fn=before, close_fds=before is not None,
    )
    source.close()
    try:
        out, err = process.communicate(timeout=limit)
    except subprocess.TimeoutExpired:
        process.kill()
        process.communicate()
        raise Hang(f"no end after {limit} s") from None
    return Result(process.returncode, out, err)


def limit_files(size):
    """Files of the process cannot grow beyond `size` bytes: a write fails, and no signal kills the process."""
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))


def record(folder, words):
    if RECORD["on"]:
        with open(os.path.join(folder, "commands"), "a", encoding="utf-8") as file:
            file.write(shlex.join(words) + "\n")


def temporary(folder):
    """What is left in the folder for temporary files."""
    scratch = os.path.join(folder, "tmp")
    return sorted(os.listdir(scratch)) if os.path.isdir(scratch) else []
