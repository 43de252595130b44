"""A release tells nothing of a solution, in whatever form; and what says nothing is no leak."""

from __future__ import annotations

import base64
import html
import json
import re
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output
from our_course import EXERCISES

from grader.course import Course
from grader.release.compiling import compile_release
from grader.release.leaks import LeakError, find_leaks
from grader.release.token_lines import lines_of

ASSIGNMENT = "self_attention"
# As in the notebook, but for its layout.
SOLUTION = """\
    items = torch.as_tensor( items_in )   # another comment

    exp=torch.exp(
        items-items.max(),
    )
    return exp/exp.sum()
"""
LINES = SOLUTION.splitlines()
COMMENTED_OUT = "".join(f"# {line}\n" for line in LINES)
CODED = base64.b64encode(SOLUTION.encode()).decode()
CELL = {"nbgrader": {"schema_version": 3, "grade": False, "solution": False, "locked": True, "task": False}}


def with_cell(cell: Any) -> Callable[[Path], None]:
    def write(folder: Path) -> None:
        path = folder / f"{ASSIGNMENT}.ipynb"
        notebook = nbformat.read(path, 4)
        cell.id = "added"
        notebook.cells.append(cell)
        path.write_text(nbformat.writes(notebook))

    return write


def with_file(name: str, text: str) -> Callable[[Path], None]:
    def write(folder: Path) -> None:
        (folder / name).write_text(text)

    return write


def with_archive(folder: Path) -> None:
    with zipfile.ZipFile(folder / "data.zip", "w") as archive:
        archive.writestr("deep/answers.py", SOLUTION)


def attached(name: str, content: str) -> Any:
    return new_markdown_cell(f"![a file](attachment:{name})", attachments={name: {"text/plain": content}})


def shows(**kinds: str) -> Any:
    return new_output("display_data", {f"text/{kind}": text for kind, text in kinds.items()})


PAGE = re.sub(r"\w+|[^\w\s]", lambda token: f'<span class="n">{html.escape(token[0])}</span>', SOLUTION)
LEAKS = {
    "a code cell": with_cell(new_code_cell(f"def softmax(items_in):\n{SOLUTION}")),
    "code that is no Python": with_cell(new_code_cell(f"%matplotlib inline\n!ls )\n{SOLUTION}) else (")),
    "commented out": with_cell(new_code_cell(COMMENTED_OUT)),
    "in a string": with_cell(new_code_cell(f"hint = {SOLUTION!r}")),
    "in a long string": with_cell(new_code_cell(f'hint = """\n{SOLUTION}"""')),
    "a text": with_cell(new_markdown_cell(f"Write this:\n\n```python\n{SOLUTION}```\n")),
    "a quotation": with_cell(new_markdown_cell("".join(f"> {line}\n" for line in LINES))),
    "a list": with_cell(new_markdown_cell("".join(f"1. `{line.strip()}`\n" for line in LINES))),
    "an attachment": with_cell(attached("a.txt", CODED)),
    "an attachment as it is": with_cell(attached("a.txt", SOLUTION)),
    "data in an address": with_cell(new_markdown_cell(f"[more](data:text/plain;base64,{CODED})")),
    "an output": with_cell(new_code_cell("", outputs=[shows(plain=SOLUTION)])),
    "a page as output": with_cell(new_code_cell("", outputs=[shows(html=PAGE)])),
    "a session": with_cell(new_markdown_cell("".join(f">>> {line.strip()}\n" for line in LINES[:1]) + SOLUTION[40:])),
    "metadata": with_cell(new_markdown_cell("", metadata={"notes": {"answer": SOLUTION}})),
    "metadata by lines": with_cell(new_markdown_cell("", metadata={"notes": LINES})),
    "a module": with_file("given.py", f"def softmax(items_in):\n{SOLUTION}"),
    "a page": with_file("more.html", f"<html>{PAGE}</html>"),
    "a drawing": with_file("a.svg", "<svg>" + "".join(f"<text>{line}</text>" for line in LINES) + "</svg>"),
    "Markdown": with_file("README.md", SOLUTION),
    "plain text": with_file("notes.txt", f"{SOLUTION}\nand more"),
    "JSON": with_file("data.json", json.dumps({"softmax": [{"code": SOLUTION}]})),
    "another notebook": with_file("more.ipynb", nbformat.writes(new_notebook(cells=[new_code_cell(SOLUTION)]))),
    "an archive": with_archive,
}  # fmt: skip


@pytest.fixture
def release(course: Course) -> Path:
    return course.root / "release" / ASSIGNMENT


def source_with(course: Course, cell: Any) -> None:
    """The cell at the end of the source."""
    path = course.notebook("source", ASSIGNMENT)
    notebook = nbformat.read(path, 4)
    notebook.cells.append(cell)
    nbformat.write(notebook, path)


