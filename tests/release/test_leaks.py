"""A release tells nothing of a solution, in whatever form; and what says nothing is no leak."""

from __future__ import annotations

import base64
import bz2
import contextlib
import functools
import gzip
import html
import inspect
import io
import json
import lzma
import marshal
import os
import pickle
import quopri
import re
import shutil
import sqlite3
import struct
import tarfile
import urllib.parse
import zipfile
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import nbformat
import numpy as np
import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output

from grader.course.folder import Course
from grader.release.compiling import compile_release
from grader.release.leaks import LeakError, Searched, find_leaks, search
from grader.release.token_lines import lines_of
from support.command_line import grader
from support.our_course import EXERCISES
from support.places import DATA, ROOT

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
CODED = base64.b64encode(SOLUTION.encode()).decode()
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


def tarred(name: str, content: bytes) -> bytes:
    file = io.BytesIO()
    with tarfile.open(fileobj=file, mode="w") as archive:
        entry = tarfile.TarInfo(name)
        entry.size = len(content)
        archive.addfile(entry, io.BytesIO(content))
    return file.getvalue()


def arrays(*lines: str | int, kind: Any = None) -> bytes:
    file = io.BytesIO()
    np.savez_compressed(file, hint=np.array(lines, dtype=kind))
    return file.getvalue()


def database(lines: list[str]) -> bytes:
    with contextlib.closing(sqlite3.connect(":memory:")) as connection:
        connection.execute("CREATE TABLE lines (number INTEGER, line TEXT)")
        connection.executemany("INSERT INTO lines VALUES (?, ?)", enumerate(lines))
        connection.commit()
        return connection.serialize()


def picture(kind: bytes, content: bytes) -> bytes:
    """A PNG with a text."""
    chunks = (b"IHDR", bytes(13)), (kind, content), (b"IDAT", zlib.compress(bytes(99))), (b"IEND", b"")
    pieces = [struct.pack(">I", len(said)) + name + said + bytes(4) for name, said in chunks]
    return b"\x89PNG\r\n\x1a\n" + b"".join(pieces)


def document(stream: bytes) -> bytes:
    """A PDF with a page."""
    return b"%%PDF-1.4\n%%\xe2\xe3\n4 0 obj\n<< /Length %d /Filter /FlateDecode >>\nstream\n%s\nendstream\nendobj\n" % (
        len(stream), stream,
    )  # fmt: skip


def shown_on_page(line: str) -> bytes:
    """As LaTeX writes it: in pieces, with their distances."""
    escaped = re.sub(r"([()])", r"\\\1", line.strip())
    pieces = re.sub(r"(?<=\w) (?=\w)", ")-333(", re.sub(r"(?<=[a-z])(?=[a-z])", ")28(", escaped))
    return f"[({pieces})]TJ 0 -11.9 Td\n".encode()


def attached(name: str, content: str) -> Any:
    return new_markdown_cell(f"![a file](attachment:{name})", attachments={name: {"text/plain": content}})


def shows(**kinds: str) -> Any:
    return new_output("display_data", {f"text/{kind}": text for kind, text in kinds.items()})


