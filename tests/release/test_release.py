"""The notebooks: clean sources, and a release that is what they compile to and gives nothing away."""

from __future__ import annotations

import contextlib
import json
import re
import runpy
import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import Any

import nbformat
import pytest
from nbformat import NotebookNode
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook

from grader.course.folder import Course
from grader.errors import CourseError
from grader.host import scratch
from grader.model import broken_rules
from grader.notebooks.cells import is_test_cell, solutions
from grader.release import known_mistakes, own_code
from grader.release.beside import HINTS, hints_in
from grader.release.compiling import compile_release
from grader.release.leaks import LeakError, Searched, search
from support.our_course import ASSIGNMENTS, EXERCISES, of_assignment
from support.places import ROOT
from support.proof import first_in_ci

POINTS = {
    **{1: 3, 2: 3, 3: 2, 4: 2, 5: 3, 6: 4, 7: 5, 8: 8},
    **{9: 2, 10: 3, 11: 3, 12: 4, 13: 3, 14: 4, 15: 3, 16: 8},
    **{17: 6, 18: 10, 19: 9},
    **{20: 2, 21: 4, 22: 4, 23: 3, 24: 5, 25: 6, 26: 4, 27: 4},
    **{28: 4, 29: 6, 30: 4, 31: 4, 32: 7, 33: 5, 34: 3, 35: 4},
    **{36: 3, 37: 3, 38: 3, 39: 3, 40: 6, 41: 4, 42: 5, 43: 3},
}

both_folders = pytest.mark.parametrize("folder", ["source", "release"])
every_assignment = pytest.mark.parametrize("assignment", ASSIGNMENTS)


def notebook(folder: str, assignment: str) -> Any:
    return Course(ROOT).read(folder, assignment)


@every_assignment
def test_source_is_committed_without_outputs(assignment: str) -> None:
    for cell in notebook("source", assignment).cells:
        if cell.cell_type == "code":
            assert cell.outputs == []
            assert cell.execution_count is None


@every_assignment
def test_cell_ids_are_words_and_equal_in_the_release(assignment: str) -> None:
    ids = [cell.id for cell in notebook("source", assignment).cells]
    assert len(set(ids)) == len(ids)
    assert not [one for one in ids if re.fullmatch(r"[0-9a-f]{8}(-[0-9a-f-]+)?", one)], (
        "a random id changes on each save"
    )
    assert [cell.id for cell in notebook("release", assignment).cells] == ids


@every_assignment
def test_source_is_saved_as_jupyter_saves_it(assignment: str) -> None:
    path = Course(ROOT).notebook("source", assignment)
    assert path.read_text() == nbformat.writes(nbformat.read(path, 4)) + "\n"
    nbformat.validate(nbformat.read(path, 4))


@every_assignment
def test_source_has_a_solution_and_a_test_cell_for_every_exercise(assignment: str) -> None:
    cells = {cell.metadata.get("nbgrader", {}).get("grade_id"): cell for cell in notebook("source", assignment).cells}
    for exercise in of_assignment(assignment):
        solution, test = cells[f"exercise-{exercise.number}"], cells[f"test-exercise-{exercise.number}"]
        for function in exercise.functions:
            word = "class" if function.form.noun == "class" else "def"
            assert f"{word} {function.entry}(" in solution.source
        assert solution.metadata.nbgrader.solution
        assert not solution.metadata.nbgrader.grade
        assert test.metadata.nbgrader.grade
        assert test.metadata.nbgrader.locked
        assert test.metadata.nbgrader.points == POINTS[exercise.number]
        assert test.source.startswith(f"check({exercise.number})\n")


@every_assignment
def test_source_asks_a_question_before_each_plot(assignment: str) -> None:
    """In a text since the last plot."""
    asked, without = False, []
    for cell in notebook("source", assignment).cells:
        if cell.cell_type == "markdown":
            asked = asked or "**Predict" in cell.source
        elif "show_figure(" in cell.source:
            without += [] if asked else [cell.id]
            asked = False
    assert without == []


