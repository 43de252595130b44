"""What is taken in of a submission: plain files, a sensible amount of them, and nothing that a link leads to."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path
from typing import Any

import pytest

from grader.classroom.run import autograde
from grader.classroom.submitted_files import MAX_BYTES, MAX_ENTRIES, MAX_FILES, NotTakenIn, take_in
from grader.course.folder import Course
from grader.gradebook.fingerprint import digest
from grader.gradebook.preprocessors import links

pytestmark = [pytest.mark.user, pytest.mark.slow]

ASSIGNMENT = "self_attention"


@pytest.fixture
def submitted(tmp_path: Path) -> Path:
    """ada's submission, with a few files beside her notebook."""
    folder = tmp_path / "submitted/ada" / ASSIGNMENT
    (folder / "data").mkdir(parents=True)
    (folder / f"{ASSIGNMENT}.ipynb").write_text("{}")
    (folder / "my_functions.py").write_text("x = 1")
    (folder / "data/words.txt").write_text("one two")
    (tmp_path / "secret.txt").write_text("secret")
    return folder


def taken_in(submitted: Path, student: str = "ada") -> tuple[set[str], list[str]]:
    """Files taken in, and what was left out."""
    handed_in = take_in(submitted.parents[1], student, ASSIGNMENT)
    return {*handed_in.files, f"{ASSIGNMENT}.ipynb"}, handed_in.left_out


HONEST = {f"{ASSIGNMENT}.ipynb", "my_functions.py", "data/words.txt"}


def test_links_are_found_among_very_many_files(submitted: Path) -> None:
    """Also where we would take in nothing: plain nbgrader has copied it."""
    (submitted / ".venv").mkdir()
    for number in range(MAX_ENTRIES):
        (submitted / f"{number:05}").touch()
    for link in (submitted / ".venv/secret.txt", submitted / "zzz.txt"):
        link.symlink_to("../../../secret.txt")
    assert [path.name for path in links(submitted)] == ["secret.txt", "zzz.txt"]


def test_take_in_accepts_all_files_of_an_honest_submission(submitted: Path) -> None:
    assert taken_in(submitted) == (HONEST, [])


def test_take_in_leaves_out_links(submitted: Path) -> None:
    (submitted / "secret.txt").symlink_to("../../../secret.txt")
    (submitted / "all").symlink_to("/")
    files, left_out = taken_in(submitted)
    assert files == HONEST
    assert left_out == ["submit a link (all)", "submit a link (secret.txt)"]
    assert [path.name for path in links(submitted)] == ["all", "secret.txt"]


@pytest.mark.parametrize("what", ["", ASSIGNMENT, f"{ASSIGNMENT}/{ASSIGNMENT}.ipynb"])
def test_take_in_refuses_a_link_in_place_of_a_notebook(submitted: Path, what: str) -> None:
    eve = submitted.parents[1] / "eve"
    path = eve / what if what else eve
    path.parent.mkdir(parents=True, exist_ok=True)
    path.symlink_to(submitted.parent / what)
    with pytest.raises(NotTakenIn, match="is a link"):
        taken_in(submitted, "eve")


def test_take_in_leaves_out_what_is_no_file(submitted: Path) -> None:
    os.mkfifo(submitted / "pipe")
    assert taken_in(submitted) == (HONEST, ["submit something that is not a file (pipe)"])


def test_take_in_refuses_a_pipe_in_place_of_a_notebook(submitted: Path) -> None:
    notebook = submitted / f"{ASSIGNMENT}.ipynb"
    notebook.unlink()
    os.mkfifo(notebook)
    with pytest.raises(NotTakenIn, match="not a file"):
        taken_in(submitted)


def test_take_in_leaves_out_hard_links(submitted: Path) -> None:
    secret = submitted.parents[2] / "secret.txt"
    (submitted / "mine.txt").hardlink_to(secret)
    assert taken_in(submitted) == (HONEST, ["submit a hard link (mine.txt)"])
    notebook = submitted / f"{ASSIGNMENT}.ipynb"
    notebook.unlink()
    notebook.hardlink_to(secret)
    with pytest.raises(NotTakenIn, match="hard link"):
        taken_in(submitted)


