"""`grader students`: one roster of the course, which says who somebody is wherever students are told or looked for."""

from __future__ import annotations

import csv
import io
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import nbformat
import pytest

from grader.collecting.collect import CollectOptions, collect
from grader.collecting.enrolling import import_students
from grader.course.folder import Course
from grader.errors import CourseError
from grader.export.canvas import export_canvas
from grader.export.moodle import export_moodle
from grader.gradebook.roster import COLUMNS, FILE, read_roster
from grader.pages.feedback import write_feedback
from grader.pages.report import names_of, write_report
from grader.publishing.whole_term import write_term_report
from support.command_line import Ended, grader
from support.made_class import ASSIGNMENT, Paper, grade
from support.places import ROOT

TABLE = """\
id,name,email,canvas_id,github
ada,Ada Lovelace,ada@example.edu,101,adal
kurt,"Gödel, Kurt",kurt@example.edu,102,
"""


def students(course: Course, *words: str) -> Ended:
    return grader("students", *words, folder=course.root)


def taken(course: Course, table: str) -> Ended:
    (course.root / "table.csv").write_text(table)
    return students(course, "import", "table.csv")


def in_gradebook(course: Course) -> dict[str, tuple[str | None, ...]]:
    with course.api().gradebook as gradebook:
        return {
            one.id: (one.first_name, one.last_name, one.email, one.lms_user_id)
            for one in gradebook.students
        }  # fmt: skip


def test_import_merges_a_table_and_reports_changes(course: Course) -> None:
    ended = taken(course, TABLE)
    assert (ended.returncode, ended.stderr) == (0, "")
    assert "New: ada and kurt." in ended.stdout
    assert "roster.csv: 2 new, 0 changed, 0 unchanged." in ended.stdout
    roster = read_roster(course.root)
    assert [*roster] == ["ada", "kurt"]
    assert (roster["kurt"].first_name, roster["kurt"].last_name, roster["kurt"].canvas_id) == ("Kurt", "Gödel", "102")
    assert in_gradebook(course) == {
        "ada": (None, "Ada Lovelace", "ada@example.edu", None),
        "kurt": ("Kurt", "Gödel", "kurt@example.edu", None),
    }
    ended = taken(course, "id,first_name,last_name,email,lms_user_id\nADA,Ada,Lovelace,,u-1\nlise,Lise,Meitner,,\n")
    assert "roster.csv: 1 new, 1 changed, 0 unchanged." in ended.stdout
    assert "first_name: – → Ada" in " ".join(ended.stdout.split())
    roster = read_roster(course.root)
    assert [*roster] == ["ada", "kurt", "lise"]
    assert (roster["ada"].email, roster["ada"].github, roster["ada"].lms_user_id) == ("ada@example.edu", "adal", "u-1")
    assert in_gradebook(course)["ada"] == ("Ada", "Lovelace", "ada@example.edu", "u-1")
    before = (course.root / FILE).read_bytes()
    ended = students(course, "import", FILE)
    assert "0 new, 0 changed, 3 unchanged" in ended.stdout
    assert (course.root / FILE).read_bytes() == before


@pytest.mark.parametrize(
    ("table", "row"),
    [
        (
            "First name,Last name,ID number,Email address,Groups\nAda,Lovelace,u-1,ada@example.edu,A\n",
            {"id": "u-1", "first_name": "Ada", "last_name": "Lovelace", "email": "ada@example.edu"},
        ),
        (
            "Identifier,Full name,Email address,Status\nParticipant 101,Ada Lovelace,ada@example.edu,x\n",
            {"id": "ada@example.edu", "name": "Ada Lovelace", "moodle_id": "101"},
        ),
        (
            "Student,ID,SIS User ID,SIS Login ID,Section,Quiz\n    Points Possible,,,,,9\n"
            '"Lovelace, Ada",101,u-1,ada,A,\n'
            '"Student, Test",104,,0123,A,\n',
            {"id": "ada", "first_name": "Ada", "last_name": "Lovelace", "canvas_id": "101", "lms_user_id": "u-1"},
        ),
        (
            '"identifier","github_username","github_id","name"\n"s1234","adal","99","Ada"\n',
            {"id": "s1234", "github": "adal", "name": "Ada", "moodle_id": ""},
        ),
        ("id;name;username\nada;Ada Lovelace;lovelace1\n", {"id": "ada", "username": "lovelace1"}),
    ],
)
def test_import_reads_tables_of_each_platform(table: str, row: dict[str, str], course: Course) -> None:
    assert taken(course, table).returncode == 0
    (one,) = read_roster(course.root).values()
    assert {column: getattr(one, column) for column in row} == row