@every_assignment
def test_source_tables_have_a_heading_for_every_column(assignment: str) -> None:
    """A screen reader says it before each entry."""
    texts = [cell.source for cell in notebook("source", assignment).cells if cell.cell_type == "markdown"]
    heads = [head for text in texts for head in re.findall(r"^(\|.*\|)\n\|[-:| ]+\|$", text, re.MULTILINE)]
    assert len(heads) == sum(len(re.findall(r"^\|[-:| ]*-[-:| ]*\|$", text, re.MULTILINE)) for text in texts) > 0
    assert not [head for head in heads if "" in map(str.strip, head.strip("|").split("|"))]


@every_assignment
def test_cells_folded_in_jupyterlab_are_folded_in_colab(assignment: str) -> None:
    """VS Code folds nothing that a file asks for."""
    cells = notebook("source", assignment).cells
    folded = [cell.id for cell in cells if cell.metadata.get("jupyter", {}).get("source_hidden")]
    assert folded == [cell.id for cell in cells if cell.metadata.get("cellView") == "form"] != []


LONGEST_TITLE = 72  # JupyterLab never breaks the first line of a folded cell: at 800 pixels, no more fits


@every_assignment
def test_folded_cells_have_a_short_first_line(assignment: str) -> None:
    cells = notebook("source", assignment).cells
    folded = [cell.source for cell in cells if cell.metadata.get("jupyter", {}).get("source_hidden")]
    titles = [source.partition("\n")[0] for source in folded]
    assert [title for title in titles if len(title) > LONGEST_TITLE] == []


@both_folders
@every_assignment
def test_links_and_images_lead_somewhere(folder: str, assignment: str) -> None:
    text = "\n".join(cell.source for cell in notebook(folder, assignment).cells if cell.cell_type == "markdown")
    anchors = set(re.findall(r'id="([^"]+)"', text))
    links = set(re.findall(r"\]\(#([^)]+)\)", text))
    assert links
    assert links <= anchors
    images = set(re.findall(r"\]\((images/[^)]+)\)", text))
    assert images
    assert not [image for image in images if not (ROOT / folder / assignment / image).is_file()]


@every_assignment
def test_release_has_a_hint_for_every_exercise(assignment: str) -> None:
    text = "\n".join(cell.source for cell in notebook("release", assignment).cells)
    assert text.count("<details>") >= len(of_assignment(assignment))


@every_assignment
def test_figures_have_titles_and_no_scripts(assignment: str) -> None:
    for figure in (ROOT / "source" / assignment / "images").glob("*.svg"):
        text = figure.read_text()
        assert "<title" in text, figure.name
        assert "viewBox" in text, figure.name
        assert "<script" not in text, figure.name


@every_assignment
def test_release_is_exactly_what_the_source_compiles_to(assignment: str, released_course: Course) -> None:
    committed, compiled = (root / "release" / assignment for root in (ROOT, released_course.root))
    assert contents(committed) == contents(compiled), "run `make release`"


def contents(folder: Path) -> dict[str, bytes]:
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file() and not {".ipynb_checkpoints", "__pycache__"} & set(path.parts)
    }


@pytest.mark.slow
@every_assignment
def test_search_of_committed_release_finds_nothing(assignment: str) -> None:
    assert search(Course(ROOT), assignment) == Searched([], [])


@every_assignment
def test_release_holds_no_sentence_or_case_of_the_grader(assignment: str) -> None:
    """Searched anew here, without the code that the release command uses. Checks say the sentences of broken rules."""
    rules = set(map(str, vars(broken_rules).values()))
    text = "\n".join(
        path.read_text()
        for path in (ROOT / "release" / assignment).rglob("*")
        if path.suffix in (".py", ".ipynb", ".svg") and path.name != known_mistakes.FILE
    )
    table = (ROOT / "release" / assignment / known_mistakes.FILE).read_text()
    for exercise in of_assignment(assignment):
        for misconception in exercise.mistakes:
            if misconception.says not in rules:
                assert misconception.says not in text
                assert json.dumps(misconception.says)[1:-1] not in text
            assert f"({misconception.name!r}" not in table
        for case in exercise.cases:
            assert case.catches not in text + table
    for words in ("BEGIN SOLUTION", "HIDDEN TESTS", "hidden_tests", "grader.notebook", "misconception"):
        assert words not in text + table


FIGURE = re.compile(r"(?<=[( ])-?\d[\d.e+-]*(?=[,)])")