def test_take_in_refuses_a_notebook_of_a_terabyte(submitted: Path) -> None:
    with (submitted / f"{ASSIGNMENT}.ipynb").open("wb") as file:
        file.truncate(2**40)
    with pytest.raises(NotTakenIn, match="larger than"):
        taken_in(submitted)


def test_take_in_accepts_the_notebook_among_too_many_files(submitted: Path) -> None:
    for number in range(MAX_FILES + 10):
        (submitted / f"{number:05}").touch()
    files, left_out = taken_in(submitted)
    assert len(files) == MAX_FILES + 1
    assert f"{ASSIGNMENT}.ipynb" in files
    assert left_out == ["submit too many files, or too large ones"]


def test_take_in_leaves_out_a_file_larger_than_the_disk(submitted: Path) -> None:
    with (submitted / "zeros").open("wb") as file:
        file.truncate(MAX_BYTES * 1000)
    files, left_out = taken_in(submitted)
    assert "zeros" not in files
    assert left_out


def test_take_in_ignores_a_virtual_environment(submitted: Path) -> None:
    (submitted / ".venv/lib").mkdir(parents=True)
    for number in range(MAX_FILES + 1):
        (submitted / f".venv/lib/{number}.py").touch()
    assert taken_in(submitted) == (HONEST, [])