BAD = """\
id,name,email
ada,Ada Lovelace,ada@example.edu
,Nobody,n@example.edu
../evil,Eve,eve@example.edu
kurt,=HYPERLINK("http://x"),kurt@example.edu
kurt,Kurt;=cmd,kurt@example.edu
kurt,Kurt\x07,kurt@example.edu
kurt,Gödel, Kurt,kurt@example.edu
kurt,Kurt,Kurt
ada,Ada Again,
lise,Lise,ADA@example.edu
,,
"emmy","<b>Emmy</b>
O'Noether",emmy@example.edu
"""


def test_import_with_bad_lines_reports_their_numbers_and_keeps_the_rest(course: Course) -> None:
    ended = taken(course, BAD)
    assert ended.returncode == 3
    assert [*read_roster(course.root)] == ["ada"], "the name of emmy has a line end in it"
    said = {int(line.split()[2][:-1]): line for line in ended.stderr.splitlines() if line.startswith("Skipped line")}
    assert {line: text.split(": ", 1)[1] for line, text in said.items()} == {
        3: "it has no id.",
        4: "“../evil” cannot be a student's id: nbgrader cannot use some of its characters.",
        5: 'its name “=HYPERLINK("http://x")” would be a formula in a spreadsheet.',
        6: "its name “Kurt;=cmd” would be a formula in a spreadsheet.",
        7: "its name “Kurt ” has characters that cannot be shown.",
        8: "it has more cells than the first line. Put quotes around a cell with a comma in it.",
        9: "its email “Kurt” is not an address.",
        10: "ada is also on line 2.",
        11: "its email “ada@example.edu” belongs to ada.",
        13: "its name “<b>Emmy</b> O'Noether” has characters that cannot be shown.",
    }
    assert "Skipped 10 lines." in ended.stderr


@pytest.mark.parametrize("column", ["canvas_id", "moodle_id", "github", "username", "lms_user_id"])
def test_import_with_a_shared_identifier_refuses_the_line(column: str, course: Course) -> None:
    taken(course, f"id,{column}\nada,x1\n")
    ended = taken(course, f"id,{column}\nkurt,X1\nlise,x2\n")
    assert ended.returncode == 3
    assert ended.stderr.startswith("Skipped line 2: ")
    assert [*read_roster(course.root)] == ["ada", "lise"]


def test_list_names_students_outside_the_roster_without_markup(course: Course) -> None:
    assert "To add students, run: grader students import FILE" in students(course).stdout
    taken(course, "id,name,email\nada,Ada [red],ada@example.edu\n")
    (course.root / "submitted/[bold]zoe").mkdir(parents=True)
    ended = students(course)
    assert "Ada [red]" in ended.stdout
    assert "canvas_id" not in ended.stdout
    assert "roster.csv has 1 student." in ended.stdout
    assert "Not on the roster, but in the gradebook or with submissions: [bold]zoe." in ended.stdout


@pytest.mark.parametrize("text", ["Student,ID\nx,1\n", "\xff"])
def test_import_with_another_file_named_roster_leaves_it_alone(text: str, course: Course) -> None:
    (course.root / FILE).write_text(text, encoding="latin-1")
    ended = taken(course, TABLE)
    assert (ended.returncode, "roster.csv is not a roster: it has no column id" in ended.stderr) == (1, True)
    assert read_roster(course.root) == {}, "reports and collecting go on"
    assert (course.root / FILE).read_text(encoding="latin-1") == text
    assert students(course, "import", "nowhere.csv").returncode == 1


def test_collect_identifies_students_of_the_roster(
    course: Course, make_notebook: Callable[..., Any], tmp_path: Path
) -> None:
    taken(course, TABLE)
    notebook: str = nbformat.writes(make_notebook(course))
    with zipfile.ZipFile(tmp_path / "canvas.zip", "w") as archive:
        archive.writestr("lovelaceada_101_4_x.ipynb", notebook)
    (tmp_path / "clones/week1-kurt/.git").mkdir(parents=True)
    (tmp_path / "clones/week1-AdaL/.git").mkdir(parents=True)
    (tmp_path / "clones/week1-AdaL/x.ipynb").write_text(notebook)
    (tmp_path / "clones/week1-kurt/x.ipynb").write_text(notebook)
    for source, who in (("canvas.zip", {"ada"}), ("clones", {"ada", "kurt"})):
        found = collect(course, ASSIGNMENT, [tmp_path / source], CollectOptions(dry_run=True))
        assert {one.student for one in found if not one.waits} == who