@pytest.mark.slow
@pytest.mark.parametrize("assignment", first_in_ci(ASSIGNMENTS))
def test_known_mistakes_table_is_made_of_the_exercises(assignment: str, course: Course) -> None:
    """Where the release has none, or another one than is made of these checks, it is made anew.

    Processors differ in the last figures, so the hash of them, at the head of a table, is not compared.
    """
    here = course.root / "release" / assignment / known_mistakes.FILE
    text = (ROOT / "release" / assignment / known_mistakes.FILE).read_text()
    here.write_text(text.replace("(", "( ", 1))
    text_made = (known_mistakes.table_for(Course(course.root), assignment) or b"").decode()
    _, _, committed = text.partition("\n\n")
    _, _, made = text_made.partition("\n\n")
    assert made
    assert FIGURE.sub("#", made) == FIGURE.sub("#", committed)
    assert [*map(float, FIGURE.findall(made))] == pytest.approx(
        [*map(float, FIGURE.findall(committed))], rel=1e-3, abs=1e-5
    )


def test_hints_in_gives_hints_to_the_exercise_that_follows(tmp_path: Path) -> None:
    def solution(name: str) -> NotebookNode:
        return new_code_cell("def f(): ...", metadata={"nbgrader": {"grade_id": name, "solution": True}})

    fold = "<details><summary>{}</summary>\n\n{}\n\n</details>"
    cells = [
        new_markdown_cell('<a id="top"></a>\n# Title\n' + fold.format("What the plots show", "Much.")),
        new_markdown_cell('<a id="first"></a>\n## One'),
        new_markdown_cell(
            "\n\n".join([fold.format("Hint 1 of 2", "One,\n\ntwo."), fold.format("Hint 2 of 2", "Three.")])
        ),
        solution("exercise-1"),
        new_markdown_cell(fold.format("Hint", "Four.")),
        solution("exercise-1"),
        solution("exercise-entropy"),
    ]
    nbformat.write(new_notebook(cells=cells), tmp_path / "notebook.ipynb")
    hints = ["One,\n\ntwo.", "Three.", "Four."]
    assert hints_in(tmp_path) == {1: ("first", hints), "entropy": ("first", [])}


@every_assignment
def test_hints_file_has_hints_for_every_exercise(assignment: str) -> None:
    hints = runpy.run_path(str(ROOT / "release" / assignment / HINTS))["HINTS"]
    assert [*hints] == [*Course(ROOT).exercises(assignment)]
    for number, (anchor, texts) in hints.items():
        assert anchor == f"exercise-{number}"
        assert len(texts) >= 2
        assert not any("<details>" in text for text in texts)


@pytest.mark.slow
@pytest.mark.parametrize("name", [known_mistakes.FILE, own_code.FILE])
def test_release_when_source_has_a_file_of_that_name_raises(course: Course, name: str) -> None:
    (course.root / "source/self_attention" / name).write_text("KNOWN = 'mine'")
    with pytest.raises(CourseError, match=rf"has a file {re.escape(name)}, but the release needs that name"):
        compile_release(course, "self_attention")


@pytest.mark.slow
def test_release_when_a_file_holds_a_solution_raises(course: Course) -> None:
    beside = course.root / "source/self_attention/solutions.py"
    beside.write_text(solutions(course.read("source", "self_attention"))[3])
    with pytest.raises(LeakError, match=r"solutions\.py"):
        compile_release(course, "self_attention")


@pytest.mark.slow
def test_release_does_not_depend_on_cases_and_misconceptions(course: Course, monkeypatch: pytest.MonkeyPatch) -> None:
    """Other cases and misconceptions leave what students get as it is, to the last byte, but for sizes in `explain`."""
    before = contents(course.root / "release")
    before.pop(f"self_attention/{own_code.FILE}")
    monkeypatch.setattr("grader.model.exercise.SAMPLES_PER_CASE", 5)
    for exercise in EXERCISES.values():
        monkeypatch.setitem(exercise.__dict__, "cases", exercise.cases[:1])
        monkeypatch.setitem(exercise.__dict__, "mistakes", ())
        monkeypatch.setitem(exercise.__dict__, "explained_in", {})  # by their names
    compile_release(course, "self_attention")
    after = contents(course.root / "release")
    after.pop(f"self_attention/{own_code.FILE}")
    assert after == before


# --- what fails changes nothing --------------------------------------------------------------------------------------