def test_take_in_does_not_follow_endlessly_nested_folders(submitted: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(submitted)
    for _ in range(2500):
        Path("d").mkdir()
        os.chdir("d")
    monkeypatch.undo()
    assert taken_in(submitted)[0] == HONEST
    subprocess.run(["rm", "-rf", "--", submitted / "d"], check=True)  # too deep for pytest to remove


def test_take_in_leaves_out_html_and_svg_pages(submitted: Path) -> None:
    for name in ("page.html", "page.SHTML", "page.svg"):
        (submitted / name).write_text("<script>alert(1)</script>")
    assert taken_in(submitted) == (HONEST, [])


@pytest.mark.parametrize("name", ["page.rdf", "page.RSS", "page.xsl", "page.atom"])
def test_take_in_leaves_out_files_that_browsers_show_as_pages(submitted: Path, name: str) -> None:
    (submitted / name).write_text('<p xmlns="http://www.w3.org/1999/xhtml"><script>1</script></p>')
    assert taken_in(submitted) == (HONEST, [])


@pytest.mark.parametrize("what", ["a link", "a hard link", "a pipe", "more"])
def test_take_in_when_a_file_is_swapped_does_not_read_it(
    submitted: Path, monkeypatch: pytest.MonkeyPatch, what: str
) -> None:
    """Whoever owns the folder puts something in the place of a file between the look and the reading."""
    secret, opened = submitted.parents[2] / "secret.txt", os.open

    def swapped(path: Path, flags: int) -> int:
        if path.name == "my_functions.py":
            path.unlink()
            {  # type: ignore[no-untyped-call]
                "a link": lambda: path.symlink_to(secret),
                "a hard link": lambda: path.hardlink_to(secret),
                "a pipe": lambda: os.mkfifo(path),
                "more": lambda: path.write_text("x = 1000"),
            }[what]()
        return opened(path, flags)

    monkeypatch.setattr(os, "open", swapped)
    files, left_out = taken_in(submitted)
    assert files == HONEST - {"my_functions.py"}
    assert left_out == ["submit something that cannot be read (my_functions.py)"]


def test_take_in_keeps_given_files_that_students_may_replace(submitted: Path, tmp_path: Path) -> None:
    given = tmp_path / "source"
    given.mkdir()
    (given / "my_functions.py").write_text("x = 0")
    for own, files in (((), HONEST - {"my_functions.py"}), (("my_functions.py",), HONEST)):
        found = take_in(submitted.parents[1], "ada", ASSIGNMENT, given, own).files
        assert {*found, f"{ASSIGNMENT}.ipynb"} == files


def test_resubmission_without_a_time_keeps_the_former_time_with_a_note(
    course: Course, submit: Any, solved: Any
) -> None:
    time = submit(course, "ada", {3: solved[3]}).parent / "timestamp.txt"
    time.write_text("2026-11-21 12:00:00 UTC")
    assert [list(result.blocked) for result in autograde(course, ASSIGNMENT)] == [[]]
    time.unlink()
    said = "submit without a time (so the time of an earlier submission, 2026-11-21 12:00 UTC, still counts)"
    for _ in range(2):
        assert [list(result.blocked) for result in autograde(course, ASSIGNMENT)] == [[said]]


def test_digest_distinguishes_names_that_are_no_text() -> None:
    assert len({digest(os.fsdecode(name)) for name in (b"\xff", b"\xfe", b"?")}) == 3


def test_take_in_leaves_out_an_unreadable_timestamp(submitted: Path) -> None:
    """nbgrader would read it for hours."""
    (submitted / "timestamp.txt").write_text("1" * 1000)
    assert taken_in(submitted) == (HONEST, ["submit a time that cannot be read (timestamp.txt)"])
    (submitted / "timestamp.txt").write_text("yesterday")
    assert taken_in(submitted) == (HONEST, ["submit a time that cannot be read (timestamp.txt)"])
    (submitted / "timestamp.txt").write_text("2026-11-21 12:00:00 UTC")
    assert taken_in(submitted) == (HONEST | {"timestamp.txt"}, [])


@pytest.mark.parametrize("student", ["zo?", "*", "a[b]c", "a\nb", "\x1b[31m", "..", "-x"])
def test_take_in_refuses_student_names_that_are_patterns(submitted: Path, student: str) -> None:
    with pytest.raises(NotTakenIn, match="characters"):
        taken_in(submitted, student)


@pytest.mark.parametrize("student", ["ada", "Ada Lovelace", "ada.l@example.org", "s1234567", "Ödön", "o'neil-1"])
def test_take_in_accepts_ordinary_student_names(submitted: Path, student: str) -> None:
    submitted.parent.rename(submitted.parents[1] / student)
    assert taken_in(submitted.parents[1] / student / ASSIGNMENT, student)[0] == HONEST


def test_autograde_when_submissions_are_links_costs_only_their_students(
    course: Course, submit: Any, solved: Any, scores: Any
) -> None:
    """Another's work, handed in through a link, earns nothing; a name that is a pattern takes nobody's grade."""
    submit(course, "zoe", {3: solved[3]})
    submit(course, "zo?", {})
    (course.root / "submitted/eve").symlink_to("zoe")
    mallory = submit(course, "mallory", {3: "exec(open('stolen.txt').read())"})
    (mallory.parent / "stolen.txt").symlink_to(course.notebook("source", ASSIGNMENT))
    results = {result.student: result for result in autograde(course, ASSIGNMENT)}
    assert {student: result.points for student, result in results.items()} == {
        "eve": 0, "mallory": 0, "zo?": 0, "zoe": 2,
    }  # fmt: skip
    assert "is a link" in results["eve"].error
    assert "characters" in results["zo?"].error
    assert results["mallory"].blocked == ("submit a link (stolen.txt)",)
    assert scores(course, "zoe")["test-exercise-3"] == 2


def test_files_named_like_given_ones_cost_nothing(course: Course, submit: Any, solved: Any, scores: Any) -> None:
    """A folder named as a given file, a file named as a given folder, and another time."""
    folder = submit(course, "ada", {3: solved[3]}).parent
    (folder / "checks.py").mkdir()
    (folder / "checks.py/more.py").touch()
    (folder / "images").touch()
    (folder / "timestamp.txt").write_text("now")
    (result,) = autograde(course, ASSIGNMENT)
    assert (result.points, result.error) == (2, "")
    assert scores(course, "ada")["test-exercise-3"] == 2


def test_nbgrader_autograde_follows_no_links_either(course: Course, submit: Any, solved: Any, scores: Any) -> None:
    """It copies what they lead to; our reader takes it away again before the student's code runs."""
    submit(course, "zoe", {3: solved[3]})
    mallory = submit(course, "mallory", {3: "exec(open('stolen/self_attention.ipynb').read())", 5: solved[5]})
    (mallory.parent / "stolen").symlink_to(course.root / "source" / ASSIGNMENT)
    (mallory.parent / "gradebook.txt").symlink_to(course.root / "gradebook.db")
    (mallory.parent / "checks.py").symlink_to(course.root / "nbgrader_config.py")
    (mallory.parent / "compare.py").symlink_to(course.root / "gradebook.db")
    eve = submit(course, "eve", {})
    eve.unlink()
    eve.symlink_to(course.notebook("submitted/zoe", ASSIGNMENT))
    (course.root / "submitted/eva").mkdir()
    (course.root / "submitted/eva" / ASSIGNMENT).symlink_to(course.root / "submitted/zoe" / ASSIGNMENT)
    students = ("zoe", "mallory", "eve", "eva")
    for student in students:
        course.api().autograde(ASSIGNMENT, student)
    points = {student: sum(filter(None, scores(course, student).values())) for student in students}
    assert points == {"zoe": 2, "mallory": 3, "eve": 0, "eva": 0}
    graded = course.root / "autograded/mallory" / ASSIGNMENT
    assert not (graded / "stolen").exists()
    assert not (graded / "gradebook.txt").exists()
    for name in ("checks.py", "compare.py"):
        assert (graded / name).read_bytes() == (course.root / "release" / ASSIGNMENT / name).read_bytes()


CUT = json.dumps({"cells": [{"cell_type": "code", "source": "x = 'ä'"}], "nbformat": 4}, ensure_ascii=False).encode()


@pytest.mark.parametrize("content", [b"", b" \n", CUT[:-5], CUT[: CUT.index(b"\xa4")], b"%PDF-1.7", CUT + CUT])
def test_take_in_when_notebook_is_incomplete_asks_for_it_again(submitted: Path, content: bytes) -> None:
    (submitted / f"{ASSIGNMENT}.ipynb").write_bytes(content)
    with pytest.raises(
        NotTakenIn, match=r"self_attention.ipynb is not a complete notebook: .*\. Ask the student to submit it again"
    ):
        taken_in(submitted)


@pytest.mark.parametrize(
    "content", [CUT, b"{}", b"[]", b'{"cells": []}', b'{"a": ' + b"9" * 10_000 + b"}", b"[" * 200_000]
)
def test_take_in_accepts_complete_notebooks_without_content(submitted: Path, content: bytes) -> None:
    (submitted / f"{ASSIGNMENT}.ipynb").write_bytes(content)
    assert taken_in(submitted) == (HONEST, [])


def test_autograde_when_notebook_is_cut_off_gives_no_grade(
    course: Course, submit: Any, solved: dict[Any, str], scores: Any
) -> None:
    whole = submit(course, "ada", solved).read_bytes()
    submit(course, "ada", whole[: len(whole) // 2])
    submit(course, "emmy", {})
    errors = {one.student: one.error for one in autograde(course, ASSIGNMENT)}
    assert errors["emmy"] == ""
    assert errors["ada"] == (
        "self_attention.ipynb is not a complete notebook: it is not valid JSON, and ends in the middle. Ask the "
        "student to submit it again"
    )
    assert not (course.root / "autograded/ada").exists()
    assert not course.api().autograde(ASSIGNMENT, "ada")["success"], "and plain nbgrader fails, too"
    submit(course, "ada", whole)
    assert {one.student: one.error for one in autograde(course, ASSIGNMENT)} == {"ada": "", "emmy": ""}
    assert sum(scores(course, "ada").values()) > 20
