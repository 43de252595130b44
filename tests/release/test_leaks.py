"""No file of a release repeats 20 tokens in a row of what students must not see; what says less is no leak."""

from __future__ import annotations

import html
import io
import json
import os
import re
import shutil
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output

from grader.course.folder import Course
from grader.release.compiling import compile_release
from grader.release.leaks import LeakError, Searched, search
from support.command_line import grader
from support.our_course import EXERCISES
from support.places import ROOT
from support.second_course import copy_of_second_course

pytestmark = pytest.mark.slow

ASSIGNMENT = "self_attention"
# As in the notebook, but for its layout.
SOLUTION = """\
    items = torch.as_tensor( items_in )   # another comment

    exp=torch.exp(
        items,
    )
    return exp/exp.sum()
"""
LINES = SOLUTION.splitlines()
COMMENTED_OUT = "".join(f"# {line}\n" for line in LINES)
PAGE = re.sub(r"\w+|[^\w\s]", lambda token: f'<span class="n">{html.escape(token[0])}</span>', SOLUTION)
NOTEBOOK = nbformat.writes(new_notebook(cells=[new_code_cell(SOLUTION)]))
CELL = {"nbgrader": {"schema_version": 3, "grade": False, "solution": False, "locked": True, "task": False}}


def with_cell(*cells: Any) -> Callable[[Path], None]:
    def write(folder: Path) -> None:
        path = folder / f"{ASSIGNMENT}.ipynb"
        notebook = nbformat.read(path, 4)
        for number, cell in enumerate(cells):
            cell.id = f"added{number or ''}"
            notebook.cells.append(cell)
        path.write_text(nbformat.writes(notebook))

    return write


def with_file(name: str, content: str | bytes) -> Callable[[Path], None]:
    def write(folder: Path) -> None:
        (folder / name).write_bytes(content.encode() if isinstance(content, str) else content)

    return write


def zipped(name: str, content: str | bytes, encrypted: bool = False) -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr(name, content)
    return file.getvalue().replace(
        b"PK\x01\x02\x14\x03\x14\x00\x00", b"PK\x01\x02\x14\x03\x14\x00" + bytes([encrypted])
    )


def display_output(**kinds: str) -> Any:
    return new_output("display_data", {f"text/{kind}": text for kind, text in kinds.items()})


LEAKS = {
    "a code cell": with_cell(new_code_cell(f"def softmax(items_in):\n{SOLUTION}")),
    "code that is no Python": with_cell(new_code_cell(f"%matplotlib inline\n!ls )\n{SOLUTION}) else (")),
    "commented out": with_cell(new_code_cell(COMMENTED_OUT)),
    "in a string": with_cell(new_code_cell(f"hint = {SOLUTION!r}")),
    "in a long string": with_cell(new_code_cell(f'hint = """\n{SOLUTION}"""')),
    "a text": with_cell(new_markdown_cell(f"Write this:\n\n```python\n{SOLUTION}```\n")),
    "a quotation": with_cell(new_markdown_cell("".join(f"> {line}\n" for line in LINES))),
    "a list": with_cell(new_markdown_cell("".join(f"1. `{line.strip()}`\n" for line in LINES if line))),
    "a session": with_cell(new_markdown_cell("".join(f">>> {line.strip()}\n" for line in LINES[:1]) + SOLUTION[40:])),
    "Markdown escapes": with_cell(new_markdown_cell(SOLUTION.replace("_", r"\_"))),
    "an attachment": with_cell(new_markdown_cell("", attachments={"a.txt": {"text/plain": SOLUTION}})),
    "an output": with_cell(new_code_cell("", outputs=[display_output(plain=SOLUTION)])),
    "a page as output": with_cell(new_code_cell("", outputs=[display_output(html=PAGE)])),
    "metadata": with_cell(new_markdown_cell("", metadata={"notes": {"answer": SOLUTION}})),
    "metadata by lines": with_cell(new_markdown_cell("", metadata={"notes": LINES})),
    "a module": with_file("given.py", f"def softmax(items_in):\n{SOLUTION}"),
    "a page": with_file("more.html", f"<html>{PAGE}</html>"),
    "a drawing": with_file("a.svg", "<svg>" + "".join(f"<text>{line}</text>" for line in LINES) + "</svg>"),
    "Markdown": with_file("README.md", SOLUTION),
    "JSON": with_file("data.json", json.dumps({"softmax": [{"code": SOLUTION}]})),
    "another notebook": with_file("more.ipynb", NOTEBOOK),
    "an archive": with_file("data.zip", zipped("deep/answers.py", SOLUTION)),
    "a notebook in an archive": with_file("data.zip", zipped("deep/answers.ipynb", NOTEBOOK)),
}

