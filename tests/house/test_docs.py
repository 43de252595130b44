"""The examples in the documentation work."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import tomllib
from pathlib import Path

import how_right
import pytest
import yaml
from tutorial_steps import follow

from grader.authoring.beginnings import new_assignment, new_course, new_exercise
from grader.course.folder import Course
from grader.gradebook.published import Publications
from support.command_line import grader
from support.places import ROOT

DOCS = [*sorted((ROOT / "docs").glob("*.md")), *sorted(ROOT.glob("*.md"))]
_LINK = re.compile(r"\]\(([^)#\s]+)[^)]*\)")
_FILE = re.compile(r"`((?:grader|tests|docs|source|release)/[\w./]*\w/?)`")


@pytest.mark.slow
def test_page_writing_an_exercise_works_as_it_stands(tmp_path: Path) -> None:
    new_course(tmp_path)
    new_assignment(Course(tmp_path), "attention")
    said = follow("writing_an_exercise.md", tmp_path)
    assert re.search("^attention +all +code in corpus/ is judged as it says +2 ✓$", said, re.MULTILINE)
    assert re.search("^attention +all +misconceptions lose marks and are named +5 ✓$", said, re.MULTILINE)


@pytest.mark.slow
def test_page_your_own_course_works_as_it_stands(tmp_path: Path) -> None:
    output = follow("your_own_course.md", tmp_path)
    assert output.count("All checks passed.\n") == 2
    assert re.search("^week1 +all +code in corpus/ is judged as it says +5 ✓$", output, re.MULTILINE)
    assert re.search("^week1 +all +misconceptions lose marks and are named +7 ✓$", output, re.MULTILINE)
    release = (tmp_path / "statistics/release/week1/week1.ipynb").read_text()
    assert ("def spread" in release, "class Account" in release) == (True, True)
    assert ("high - low" in release, "self.balance -= amount" in release) == (False, False)


@pytest.mark.proof
def test_page_collecting_works_as_it_stands(tmp_path: Path) -> None:
    new_course(tmp_path)
    new_assignment(Course(tmp_path), "week1")
    new_exercise(Course(tmp_path), "mean", "week1")
    assert grader("release", "week1", folder=tmp_path).returncode == 0
    follow("collecting.md", tmp_path)
    page = (ROOT / "docs/collecting.md").read_text(encoding="utf-8")
    command, shown = re.findall(r"^    grader (collect .*)\n\n((?: {4}.*\n|\n)+)", page, re.MULTILINE)[0]
    ended = grader(*shlex.split(command), folder=tmp_path)
    assert ended.returncode == 3
    printed = [" ".join(line.split()) for line in (ended.stderr + ended.stdout).splitlines() if "──" not in line]
    assert [line for row in shown.splitlines() if (line := " ".join(row.split())) and line not in printed] == []
    assert (tmp_path / "submitted/ada/week1/week1.ipynb").is_file()


@pytest.mark.proof
def test_page_a_term_works_as_it_stands(tmp_path: Path) -> None:
    """Points computed manually from the page: kurt loses a tenth for a day, and a person gave emmy a point."""
    follow("a_term.md", tmp_path)
    assert len(list(tmp_path.glob("demo/feedback/*/*/*.html"))) == 11
    course = Course(tmp_path / "statistics")
    assert (course.root / "report/week1.html").is_file()
    weeks = {week: Publications(course, week) for week in ("week1", "week2")}
    told = [weeks["week1"].read(number) for number in (1, 2)]
    assert [{name: one.total for name, one in each.students.items()} for each in told] == [
        {"ada": 2, "emmy": 1.5, "kurt": 1.8},
        {"ada": 2, "emmy": 1.5, "kurt": 0.45},
    ]
    assert {one.total for one in weeks["week2"].read(1).students.values()} == {2}
    feedback = (course.folder("feedback") / "emmy/week1/week1.html").read_text()
    assert "Your test beside it was good." in feedback
    assert "What comes out is the sum" in feedback
    assert sorted(path.name for path in (course.root / "export").iterdir()) == [
        "all-assignments.csv", "week1-canvas.csv", "week1-moodle.csv", "week2-canvas.csv",
    ]  # fmt: skip


@pytest.mark.parametrize("page", DOCS, ids=lambda page: str(page.relative_to(ROOT)))
def test_docs_links_and_file_names_lead_somewhere(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    links = [link for link in _LINK.findall(text) if "://" not in link]
    missing = [link for link in links if not (page.parent / link).exists()]
    missing += [
        name
        for name in _FILE.findall(text)
        if not re.search("exNN|week1|source/attention", name) and not (ROOT / name).exists()
    ]
    assert not missing


def test_docs_index_lists_all_pages() -> None:
    index = ROOT / "docs/README.md"
    listed = {(index.parent / link).resolve() for link in _LINK.findall(index.read_text()) if "://" not in link}
    assert {page for page in DOCS if page not in (index, ROOT / "README.md", ROOT / "SECURITY.md")} <= listed


def test_version_is_the_newest_in_changelog_and_citation() -> None:
    version = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["version"]
    newest = re.search(r"^## ([\d.]+) \((\S+)\)", (ROOT / "CHANGELOG.md").read_text(), re.MULTILINE)
    assert newest
    cited = yaml.safe_load((ROOT / "CITATION.cff").read_text())
    assert (version, version, newest[2]) == (newest[1], cited["version"], cited["date-released"])
    assert f"attention_grader-{version}-" in (ROOT / "docs/installing.md").read_text()


def test_release_workflow_finds_version_and_notes_of_a_tag(tmp_path: Path) -> None:
    workflow = yaml.safe_load((ROOT / ".github/workflows/release.yml").read_text())
    steps = {step.get("name"): step.get("run", "") for step in workflow["jobs"]["build"]["steps"]}
    for name in ("pyproject.toml", "CHANGELOG.md"):
        shutil.copyfile(ROOT / name, tmp_path / name)
    version = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["version"]

    def run(step: str, tag: str) -> int:
        environment = {**os.environ, "GITHUB_REF_NAME": tag}
        return subprocess.run(["bash", "-e", "-c", steps[step]], cwd=tmp_path, env=environment, check=False).returncode

    assert [run("The tag is the version", tag) for tag in (f"v{version}", "v0.0.1")] == [0, 1]
    assert [run("Notes", tag) for tag in ("v0.0.1", f"v{version}")] == [1, 0]
    notes = (tmp_path / "notes.md").read_text()
    assert (notes.startswith(f"## {version} "), notes.count("\n## ")) == (True, 0)
    assert steps["Tests"] == "make test"


def test_page_how_right_holds_the_recorded_tables() -> None:
    page = how_right.PAGE.read_text(encoding="utf-8")
    assert how_right.with_tables(page) == page
