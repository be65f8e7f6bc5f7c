"""Documents are executed: doctests by pytest itself, the page and the notebook here."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[2]


def blocks(text: str, language: str = "python") -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)


@pytest.mark.parametrize("name", ["docs/python.md", "README.md"])
def test_the_blocks_of_a_page_run(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("polars")
    pytest.importorskip("duckdb")
    monkeypatch.chdir(tmp_path)
    found = blocks((ROOT / name).read_text(encoding="utf-8"))
    assert found, "a page without a block tests nothing"
    scope: dict[str, Any] = {"__name__": name}
    for number, block in enumerate(found, 1):
        exec(compile(block, f"{name}, block {number}", "exec"), scope)


def test_the_page_on_reading_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("polars")
    duckdb = pytest.importorskip("duckdb")
    monkeypatch.chdir(tmp_path)
    bin = Path(sys.executable).parent
    monkeypatch.setenv("PATH", os.pathsep.join([str(bin), os.environ["PATH"]]))
    text = (ROOT / "docs/reading.md").read_text(encoding="utf-8")
    for block in blocks(text, "sh"):
        subprocess.run(["bash", "-euo", "pipefail", "-c", block], check=True)
    scope: dict[str, Any] = {"__name__": "docs/reading.md"}
    for number, block in enumerate(blocks(text), 1):
        exec(compile(block, f"docs/reading.md, block {number}", "exec"), scope)
    # What the page says of these numbers.
    truth = scope["truth"]
    assert round(truth, 1) == 45.2
    assert abs(scope["middles"] - truth) < 0.5 and abs(scope["from_labels"] - truth) < 0.5
    assert abs(scope["exact_only"] - 30) < 3
    assert abs(scope["least"] - 42) < 0.5 and abs(scope["greatest"] - 48) < 0.5
    assert scope["by_zip"].index.is_monotonic_increasing and len(scope["by_zip"]) > 5
    assert scope["by_sex"]["len"].sum() == len(scope["release"])
    (query,) = blocks(text, "sql")
    ((least, greatest, by_middle),) = duckdb.sql(query).fetchall()
    true_count = int(scope["source"]["age"].between(40, 59).sum())
    assert least <= by_middle <= greatest and least <= true_count <= greatest
    (script,) = blocks(text, "r")
    if rscript := shutil.which("Rscript"):
        done = subprocess.run([rscript, "-e", script], check=True, capture_output=True, text=True)
        assert abs(float(done.stdout) - scope["from_labels"]) < 0.01


def test_the_page_has_ten_tasks() -> None:
    text = (ROOT / "docs/python.md").read_text(encoding="utf-8")
    tasks = re.findall(r"^\*\*(\d+)\. ", text, re.MULTILINE)
    assert tasks == [str(number) for number in range(1, 11)]


def test_the_codes_of_the_package_are_listed() -> None:
    package = Path(__file__).resolve().parents[1] / "lookalike"
    listed = (ROOT / "docs/python.md").read_text() + (ROOT / "docs/errors.md").read_text()
    codes = set()
    for module in package.rglob("*.py"):
        codes |= set(re.findall(r'code="([a-z-]+)"', module.read_text(encoding="utf-8")))
    assert len(codes) > 8
    for code in codes:
        assert f"`{code}`" in listed, code


def test_the_notebook_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    nbformat = pytest.importorskip("nbformat")
    nbclient = pytest.importorskip("nbclient")
    pytest.importorskip("sklearn")
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(sys.path))
    notebook = nbformat.read(ROOT / "docs/pipeline.ipynb", as_version=4)
    client = nbclient.NotebookClient(
        notebook,
        timeout=180,
        kernel_name="python3",
        resources={"metadata": {"path": str(tmp_path)}},
    )
    client.execute()
    outputs = [output for cell in notebook.cells for output in cell.get("outputs", [])]
    assert outputs
    assert not [output for output in outputs if output.get("output_type") == "error"]