# What cannot be searched is named.
UNREAD: dict[str, tuple[str, str | bytes, str]] = {
    "no text": ("figures.h5", b"\x89HDF\r\n\x1a\n" + bytes(range(256)), "figures.h5"),
    "no notebook": ("more.ipynb", "[]", "more.ipynb"),
    "a large text": ("data.csv", b"1,2\n" * 2**22, "data.csv"),
    "encrypted": ("answers.zip", zipped("a.py", SOLUTION, encrypted=True), "answers.zip"),
    "broken": ("answers.zip", zipped("a.py", SOLUTION)[:-9], "answers.zip"),
    "no text in an archive": ("a.zip", zipped("model.bin", bytes(range(256))), "a.zip, model.bin"),
}  # fmt: skip


def leaks_of(course: Course, assignment: str = ASSIGNMENT) -> list[str]:
    return search(course, assignment).leaks


@pytest.fixture
def release(course: Course) -> Path:
    return course.root / "release" / ASSIGNMENT


def source_with(course: Course, cell: Any) -> None:
    """The cell at the end of the source."""
    path = course.notebook("source", ASSIGNMENT)
    notebook = nbformat.read(path, 4)
    notebook.cells.append(cell)
    nbformat.write(notebook, path)


def test_search_of_a_release_finds_no_leak(course: Course) -> None:
    assert leaks_of(course) == []


@pytest.fixture
def handed_out(tmp_path: Path) -> Path:
    return shutil.copytree(ROOT / "release" / ASSIGNMENT, tmp_path / ASSIGNMENT)


@pytest.mark.parametrize("where", LEAKS)
def test_search_finds_a_solution_wherever_it_stands(where: str, handed_out: Path) -> None:
    LEAKS[where](handed_out)
    leaks = search(Course(ROOT), ASSIGNMENT, handed_out.parent).leaks
    assert any("what nbgrader removes from cell exercise-3, `items = torch.as_te" in leak for leak in leaks), leaks


OTHER_SECRETS = {
    "what nbgrader removes from cell exercise-7, `scores = ": (
        "scores = K.mT @ Q scores = scores / math.sqrt(K.shape[0]) weights = softmax_cols(scores)"
    ),
    "the mistake “": max((mistake.says for mistake in EXERCISES[3].mistakes), key=len),
}


@pytest.mark.parametrize("origin", OTHER_SECRETS)
def test_search_finds_a_secret_in_prose(origin: str, course: Course, release: Path) -> None:
    for table in release.glob("known_mistakes.py"):  # without checks, students read sentences of mistakes too early
        table.unlink()
    with_cell(new_markdown_cell(f"Well: {OTHER_SECRETS[origin]} (so it is)."))(release)
    leaks = leaks_of(course)
    assert any(origin in leak for leak in leaks), leaks
    assert {leak.split(": ")[0] for leak in leaks} == {f"{ASSIGNMENT}.ipynb, cell added"}, leaks


def test_search_finds_hidden_tests_and_mark_schemes(course: Course, release: Path) -> None:
    test = "\n".join(f"assert softmax([{number}, 2.5]) is not None" for number in range(3))
    scheme = (
        "A point for each of these: the scores are scaled, the weights sum to one, and the values are mixed by weights."
    )
    marked = {"HIDDEN TESTS": (new_code_cell, test), "MARK SCHEME": (new_markdown_cell, scheme)}
    for number, (mark, (new_cell, text)) in enumerate(marked.items()):
        source_with(course, new_cell(f"x = 1\n### BEGIN {mark}\n{text}\n### END {mark}"))
        with_file(f"{number}.txt", text)(release)
    assert [leak.partition(":")[0] for leak in leaks_of(course)] == ["0.txt, line 1", "1.txt"]


