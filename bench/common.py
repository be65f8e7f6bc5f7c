"""What the benchmarks share: the tool, the request for Adult, tables in Markdown."""

import subprocess
from pathlib import Path

HERE = Path(__file__).resolve().parent.parent
TOOL = HERE / "target/release/lookalike"


def build():
    subprocess.run(["cargo", "build", "--release", "--locked", "--quiet"], cwd=HERE, check=True)


def adult(data):
    """The flags for Adult in the configuration of Xu et al. 2006."""
    tree = data / "hierarchies/adult-utility"
    flags = ["--qi", "age,education,sex,race,marital-status,native-country,workclass,occupation", "--rest", "drop"]
    for column in ["marital-status", "workclass"]:
        flags += ["--hierarchy", f"{column}={tree / column}.csv"]
    return flags + ["--order", f"education={tree / 'education-order.txt'}", "--kind", "age=numeric"]


def table(head, rows):
    print("| " + " | ".join(head) + " |")
    print("|" + "---|" * len(head))
    for row in rows:
        print("| " + " | ".join(str(cell) for cell in row) + " |")
    print(flush=True)