def test_a_release_holds_no_leak(course: Course) -> None:
    assert find_leaks(course, ASSIGNMENT) == []


@pytest.mark.parametrize("where", LEAKS)
def test_a_solution_is_found_wherever_it_stands(where: str, course: Course, release: Path) -> None:
    LEAKS[where](release)
    leaks = find_leaks(course, ASSIGNMENT)
    assert any("the solution in cell exercise-3, `items = torch.as_tensor(items_in)" in leak for leak in leaks), leaks


@pytest.mark.parametrize(
    ("secret", "of"),
    [
        ("hidden_tests( 3, points = 2 )", "the hidden test in cell test-exercise-3"),
        (EXERCISES[3].misconceptions[0].says.replace(" ", "\n").upper(), "the misconception"),
        (next(case.catches for case in EXERCISES[3].cases if case.catches.count(" ") > 2), "what a case of exercise"),
        ("return [softmax(torch.stack(scores)) for scores in all_attention_scores]", "the solution in cell exercise-4"),
    ],
)
def test_other_secrets_are_found_by_what_they_say(secret: str, of: str, course: Course, release: Path) -> None:
    with_cell(new_markdown_cell(f"Well: {secret} (so it is)."))(release)
    leaks = find_leaks(course, ASSIGNMENT)
    assert any(of in leak for leak in leaks), leaks
    assert {leak.split(": ")[0] for leak in leaks} == {f"{ASSIGNMENT}.ipynb, cell added"}, leaks


def test_the_code_of_a_reference_is_found(course: Course, release: Path) -> None:
    with_file("more.py", Path(EXERCISES[7].reference.__code__.co_filename).read_text())(release)
    assert any("the reference of exercise 7" in leak for leak in find_leaks(course, ASSIGNMENT))


OF_ANOTHER = [  # exercise 16, of causal_attention: as in its notebook, but for a name or two
    "attn_scores = attn_scores.masked_fill(self.mask[:T, :T], -torch.inf)",
    "attn_weights = torch.softmax(attn_scores / keys.shape[-1] ** 0.5, dim=-1)",
    "return self.dropout(attn_weights) @ values",
]


def test_no_release_holds_the_solution_of_another_assignment(course: Course, release: Path) -> None:
    with_cell(new_code_cell("\n".join(OF_ANOTHER)))(release)
    (leak,) = find_leaks(course, ASSIGNMENT)
    whose = "the solution in cell exercise-16 of causal_attention"
    assert leak == f"{ASSIGNMENT}.ipynb, cell added, line 1: {whose}, `{OF_ANOTHER[0]}`"


def test_an_author_may_show_the_solution_of_another_assignment(course: Course, release: Path) -> None:
    cell = new_code_cell("\n".join(OF_ANOTHER), metadata={"tags": ["shown"]})
    source_with(course, cell)
    with_cell(cell)(release)
    assert find_leaks(course, ASSIGNMENT) == []


def test_what_one_assignment_shows_is_no_excuse_for_another(course: Course, release: Path) -> None:
    source_with(course, new_code_cell("\n".join(OF_ANOTHER), metadata={"tags": ["shown"]}))
    with_file("more.py", "\n".join(OF_ANOTHER))(release.parent / "multi_head_attention")
    (leak,) = find_leaks(course, "multi_head_attention")
    assert "exercise-16 of causal_attention" in leak


def test_an_assignment_that_cannot_be_read_stops_no_other(course: Course, release: Path) -> None:
    course.notebook("source", "causal_attention").write_text("no notebook")
    assert find_leaks(course, ASSIGNMENT) == []
    LEAKS["a code cell"](release)
    assert find_leaks(course, ASSIGNMENT) != []


def test_an_error_says_where_whose_and_what_to_do(course: Course) -> None:
    source_with(course, new_code_cell(f"# A way to write it.\n\n{SOLUTION}", metadata=CELL | {"name": "unmarked"}))
    path = course.notebook("source", ASSIGNMENT)
    notebook = nbformat.read(path, 4)
    notebook.cells[-1].metadata.nbgrader.grade_id = "given-way"
    nbformat.write(notebook, path)
    with pytest.raises(LeakError) as caught:
        compile_release(course, ASSIGNMENT)
    said = str(caught.value)
    assert f"{ASSIGNMENT}.ipynb, cell given-way, line 3: the solution in cell exercise-3, `items = " in said
    assert "give the cell that shows it the tag `shown`" in said