@pytest.mark.parametrize("content", UNREAD)
def test_search_names_what_it_cannot_search(content: str, tmp_path: Path) -> None:
    name, written, place = UNREAD[content]
    (tmp_path / ASSIGNMENT).mkdir()
    with_file(name, written)(tmp_path / ASSIGNMENT)
    searched = search(Course(ROOT), ASSIGNMENT, tmp_path)
    assert searched.unread == [place]
    assert str(searched) == (
        f"No solution, hidden test or mistake was found in it.\n  Please look at these files yourself: {place}."
    )


def test_search_names_what_is_no_file(tmp_path: Path) -> None:
    (tmp_path / ASSIGNMENT).mkdir()
    (tmp_path / ASSIGNMENT / "gone").symlink_to("nowhere")
    os.mkfifo(tmp_path / ASSIGNMENT / "pipe")
    assert search(Course(ROOT), ASSIGNMENT, tmp_path).unread == ["gone", "pipe"]


def test_search_of_the_second_course_finds_no_leak(tmp_path: Path) -> None:
    course = copy_of_second_course(tmp_path / "second")
    for assignment in course.assignments():
        assert compile_release(course, assignment) == Searched([], [])


def test_release_names_files_that_it_cannot_search(tmp_path: Path) -> None:
    root = copy_of_second_course(tmp_path / "second").root
    with_file("[b]model.h5", UNREAD["no text"][1])(root / "source/words")
    ended = grader("release", "words", folder=root)
    assert (ended.returncode, ended.stdout.splitlines()) == (0, [
        "release/words is ready. No solution, hidden test or mistake was found in it.",
        "  Please look at these files yourself: [b]model.h5.",
    ]), ended.stderr  # fmt: skip


OF_ANOTHER = [  # exercise 16, of causal_attention: as in its notebook
    "scores = q @ k.transpose(1, 2)  # (B, T, T): row = query, column = key",
    "scores = scores / math.sqrt(k.shape[-1])",
    "mask = self.mask[:T, :T] == 1",
]


def test_search_finds_the_solution_of_another_assignment(course: Course, release: Path) -> None:
    with_cell(new_code_cell("\n".join(OF_ANOTHER)))(release)
    (leak,) = leaks_of(course)
    origin = "what nbgrader removes from cell exercise-16 of causal_attention"
    assert leak == f"{ASSIGNMENT}.ipynb, cell added, line 1: {origin}, `{OF_ANOTHER[0]}`"


def test_search_allows_a_shown_solution_of_another_assignment(course: Course, release: Path) -> None:
    cell = new_code_cell("\n".join(OF_ANOTHER), metadata={"tags": ["shown"]})
    source_with(course, cell)
    with_cell(cell)(release)
    assert leaks_of(course) == []


def test_search_allows_a_shown_solution_in_its_assignment_only(course: Course, release: Path) -> None:
    source_with(course, new_code_cell("\n".join(OF_ANOTHER), metadata={"tags": ["shown"]}))
    with_file("more.py", "\n".join(OF_ANOTHER))(release.parent / "multi_head_attention")
    (leak,) = leaks_of(course, "multi_head_attention")
    assert "exercise-16 of causal_attention" in leak


def test_search_when_another_assignment_is_unreadable_goes_on(course: Course, release: Path) -> None:
    course.notebook("source", "causal_attention").write_text("no notebook")
    assert leaks_of(course) == []
    LEAKS["a code cell"](release)
    assert leaks_of(course) != []


def test_leak_error_says_where_whose_and_what_to_do(course: Course) -> None:
    source_with(course, new_code_cell(f"# A way to write it.\n\n{SOLUTION}", metadata=CELL | {"name": "unmarked"}))
    path = course.notebook("source", ASSIGNMENT)
    notebook = nbformat.read(path, 4)
    notebook.cells[-1].metadata.nbgrader.grade_id = "given-way"
    nbformat.write(notebook, path)
    with pytest.raises(LeakError) as caught:
        compile_release(course, ASSIGNMENT)
    said = str(caught.value)
    assert f"{ASSIGNMENT}.ipynb, cell given-way, line 3: what nbgrader removes from cell exercise-3, `items = " in said
    assert "give the cell that shows it the tag `shown`" in said


