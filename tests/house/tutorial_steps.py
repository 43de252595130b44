"""Do what a page of the documentation says."""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import nbformat

from support.command_line import Ended, grader
from support.places import ROOT


class Block(NamedTuple):
    """A block of code on a page."""

    file: str  # to put it into, if any
    cell: str  # in that file, if it is a notebook
    language: str
    text: str


def blocks(page: str) -> Iterator[Block]:
    text = (ROOT / "docs" / page).read_text(encoding="utf-8")
    shown = r"(?:^`([^`\n]+)`(?:, cell `([^`\n]+)`)?:\n\n)?^```(\w+)\n(.*?)^```"
    for found in re.finditer(shown, text, re.DOTALL | re.MULTILINE):
        yield Block(found[1] or "", found[2] or "", found[3], found[4])


def follow(page: str, folder: Path) -> str:
    """Do what a page says, block by block, and return the output of its commands."""
    said = ""
    for file, cell, language, text in blocks(page):
        if cell:
            write_cell(folder / file, cell, text)
        elif file:
            (folder / file).parent.mkdir(parents=True, exist_ok=True)
            (folder / file).write_text(text)
        elif language == "text":
            assert text in said
        elif language == "python":
            subprocess.run([sys.executable, "-c", text], cwd=folder, check=True)
        else:
            for command, *arguments in map(shlex.split, text.splitlines()):
                if command == "cd":
                    folder /= arguments[0]
                    continue
                ended = grader(*arguments, folder=folder) if command == "grader" else nbgrader(arguments, folder)
                assert ended.returncode == 0, f"{arguments}: {ended.stdout} {ended.stderr}"
                said += "".join(f"{line.rstrip()}\n" for line in ended.stdout.splitlines())  # tables end in blanks
    assert "✗" not in said
    return said


def nbgrader(arguments: Sequence[str], folder: Path) -> Ended:
    ended = subprocess.run(
        [str(Path(sys.executable).with_name("nbgrader")), *arguments],
        cwd=folder, capture_output=True, text=True, check=False,
    )  # fmt: skip
    return Ended(ended.returncode, ended.stdout, ended.stderr)


def write_cell(notebook: Path, name: str, text: str) -> None:
    """Write into the cell with this name, or a new one at the end, which may be marked for students as by nbgrader."""
    content = nbformat.read(notebook, as_version=4)
    cell = next((cell for cell in content.cells if cell.id == name), None)
    if cell is None:
        of_students = name.startswith("exercise-")
        marks = {"grade_id": name, "solution": of_students, "schema_version": 3}
        marks |= dict.fromkeys(("grade", "locked", "task"), False)
        make = nbformat.v4.new_markdown_cell if name.startswith("about-") else nbformat.v4.new_code_cell
        cell = make(id=name, metadata={"nbgrader": marks} if of_students else {})
        content.cells.append(cell)
    cell.source = text.rstrip("\n")
    nbformat.write(content, notebook)


def as_script(page: str) -> str:
    """A page's files and commands as a script for bash."""
    return "".join(
        f"cat >'{one.file}' <<'END'\n{one.text}END\n" if one.file else one.text
        for one in blocks(page)
        if one.file or one.language == "sh"
    )
