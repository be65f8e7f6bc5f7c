"""The command line: runs cases in parallel, counts, and prints what broke."""

import argparse
import collections
import importlib
import multiprocessing
import os
import shutil
import signal
import sys
import tempfile
import time
import traceback

from .released import Broken
from .run import RECORD, Hang
from .tables import WITHOUT

SECTIONS = {"conformance": 300, "persons": 100, "optimum": 100, "kills": 20, "signals": 20, "delays": 20, "faults": 54, "damage": 50}
STORMS = {"kills", "signals", "delays"}
# How many cases a worker takes at once.
CHUNK = 5


def one(section, seed, program, keep):
    """Runs one case in a folder of its own. Gives (seed, notes, what broke or None)."""
    if keep:
        folder = os.path.join(os.path.abspath(keep), f"{section}-{seed}")
        shutil.rmtree(folder, ignore_errors=True)
        os.makedirs(folder)
    else:
        # Storms need a disk that takes time to write; the others want none.
        memory = os.path.isdir("/dev/shm") and section not in STORMS
        folder = tempfile.mkdtemp(prefix="fuzz-", dir="/dev/shm" if memory else None)
    module = importlib.import_module(f"fuzzing.{'storms' if section in STORMS else section}")
    notes, broke = {}, None
    try:
        getattr(module, section)(seed, program, folder, notes)
    except Broken as fault:
        broke = str(fault)
    except Hang as fault:
        broke = f"hang: {fault}"
    except Exception:  # a fault of this code counts as a failure too: it must be fixed
        broke = "the verifier failed: " + traceback.format_exc(limit=-3).replace("\n", " | ")
    finally:
        if not keep:
            shutil.rmtree(folder, ignore_errors=True)
    return seed, notes, broke


def work(job):
    section, seeds, program, keep, deadline = job
    found = []
    for seed in seeds:
        if deadline and time.time() > deadline:
            break
        found.append(one(section, seed, program, keep))
    return found


def quiet():
    signal.signal(signal.SIGINT, signal.SIG_IGN)


def run_section(section, options, pool):
    """Runs the cases of a section; gives (cases, notes, broken)."""
    cases = options.cases or SECTIONS[section]
    deadline = time.time() + options.seconds if options.seconds else None
    seeds = range(options.first_seed, options.first_seed + cases)
    jobs = [(section, seeds[at : at + CHUNK], options.program, options.keep, deadline) for at in range(0, cases, CHUNK)]
    counted, broken, done = collections.defaultdict(collections.Counter), [], 0
    started = time.time()
    without = f" --without {options.without}" if options.without else ""
    results = pool.imap_unordered(work, jobs) if pool else map(work, jobs)
    for found in results:
        for seed, notes, broke in found:
            done += 1
            for name, values in notes.items():
                counted[name].update(values)
            if sys.stderr.isatty() and done % 100 == 0:
                print(f"\r{section} {done} of {cases}, {len(broken)} broke ", end="", file=sys.stderr, flush=True)
            if broke:
                broken.append((seed, broke))
                line = broke.replace("\n", " ")[:600]
                print(f"BROKEN {section} seed={seed} {line}\n       bench/fuzz {section} --first-seed {seed} --cases 1 --program {options.program} --keep DIR{without}", flush=True)
    report(section, done, counted, broken, time.time() - started, options)
    return done, len(broken)


def report(section, done, counted, broken, seconds, options):
    print(f"\n{section}: {done} cases in {seconds:.0f} s ({done / max(seconds, 0.001):.1f} a second), {len(broken)} broke")
    for name in sorted(counted):
        if name == "refusal":
            if options.verbose:
                for (code, text), count in counted[name].most_common(60):
                    print(f"    {count:6}  exit {code}  {text}")
            continue
        parts = "  ".join(f"{value} {count}" for value, count in sorted(counted[name].items(), key=lambda item: (-item[1], str(item[0]))))
        print(f"  {name:12} {parts}")
    sys.stdout.flush()


def main(text, program):
    parser = argparse.ArgumentParser(description=text, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("sections", nargs="*", default=["all"], metavar="SECTION")
    parser.add_argument("--cases", type=int, help="how many cases of each section")
    parser.add_argument("--first-seed", type=int, default=1)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--program", default=program)
    parser.add_argument("--seconds", type=float, help="start no case after this time, section by section")
    parser.add_argument("--keep", metavar="DIR", help="leave the files of every case in a folder of its own here, with the commands")
    parser.add_argument("--without", metavar="A,B", help="leave these out, to look past a known fault: apostrophes, spellings, names, reserved, coding, binary")
    parser.add_argument("--verbose", action="store_true", help="list why requests were refused")
    options = parser.parse_args()
    unknown = set(options.sections) - set(SECTIONS) - {"all"}
    if unknown:
        parser.error(f"no section {', '.join(sorted(unknown))}")
    RECORD["on"] = bool(options.keep)
    WITHOUT.update(word for word in (options.without or "").split(",") if word)
    options.program = os.path.abspath(options.program)
    if not os.access(options.program, os.X_OK):
        parser.error(f"no program at {options.program}: build it, or name another with --program")
    sections = list(SECTIONS) if "all" in options.sections else options.sections
    if options.keep:
        options.jobs = 1
    pool = multiprocessing.Pool(options.jobs, initializer=quiet) if options.jobs > 1 else None
    done = failed = 0
    try:
        for section in sections:
            cases, broken = run_section(section, options, pool)
            done, failed = done + cases, failed + broken
    finally:
        if pool:
            pool.terminate()
    print(f"\n{done - failed} passed, {failed} failed")
    return 1 if failed else 0