HOOK = """
def stop(**_):
    import os, pathlib, signal
    times = pathlib.Path({file!r})
    times.write_text(times.read_text() + "." if times.exists() else ".")
    if len(times.read_text()) == {when}:
        os.kill(os.getpid(), signal.SIGINT)

c.GenerateAssignment.pre_convert_hook = stop
"""


def release_state(course: Course) -> tuple[dict[str, bytes], list[str]]:
    """All of release/, and all rows of the gradebook."""
    with contextlib.closing(sqlite3.connect(course.root / "gradebook.db")) as gradebook:
        return contents(course.root / "release"), list(gradebook.iterdump())


def change_source(course: Course, change: Callable[[dict[str, Any]], None]) -> None:
    """Something new that would be seen in release and gradebook, and this change beside."""
    path = course.notebook("source", "self_attention")
    changed = nbformat.read(path, 4)
    cells = {cell.id: cell for cell in changed.cells}
    cells["exercise-1"].source = "# a new comment\n" + cells["exercise-1"].source
    change(cells)
    nbformat.write(changed, path)


def same_grade_id(cells: dict[str, Any]) -> None:
    cells["exercise-2"].metadata.nbgrader.grade_id = "exercise-1"


def unclosed(cells: dict[str, Any]) -> None:
    cells["exercise-2"].source = cells["exercise-2"].source.replace("### END SOLUTION", "")


def leaking(cells: dict[str, Any]) -> None:
    cells["given-data"].source += "\n\n" + cells["exercise-2"].source.replace("### ", "# ").replace("SOLUTION", "")


def nothing(_: dict[str, Any]) -> None:
    """A good change."""


@pytest.mark.slow
@pytest.mark.parametrize("change", [same_grade_id, unclosed, leaking])
def test_release_when_it_fails_leaves_the_former_one(change: Callable[[dict[str, Any]], None], course: Course) -> None:
    before = release_state(course)
    change_source(course, change)
    with pytest.raises(CourseError, match="self_attention"):
        compile_release(course, "self_attention")
    assert release_state(course) == before


@pytest.mark.slow
@pytest.mark.usefixtures("hears_ctrl_c")
@pytest.mark.parametrize(("when", "is_new"), [(1, False), (2, True)])
def test_release_when_interrupted_is_the_former_or_the_new_one(
    when: int, is_new: bool, course: Course, tmp_path: Path
) -> None:
    before = release_state(course)
    change_source(course, nothing)
    with (course.root / "nbgrader_config.py").open("a") as config:
        config.write(HOOK.format(file=str(tmp_path / "times"), when=when))
    course = Course(course.root)
    with pytest.raises(KeyboardInterrupt):
        compile_release(course, "self_attention")
    changed = [one != other for one, other in zip(before, release_state(course), strict=True)]
    assert changed == [is_new, is_new]
    compile_release(course, "self_attention")
    assert "# a new comment" in course.notebook("release", "self_attention").read_text()


@pytest.mark.slow
def test_release_when_folder_cannot_be_renamed_restores_the_former(
    course: Course, monkeypatch: pytest.MonkeyPatch
) -> None:
    before, rename, times = contents(course.root / "release"), Path.rename, []

    def fails_once(path: Path, target: Path) -> Path:
        times.append(path)
        if len(times) == 2:
            raise OSError(5, "a disk that fails", str(path))
        return rename(path, target)

    monkeypatch.setattr(scratch, "exchange", lambda *_: False)
    monkeypatch.setattr(Path, "rename", fails_once)
    with pytest.raises(OSError, match="a disk that fails"):
        compile_release(course, "self_attention")
    assert len(times) == 3
    assert contents(course.root / "release") == before


def test_chosen_when_assignment_is_unknown_raises() -> None:
    with pytest.raises(CourseError, match="self_attention"):
        Course(ROOT).chosen(["selfattention"])


@every_assignment
def test_hidden_tests_have_the_points_of_their_cells(assignment: str) -> None:
    cells = [cell for cell in notebook("source", assignment).cells if is_test_cell(cell)]
    calls = [re.search(r"hidden_tests\((\d+), points=([\d.]+)\)", cell.source) for cell in cells]
    assert [(f"test-exercise-{call[1]}", float(call[2])) for call in calls if call] == [
        (cell.metadata.nbgrader.grade_id, cell.metadata.nbgrader.points) for cell in cells
    ]