def test_release_keeps_code_of_cells_tagged_shown(course: Course) -> None:
    source_with(course, new_code_cell(SOLUTION, metadata={"tags": ["shown"]}))
    (course.root / "source" / ASSIGNMENT / "more.py").write_text(f"def f(items_in):\n{SOLUTION}")
    compile_release(course, ASSIGNMENT)
    assert leaks_of(course) == []
    assert course.read("release", ASSIGNMENT).cells[-1].source == SOLUTION


@pytest.mark.parametrize("inside", [True, False])
def test_search_ignores_the_tag_shown_on_a_solution(inside: bool, course: Course, release: Path) -> None:
    """Or a region whose marker is misspelled were let through."""
    path = course.notebook("source", ASSIGNMENT)
    notebook = nbformat.read(path, 4)
    cell = next(cell for cell in notebook.cells if cell.id == "exercise-3")
    cell.metadata["tags"] = ["shown"]
    if not inside:
        cell.source = cell.source.replace("### BEGIN SOLUTION", "").replace("### END SOLUTION", "")
    nbformat.write(notebook, path)
    with_file("more.py", cell.source)(release)
    assert leaks_of(course)


def test_search_takes_a_cell_without_regions_as_a_solution(course: Course, release: Path) -> None:
    mine = "def double(x):\n    twice = [item + item for item in x]\n    print(len(twice))\n    return tuple(twice)\n"
    answer = (
        "Because every word then looks at every other word, whatever the two are, and the weights sum to one, "
        "so that the result is a mean of all values."
    )
    for kind, text in ((new_code_cell, mine), (new_markdown_cell, answer)):
        cell = kind(text, metadata={"nbgrader": CELL["nbgrader"] | {"solution": True, "grade_id": f"by-{kind}"}})
        source_with(course, cell)
    assert leaks_of(course) == []
    with_file("a.txt", mine)(release)
    with_file("b.txt", f"So, {answer}")(release)
    assert [leak.split(",")[0].split(":")[0] for leak in leaks_of(course)] == ["a.txt", "b.txt"]


def test_search_knows_other_solution_markers(course: Course, release: Path) -> None:
    with (course.root / "nbgrader_config.py").open("a") as config:
        config.write('\nc.ClearSolutions.begin_solution_delimeter = "ANSWER"\n')
        config.write('c.ClearSolutions.end_solution_delimeter = "REWSNA"\n')
    source_with(course, new_code_cell("# ANSWER\nprint(max(map(abs, [3, 4, -5])) + min([1, 2, 3]))\n# REWSNA"))
    with_file("a.txt", "print( max( map(abs, [3, 4, -5]) ) + min([1, 2, 3]) )")(release)
    assert len(leaks_of(course)) == 1


def test_search_ignores_a_solution_that_says_little(course: Course, release: Path) -> None:
    source_with(course, new_code_cell("### BEGIN SOLUTION\n    return softmax(scores)\n### END SOLUTION"))
    with_file("more.py", "return softmax(scores)")(release)
    assert leaks_of(course) == []


NO_LEAKS = {
    "a word": "softmax", "another": "scores", "a name": "all_scores", "a short line": "    return all_scores",
    "a line of three": LINES[0], "two lines of three": "\n".join(LINES[:-1]),
    "another operator": SOLUTION.replace("/", "*"),
    "other names": re.sub(r"\b(items|exp)\b(?!\()", "x", SOLUTION),
    "imports": "import math\nimport time\nimport torch\nfrom checks import check, solved",
    "a signature": "def softmax(items_in):\n    raise NotImplementedError", "a test": "check(3)",
    "what checks say about a mistake": EXERCISES[2].mistakes[0].says,
}  # fmt: skip


@pytest.mark.parametrize("what", NO_LEAKS)
def test_search_ignores_text_that_says_nothing(what: str, course: Course, release: Path) -> None:
    with_cell(new_code_cell(NO_LEAKS[what]))(release)
    with_file("more.md", NO_LEAKS[what])(release)
    assert leaks_of(course) == []