RENAMED = re.sub(r"\bitems\b", "numbers", re.sub(r"\bexp\b(?=[=/ .]|$)(?<!torch.exp)", "powers", SOLUTION)).replace(
    "items_in", "given"
)
PERCENT = urllib.parse.quote(SOLUTION)
GOES = "".join(
    f"<w:p><w:r><w:t>{html.escape(line[:11])}</w:t></w:r><w:r><w:t>{html.escape(line[11:])}</w:t></w:r></w:p>"
    for line in LINES
)
STATEMENTS = [" ".join(line.tokens) for line in lines_of(SOLUTION)]
PROSE = "This is how we make sure that no number is too large for a float, as you may remember from the lecture. " * 9
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
    "an archive": with_file("data.zip", zipped("deep/answers.py", SOLUTION)),
    # Files in other forms.
    "UTF-16": with_file("notes.txt", SOLUTION.encode("utf-16")),
    "UTF-16 without its mark": with_file("notes.txt", SOLUTION.encode("utf-16-be")),
    "UTF-32": with_file("notes.txt", SOLUTION.encode("utf-32")),
    "Latin-1": with_file("notes.txt", f"# für alle\n{SOLUTION}".encode("latin-1")),
    "gzip": with_file("answers.py.gz", gzip.compress(SOLUTION.encode())),
    "bzip2": with_file("answers.bz2", bz2.compress(SOLUTION.encode())),
    "xz": with_file("answers.xz", lzma.compress(SOLUTION.encode())),
    "tar": with_file("answers.tar", tarred("a.py", SOLUTION.encode())),
    "tar.gz": with_file("answers.tar.gz", gzip.compress(tarred("a.py", SOLUTION.encode()))),
    "archives in archives": with_file("a.tgz", gzip.compress(tarred("b.zip", zipped("c.py", SOLUTION)))),
    "an archive behind a picture": with_file("a.png", picture(b"tEXt", b"") + zipped("c.py", SOLUTION)),
    "arrays": with_file("data.npz", arrays(SOLUTION)),
    "arrays of lines": with_file("data.npz", arrays(*STATEMENTS)),
    "arrays of bytes": with_file("data.npz", arrays(*STATEMENTS, kind="S")),
    "arrays of objects": with_file("data.npz", arrays(SOLUTION, kind=object)),
    "arrays of codes": with_file("data.npz", arrays(*list(SOLUTION.encode()), kind=np.uint8)),
    "a pickle": with_file("data.pkl", pickle.dumps({"answers": [1.5, SOLUTION]})),
    "a pickle of lines": with_file("data.pkl", pickle.dumps(dict(enumerate(STATEMENTS)))),
    "an old pickle": with_file("data.pkl", pickle.dumps([SOLUTION], protocol=0)),
    "a database": with_file("data.db", database(STATEMENTS)),
    "a PNG": with_file("a.png", picture(b"tEXt", b"Comment\0" + SOLUTION.encode())),
    "a PNG, compressed": with_file("a.png", picture(b"zTXt", b"Comment\0\0" + zlib.compress(SOLUTION.encode()))),
    "a PNG, in Unicode": with_file("a.png", picture(b"iTXt", b"C\0\1\0\0\0" + zlib.compress(SOLUTION.encode()))),
    "a PNG in a cell": with_cell(
        attached("a.png", base64.b64encode(picture(b"tEXt", b"C\0" + SOLUTION.encode())).decode())
    ),
    "a GIF": with_file(
        "a.gif",
        b"GIF89a\0\0\0\x21\xfe"
        + b"".join(bytes([len(part)]) + part for part in (SOLUTION[:50].encode(), SOLUTION[50:].encode()))
        + b"\0;",
    ),
    "a JPEG": with_file("a.jpg", b"\xff\xd8\xff\xfe\0\xc8" + SOLUTION.encode() + b"\xff\xd9"),
    "a compressed drawing": with_file("a.svgz", gzip.compress(f"<svg><text>{SOLUTION}</text></svg>".encode())),
    "a document": with_file("a.docx", zipped("word/document.xml", f"<w:document>{GOES}</w:document>")),
    "slides": with_file("a.pptx", zipped("ppt/slides/slide1.xml", GOES.replace("w:", "a:"))),
    "a sheet": with_file(
        "a.xlsx", zipped("xl/sharedStrings.xml", "".join(f"<si><t>{line}</t></si>" for line in LINES))
    ),
    "a PDF": with_file("a.pdf", document(zlib.compress(b"".join(map(shown_on_page, LINES))))),
    "CSV of lines": with_file("a.csv", "".join(f'{number},"{line}"\n' for number, line in enumerate(STATEMENTS))),
    "CSV of lines alone": with_file("a.csv", "".join(f'"{line}"\n' for line in STATEMENTS)),
    "JSON by lines": with_file("a.json", json.dumps(dict(enumerate(STATEMENTS)))),
    "JSON, hidden by a second name": with_file("a.json", json.dumps({"a": SOLUTION})[:-1] + ', "a": ""}'),
    # Texts in other forms.
    "data in an address, as it is": with_cell(new_markdown_cell(f"[more](data:text/plain,{PERCENT})")),
    "an address": with_cell(new_markdown_cell(f"[run](https://example.org/console?kernel=python&code={PERCENT})")),
    "an address with plus": with_cell(
        new_markdown_cell(f"<https://example.org/#code={urllib.parse.quote_plus(SOLUTION)}>")
    ),
    "base64 in an address": with_cell(new_markdown_cell(f"[run](https://nbviewer.org/urls/code/{CODED})")),
    "base64 for addresses": with_cell(
        new_markdown_cell(
            f"[run](https://example.org/?c={base64.urlsafe_b64encode(b'??>>~~' + SOLUTION.encode()).decode()}&run=1)"
        )
    ),
    "compressed in an address": with_cell(
        new_markdown_cell(
            f"[run](https://example.org/edit#pako:{base64.urlsafe_b64encode(zlib.compress(SOLUTION.encode())).decode()})"
        )
    ),
    "base64 in code": with_cell(new_code_cell(f"import base64\nhint = base64.b64decode('{CODED}')")),
    "base64 twice": with_cell(new_code_cell(f"hint = '{base64.b64encode(CODED.encode()).decode()}'")),
    "base64 in lines": with_file("mail.txt", f"Hello\n\n{base64.encodebytes(SOLUTION.encode()).decode()}"),
    "hex": with_cell(new_code_cell(f"hint = bytes.fromhex('{SOLUTION.encode().hex()}')")),
    "escapes": with_cell(new_code_cell("hint = '" + "".join(f"\\x{ord(each):02x}" for each in SOLUTION) + "'")),
    "codes": with_cell(new_code_cell(f"hint = bytes({list(SOLUTION.encode())})")),
    "a mail": with_file("mail.eml", quopri.encodestring(SOLUTION.encode(), quotetabs=True)),
    "strings that are joined": with_cell(
        new_code_cell(f"hint = ({SOLUTION[:25]!r} + {SOLUTION[25:70]!r} + {SOLUTION[70:]!r})")
    ),
    "invisible characters": with_cell(new_markdown_cell(SOLUTION.replace("s", "s\u200b").replace("-", "−"))),
    "Markdown escapes": with_cell(new_markdown_cell(SOLUTION.replace("_", r"\_"))),
    # Not in a row, or not in the same words.
    "a numbered table": with_cell(
        new_markdown_cell(
            "|  | line |\n|--|--|\n" + "".join(f"| {number} | `{line}` |\n" for number, line in enumerate(STATEMENTS))
        )
    ),
    "prose in between": with_cell(new_markdown_cell("".join(f"{PROSE}\n\n    {line}\n\n" for line in STATEMENTS))),
    "prints in between": with_cell(new_code_cell("".join(f"{line}\nprint(items.shape)\n" for line in STATEMENTS))),
    "in several cells": with_cell(*map(new_code_cell, STATEMENTS)),
    "at the ends of lines": with_cell(new_code_cell("".join(f"x = 1  # {line}\n" for line in STATEMENTS))),
    "in another order": with_cell(new_code_cell("\n".join(STATEMENTS[::-1]))),
    "other names": with_cell(new_code_cell(RENAMED)),
    "other names, prints in between": with_cell(new_code_cell(RENAMED.replace("\n\n", "\nprint(numbers)\n"))),
    "other names, base64": with_cell(new_markdown_cell(base64.b64encode(RENAMED.encode()).decode())),
}