@pytest.fixture
def course_with_grades(course: Course) -> Course:
    """ada, kurt and another Ada Lovelace have a grade, and barbara, of whom nothing is known."""
    grade(course, Paper("ada"), Paper("kurt"), Paper("other"), Paper("barbara"))
    more = "id,name,username\nother,Ada Lovelace,\nkurt,,kgoedel\n"
    for table in (TABLE, more):
        assert taken(course, table).returncode == 0
    return course


@pytest.mark.slow
def test_exports_use_identifiers_of_the_roster(course_with_grades: Course, tmp_path: Path) -> None:
    rows = list(csv.reader(io.StringIO(export_canvas(course_with_grades, ASSIGNMENT, None, "").read_text())))
    assert [row[:4] for row in rows[2:]] == [
        ["Ada Lovelace", "101", "", "ada"], ["barbara", "", "", "barbara"],
        ["Gödel, Kurt", "102", "", "kgoedel"], ["Ada Lovelace", "", "", "other"],
    ]  # fmt: skip
    (tmp_path / "grades.csv").write_text("Student,ID,Section\nX,101,A\nY,102,A\n")
    rows = list(
        csv.reader(io.StringIO(export_canvas(course_with_grades, ASSIGNMENT, tmp_path / "grades.csv", "").read_text()))
    )
    assert [row[1] for row in rows[1:]] == ["101", "102"]
    rows = list(csv.reader(io.StringIO(export_moodle(course_with_grades, ASSIGNMENT, "username", "").read_text())))
    assert [row[0] for row in rows[1:]] == ["ada", "barbara", "kgoedel", "other"]


@pytest.mark.slow
def test_pages_show_names_with_ids_when_two_share_a_name(course_with_grades: Course) -> None:
    page = write_report(course_with_grades, ASSIGNMENT)[0].read_text()
    for text in (page, write_term_report(course_with_grades).read_text()):
        assert all(name in text for name in ("Kurt Gödel", "Ada Lovelace (ada)", "Ada Lovelace (other)", "barbara"))
    write_feedback(course_with_grades, ASSIGNMENT, ["kurt", "barbara"])
    feedback = {
        student: (course_with_grades.folder("feedback") / f"{student}/{ASSIGNMENT}/{ASSIGNMENT}.html").read_text()
        for student in ("kurt", "barbara")
    }
    assert "Feedback for <bdi>Kurt Gödel</bdi>" in feedback["kurt"]
    assert "Feedback for <bdi>barbara</bdi>" in feedback["barbara"]


def test_names_of_show_the_id_without_a_name() -> None:
    assert names_of({"a": ("Ada", "L."), "b": ("", ""), "c": ("", "X"), "d": ("X", "")}) == {
        "a": "Ada L.", "c": "X (c)", "d": "X (d)",
    }  # fmt: skip


def test_columns_are_those_in_the_docs() -> None:
    page = (ROOT / "docs/collecting.md").read_text(encoding="utf-8")
    assert all(f"`{column}`" in page for column in COLUMNS)


def test_import_of_a_line_that_fits_two_students_skips_it(course: Course) -> None:
    taken(course, "id,email\nada,a@example.edu\nkurt,k@example.edu\n")
    table = course.root / "more.csv"
    table.write_text("username,email\nada,k@example.edu\n")
    assert import_students(course, table).bad_lines == {2: "“ada” fits several students: ada, kurt"}
    table.write_text("nonsense")
    with pytest.raises(CourseError, match="not a table of students"):
        import_students(course, table)


def test_import_of_a_table_with_other_ids_matches_by_address_and_number(course: Course) -> None:
    taken(course, "id,email,lms_user_id\nada,a@example.edu,u-1\n")
    head = "Student,ID,SIS User ID,SIS Login ID,Section"
    assert "1 changed" in taken(course, f'{head}\n"Lovelace, Ada",101,u-1,lovelace1,A\n').stdout
    (one,) = read_roster(course.root).values()
    assert (one.id, one.canvas_id, one.email) == ("ada", "101", "a@example.edu")
