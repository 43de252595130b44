"""The gallery: `python docs/gallery.py FOLDER` makes its pages there, with the commands that everybody uses."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

PARTS = ("report", "feedback", "notebooks", "autograded")  # the report links to what is in the last one


def make(folder: Path) -> None:
    grader = Path(sys.executable).with_name("grader")
    with tempfile.TemporaryDirectory() as scratch:
        course = Path(scratch, "demo")
        subprocess.run([grader, "demo"], cwd=scratch, check=True)
        notebooks = sorted(course.glob("release/*/*.ipynb"))
        convert: list[str | Path] = [grader.with_name("jupyter"), "nbconvert", "--to", "html", "--embed-images"]
        subprocess.run([*convert, "--output-dir", course / "notebooks", *notebooks], check=True)
        shutil.rmtree(folder, ignore_errors=True)
        for part in PARTS:
            shutil.copytree(course / part, folder / "gallery" / part)


def page(folder: Path) -> str:
    """What is in this folder, in Markdown."""
    report, feedback, books, _ = (sorted(folder.glob(f"gallery/{part}/**/*.html")) for part in PARTS)
    if not report:
        return "These pages are not here yet: `make site` makes them.\n"

    def link(to: Path, text: str) -> str:
        return f'<a href="{to.relative_to(folder)}">{text}</a>'

    students = json.loads(report[0].with_suffix(".json").read_text(encoding="utf-8"))["students"]
    lines = ["## The report", "", f"What the instructor reads: {link(report[0], 'the class')}.", ""]
    lines += [
        "## Feedback",
        "",
        "What each student reads:",
        "",
        "| student | points | mistakes with a name |",
        "|---|---|---|",
    ]
    for one, student in zip(feedback, (each for each in students if each["status"] == "graded"), strict=True):
        named = dict.fromkeys(each["name"] for each in student["misconceptions"])
        lines.append(f"| {link(one, student['student'])} | {student['points']:g} | {', '.join(named)} |")
    lines += ["", "luca has no page: that upload broke off.", ""]
    lines += ["## Notebooks", "", "The notebooks of the course, to read:", ""]
    lines += [f"- {link(one, one.stem.replace('_', ' '))}" for one in books]
    return "\n".join([*lines, ""])


if __name__ == "__main__":
    make(Path(sys.argv[1]))