# What cannot be read is told.
UNREAD: dict[str, tuple[str, str | bytes, str]] = {
    "a form that is not known": ("figures.h5", b"\x89HDF\r\n\x1a\n" + bytes(range(256)), "figures.h5"),
    "compiled": ("answers.pyc", marshal.dumps(compile("a = 1", "", "exec")), "answers.pyc"),
    "encrypted": ("answers.zip", zipped("a.py", SOLUTION, encrypted=True), "answers.zip, a.py"),
    "broken": ("answers.gz", gzip.compress(SOLUTION.encode())[:-9], "answers.gz"),
    "a bomb": ("answers.gz", gzip.compress(bytes(2**26)), "answers.gz"),
    "packed too often": ("a.gz", functools.reduce(lambda packed, _: gzip.compress(packed), range(20), b"a"), "a.gz"),
    "an unknown form in an archive": ("a.zip", zipped("model.bin", bytes(range(256))), "a.zip, model.bin"),
    "an unknown form in a link": ("a.md", f"[run](https://marimo.app/#code/{CODED.swapcase()})", "a.md"),
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


@pytest.fixture
def handed_out(tmp_path: Path) -> Path:
    return shutil.copytree(ROOT / "release" / ASSIGNMENT, tmp_path / ASSIGNMENT)


@pytest.mark.parametrize("where", LEAKS)
def test_a_solution_is_found_wherever_it_stands(where: str, handed_out: Path) -> None:
    LEAKS[where](handed_out)
    leaks = find_leaks(Course(ROOT), ASSIGNMENT, handed_out.parent)
    assert any("the solution in cell exercise-3, `items = torch.as_tensor(items_in)" in leak for leak in leaks), leaks


WEIGHTS = "scores = K.mT @ Q scores = scores / math.sqrt(K.shape[0]) weights = softmax_cols(scores)"


@pytest.mark.parametrize(
    ("secret", "of"),
    [
        ("hidden_tests( 3, points = 2 )", "the hidden test in cell test-exercise-3"),
        (next(case.catches for case in EXERCISES[3].cases if case.catches.count(" ") > 2), "what a case of exercise"),
        (WEIGHTS, "the solution in cell exercise-7"),
    ],
)
def test_other_secrets_are_found_by_what_they_say(secret: str, of: str, course: Course, release: Path) -> None:
    with_cell(new_markdown_cell(f"Well: {secret} (so it is)."))(release)
    leaks = find_leaks(course, ASSIGNMENT)
    assert any(of in leak for leak in leaks), leaks
    assert {leak.split(": ")[0] for leak in leaks} == {f"{ASSIGNMENT}.ipynb, cell added"}, leaks


def test_the_code_of_a_reference_is_found(course: Course, release: Path) -> None:
    with_file("more.py", Path(inspect.unwrap(EXERCISES[7].reference).__code__.co_filename).read_text())(release)
    assert any("the reference of exercise 7" in leak for leak in find_leaks(course, ASSIGNMENT))


@pytest.mark.parametrize("what", UNREAD)
def test_what_cannot_be_read_is_told_and_not_vouched_for(what: str, tmp_path: Path) -> None:
    name, content, place = UNREAD[what]
    (tmp_path / ASSIGNMENT).mkdir()
    with_file(name, content)(tmp_path / ASSIGNMENT)
    searched = search(Course(ROOT), ASSIGNMENT, tmp_path)
    assert searched.unread == [place]
    assert searched.told == (
        "No solution, hidden test or misconception was found in what was read.\n"
        f"  1 file was not checked, so please check manually: {place}."
    )


def test_what_is_no_file_is_not_vouched_for(tmp_path: Path) -> None:
    (tmp_path / ASSIGNMENT).mkdir()
    (tmp_path / ASSIGNMENT / "gone").symlink_to("nowhere")
    os.mkfifo(tmp_path / ASSIGNMENT / "pipe")
    searched = search(Course(ROOT), ASSIGNMENT, tmp_path)
    assert "2 files were not checked, so please check manually: gone, pipe." in searched.told


def test_of_pictures_only_texts_are_read_and_that_is_told(tmp_path: Path) -> None:
    (tmp_path / ASSIGNMENT).mkdir()
    for name in ("a.png", "b.png"):
        with_file(name, picture(b"tEXt", b"Comment\0harmless"))(tmp_path / ASSIGNMENT)
    assert search(Course(ROOT), ASSIGNMENT, tmp_path).told == (
        "No solution, hidden test or misconception was found in it.\n"
        "  Of images and PDFs, only the text in them was read: a.png, b.png."
    )


def test_another_course_hands_out_nothing_secret(tmp_path: Path) -> None:
    course = Course(shutil.copytree(DATA / "second_course", tmp_path / "second"))
    for assignment in course.assignments():
        assert compile_release(course, assignment) == Searched([], [], [])


def test_a_release_tells_what_nobody_has_looked_into(tmp_path: Path) -> None:
    root = shutil.copytree(DATA / "second_course", tmp_path / "second")
    with_file("[b]model.h5", UNREAD["a form that is not known"][1])(root / "source/words")
    ended = grader("release", "words", folder=root)
    assert (ended.returncode, ended.stdout.splitlines()) == (0, [
        "release/words is ready. No solution, hidden test or misconception was found in what was read.",
        "  1 file was not checked, so please check manually: [b]model.h5.",
    ]), ended.stderr  # fmt: skip


OF_ANOTHER = [  # exercise 16, of causal_attention: as in its notebook
    "scores = q @ k.transpose(1, 2)  # (B, T, T): row = query, column = key",
    "scores = scores / math.sqrt(k.shape[-1])",
    "mask = self.mask[:T, :T] == 1",
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
    """Or a region whose marker is misspelled were let through."""
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
    "a line of three": LINES[0], "two lines of three": "\n".join(LINES[:-1]),
    "other attributes": SOLUTION.replace(".sum", ".mean"),
    "one name for two": re.sub(r"\b(items|exp)\b(?!\()", "x", SOLUTION),
    "imports": "import math\nimport time\nimport torch\nfrom checks import check, solved",
    "a signature": "def softmax(items_in):\n    raise NotImplementedError", "a test": "check(3)",
    "words of what is caught": " ".join(word for case in EXERCISES[3].cases for word in case.catches.split()[:2]),
    "what students read about a mistake": EXERCISES[2].mistakes[0].says,
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