def test_what_an_author_marks_is_shown_and_may_stand_elsewhere(course: Course) -> None:
    source_with(course, new_code_cell(SOLUTION, metadata={"tags": ["shown"]}))
    (course.root / "source" / ASSIGNMENT / "more.py").write_text(f"def f(items_in):\n{SOLUTION}")
    compile_release(course, ASSIGNMENT)
    assert find_leaks(course, ASSIGNMENT) == []
    assert course.read("release", ASSIGNMENT).cells[-1].source == SOLUTION


@pytest.mark.parametrize("inside", [True, False])
def test_a_solution_cannot_be_marked_as_shown(inside: bool, course: Course, release: Path) -> None:
    """Or a region whose marker is misspelt were let through."""
    path = course.notebook("source", ASSIGNMENT)
    notebook = nbformat.read(path, 4)
    cell = next(cell for cell in notebook.cells if cell.id == "exercise-3")
    cell.metadata["tags"] = ["shown"]
    if not inside:
        cell.source = cell.source.replace("### BEGIN SOLUTION", "").replace("### END SOLUTION", "")
    nbformat.write(notebook, path)
    with_file("more.py", cell.source)(release)
    assert find_leaks(course, ASSIGNMENT)


def test_a_cell_without_regions_is_a_solution_as_a_whole(course: Course, release: Path) -> None:
    mine = "def double(x):\n    twice = [item + item for item in x]\n    print(len(twice))\n    return tuple(twice)\n"
    answer = "Because every word then looks at every other word, whatever the two are."
    for kind, text in ((new_code_cell, mine), (new_markdown_cell, answer)):
        cell = kind(text, metadata={"nbgrader": CELL["nbgrader"] | {"solution": True, "grade_id": f"by-{kind}"}})
        source_with(course, cell)
    assert find_leaks(course, ASSIGNMENT) == []
    with_file("a.txt", mine)(release)
    with_file("b.txt", f"So, {answer.lower()}")(release)
    assert [leak.split(",")[0].split(":")[0] for leak in find_leaks(course, ASSIGNMENT)] == ["a.txt", "b.txt"]


def test_other_markers_of_a_course_are_known(course: Course, release: Path) -> None:
    with (course.root / "nbgrader_config.py").open("a") as config:
        config.write('\nc.ClearSolutions.begin_solution_delimeter = "ANSWER"\n')
        config.write('c.ClearSolutions.end_solution_delimeter = "REWSNA"\n')
    source_with(course, new_code_cell("# ANSWER\nprint(max(map(abs, [3, 4, -5])))\n# REWSNA"))
    with_file("a.txt", "print( max( map(abs, [3, 4, -5]) ) )")(release)
    assert len(find_leaks(course, ASSIGNMENT)) == 1


def test_a_solution_that_says_little_is_no_secret(course: Course, release: Path) -> None:
    source_with(course, new_code_cell("### BEGIN SOLUTION\n    return softmax(scores)\n### END SOLUTION"))
    with_file("more.py", "return softmax(scores)")(release)
    assert find_leaks(course, ASSIGNMENT) == []


NO_LEAKS = {
    "a word": "softmax", "another": "scores", "a name": "all_scores", "a short line": "    return all_scores",
    "a line of three": LINES[0], "two lines of three": "\n".join(LINES[:-1]), "others in between": "\n".join(
        [LINES[0], "print(items.shape, items.dtype)", *LINES[1:]]
    ), "in another order": "\n".join([LINES[-1], *LINES[:-1]]), "other names": SOLUTION.replace("items", "numbers"),
    "imports": "import math\nimport time\nimport torch\nfrom checks import check, solved",
    "a signature": "def softmax(items_in):\n    raise NotImplementedError", "a test": "check(3)",
    "words of what is caught": " ".join(word for case in EXERCISES[3].cases for word in case.catches.split()[:2]),
    "a sentence of advice": EXERCISES[2].misconceptions[0].says.split(".")[0],
}  # fmt: skip


@pytest.mark.parametrize("what", NO_LEAKS)
def test_what_says_nothing_is_no_leak(what: str, course: Course, release: Path) -> None:
    with_cell(new_code_cell(NO_LEAKS[what]))(release)
    with_file("more.md", NO_LEAKS[what])(release)
    assert find_leaks(course, ASSIGNMENT) == []


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("f( a,b )  # c", "f(a, b)"), ("f(\n  a,\n  b,\n)", "f(a, b)"), ("x['a']", 'x["a"]'),
        ("a = 1; b = 2", "a=1\nb=2"),
        ('def f():\n    """Does it."""\n    g()', "def f():\n  g()"),
        ("x = '#'  # y", 'x = "#"'), ("f(a,\n g", "f(a,\ng"),
    ],
)  # fmt: skip
def test_layout_quotes_and_comments_do_not_matter(one: str, other: str) -> None:
    assert [line.tokens for line in lines_of(one)] == [line.tokens for line in lines_of(other)] != []
