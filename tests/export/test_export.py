"""Grades for Canvas and Moodle, field by field in the forms that docs/publishing.md describes."""

from __future__ import annotations

import ast
import csv
import io
import re
import shutil
from collections.abc import Callable
from datetime import datetime
from pathlib import Path
from typing import Any

import nbformat
import pytest

from grader.course.folder import Course
from grader.errors import CourseError
from grader.export.canvas import export_canvas
from grader.export.moodle import export_moodle
from grader.pages.spreadsheet import defused, is_formula, number
from support.command_line import export, grader
from support.made_class import ASSIGNMENT, Paper, grade
from support.observers import Messages
from support.snapshots import files_in

# As Canvas writes it: with a mark for Excel, a row for hidden columns, and columns that it computes.
FROM_CANVAS = """\ufeffStudent,ID,SIS User ID,SIS Login ID,Section,Quiz 1 (17),Self Attention (4711),Current Score
,,,,,,Manual Posting,
    Points Possible,,,,,10,30,(read only)
"Lovelace, Ada",101,u-ada,ada@example.edu,Group A,9,12,90
"Turing, Alan",102,u-alan,alan@example.edu,"Group A and Group B",8,,80
"Gödel, Kurt",103,u-kurt,kurt@example.edu,Group B,,,0
"Student, Test",104,,0123456789abcdef,Group A,,,
"""


A_DAY_LATE = datetime(2026, 1, 2, 12)
TWO_OFF = '[late]\nper = "day"\nshare = 0.0702\n'  # of alan's 28.5 points


@pytest.fixture
def course_of_four(course: Course) -> Course:
    """ada and alan have an e-mail address and a number, barbara and one more have none; kurt handed in nothing."""
    grade(
        course,
        Paper("ada"),
        Paper("alan", {2: 0.5}, {2: ["not scaled"]}, timestamp=A_DAY_LATE),
        Paper("barbara", {7: 0.35}),
        Paper("chien"),
    )
    (course.root / "course.toml").write_text(TWO_OFF)
    with course.api().gradebook as gradebook:
        for name, last in (("ada", "Lovelace"), ("alan", "Turing"), ("kurt", "Gödel")):
            gradebook.update_or_create_student(
                name, first_name=name.title(), last_name=last, email=f"{name}@example.edu", lms_user_id=f"u-{name}"
            )
        gradebook.update_or_create_assignment(ASSIGNMENT, duedate="2026-01-01 12:00:00 UTC")
        gradebook.find_grade("test-exercise-1", ASSIGNMENT, ASSIGNMENT, "chien").manual_score = 0.25
        gradebook.db.commit()
    return course


def rows_of(path: Path) -> list[list[str]]:
    return list(csv.reader(io.StringIO(path.read_text(encoding="utf-8"))))


def roster(folder: Path, text: str = FROM_CANVAS) -> Path:
    path = folder / "from canvas.csv"
    path.write_text(text, encoding="utf-8")
    return path


@pytest.mark.slow
def test_export_canvas_without_roster_writes_names_and_points(course_of_four: Course, messages: Messages) -> None:
    path = export_canvas(course_of_four, ASSIGNMENT, None, "")
    assert path == course_of_four.root / "export/self_attention-canvas.csv"
    assert rows_of(path) == [
        ["Student", "ID", "SIS User ID", "SIS Login ID", "Section", "self_attention"],
        ["    Points Possible", "", "", "", "", "30"],
        ["Lovelace, Ada", "", "u-ada", "ada", "", "30"],
        ["Turing, Alan", "", "u-alan", "alan", "", "26.5"],
        ["barbara", "", "", "barbara", "", "26.75"],
        ["chien", "", "", "chien", "", "27.25"],
    ]
    assert not messages.texts


@pytest.mark.slow
def test_export_canvas_with_roster_fills_in_its_rows(
    course_of_four: Course, messages: Messages, tmp_path: Path
) -> None:
    path = export_canvas(course_of_four, ASSIGNMENT, roster(tmp_path), "")
    assert rows_of(path) == [
        ["Student", "ID", "SIS User ID", "SIS Login ID", "Section", "Self Attention (4711)"],
        ["    Points Possible", "", "", "", "", "30"],
        ["Lovelace, Ada", "101", "u-ada", "ada@example.edu", "Group A", "30"],
        ["Turing, Alan", "102", "u-alan", "alan@example.edu", "Group A and Group B", "26.5"],
    ]
    assert messages.texts == ["Not in the file from Canvas, so left out: barbara and chien."]


@pytest.mark.slow
def test_export_canvas_reads_semicolons_and_other_columns(
    course_of_four: Course, messages: Messages, tmp_path: Path
) -> None:
    text = (
        "LastName;FirstName;ID;SIS User ID;SIS Login ID;Integration ID;Section;Notes\n"
        "    Points Possible;;;;;;;\nLovelace;Ada;101;;ada;;A;-\n"
    )
    path = export_canvas(course_of_four, ASSIGNMENT, roster(tmp_path, text), "Week 3")
    assert rows_of(path) == [
        ["LastName", "FirstName", "ID", "SIS User ID", "SIS Login ID", "Integration ID", "Section", "Week 3"],
        ["    Points Possible", "", "", "", "", "", "", "30"],
        ["Lovelace", "Ada", "101", "", "ada", "", "A", "30"],
    ]
    assert messages.texts[0] == "Canvas has no assignment “Week 3” yet. It will ask whether to create one."


@pytest.mark.slow
def test_export_canvas_reads_a_semicolon_in_a_title(course_of_four: Course, tmp_path: Path) -> None:
    text = FROM_CANVAS.replace("Quiz 1 (17)", "Quiz; the first (17)")
    rows = rows_of(export_canvas(course_of_four, ASSIGNMENT, roster(tmp_path, text), ""))
    assert [row[-1] for row in rows] == ["Self Attention (4711)", "30", "30", "26.5"]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("there", "words"),
    [
        ("100", "In Canvas, “Self Attention (4711)” has 100 points; here, it has 30. Change that"),
        ("(read only)", "Canvas calculates “Self Attention (4711)” itself, and cannot import points for it."),
        ("30.00", ""),
        ('"30,0"', ""),
        ("", ""),
    ],
)
def test_export_canvas_when_points_possible_differ_warns(
    there: str, words: str, course_of_four: Course, messages: Messages, tmp_path: Path
) -> None:
    text = FROM_CANVAS.replace("10,30,(read only)", f"10,{there},(read only)")
    export_canvas(course_of_four, ASSIGNMENT, roster(tmp_path, text), "")
    assert [line for line in messages.texts if "Not in the file" not in line] == [
        line for line in messages.texts if words and words in line
    ]
    assert len(messages.texts) == 1 + bool(words)


@pytest.mark.slow
def test_export_canvas_matches_by_the_column_that_finds_most(course: Course, tmp_path: Path) -> None:
    grade(course, Paper("ada"), Paper("101"), Paper("202", {8: 0}))
    text = (
        "Student,ID,SIS User ID,SIS Login ID,Section,Self Attention (1)\n    Points Possible,,,,,30\n"
        "One,101,x,ada,,\nTwo,7,101,202,,\nThree,8,y,101,,\n"
    )
    rows = rows_of(export_canvas(course, ASSIGNMENT, roster(tmp_path, text), ""))
    assert {row[0]: row[-1] for row in rows[2:]} == {"One": "30", "Two": "22", "Three": "30"}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--to", "canvas", "--by", "email"], "--by is for Moodle, not for Canvas."),
        (["--to", "moodle", "--roster", "x.csv"], "--roster is for Canvas, not for Moodle."),
        (["--to", "jplag", "--column", "x"], "--column is for Canvas and Moodle, not for Jplag."),
        (["--to", "moodle", "--index", "x"], "--index is for Gradescope-Autograder, not for Moodle."),
    ],
)
def test_export_with_an_option_of_another_platform_is_refused(
    arguments: list[str], words: str, course_of_four: Course
) -> None:
    done = grader("export", ASSIGNMENT, *arguments, folder=course_of_four.root)
    assert done.returncode == 1
    assert done.stderr == f"{words} Leave it out, then run this again.\n"
    assert not (course_of_four.root / "export").exists()


@pytest.mark.slow
def test_export_canvas_when_columns_match_differently_raises(course: Course, tmp_path: Path) -> None:
    """Students who are called by numbers here, which happen to be numbers of others in Canvas."""
    grade(course, Paper("102"), Paper("103", {8: 0}))
    text = (
        "Student,ID,SIS User ID,SIS Login ID,Section,Self Attention (1)\n    Points Possible,,,,,30\n"
        "One,101,102,a,,\nTwo,102,103,b,,\nThree,103,104,c,,\n"
    )
    with pytest.raises(CourseError, match=r"ID and SIS User ID match different students\. Clear the wrong column"):
        export_canvas(course, ASSIGNMENT, roster(tmp_path, text), "")
    emptied = text.replace("101", "").replace("102,103", ",103").replace("103,104", ",104")
    rows = rows_of(export_canvas(course, ASSIGNMENT, roster(tmp_path, emptied), ""))
    assert rows[2:] == [["One", "", "102", "a", "", "30"], ["Two", "", "103", "b", "", "22"]]


@pytest.mark.slow
def test_export_canvas_when_title_is_ambiguous_asks_for_column(course_of_four: Course, tmp_path: Path) -> None:
    text = FROM_CANVAS.replace("Quiz 1 (17)", "self-attention (12)")
    with pytest.raises(CourseError, match=r"2 assignments called “self_attention”.*--column 'self-attention \(12\)'"):
        export_canvas(course_of_four, ASSIGNMENT, roster(tmp_path, text), "")
    path = export_canvas(course_of_four, ASSIGNMENT, roster(tmp_path, text), "Self Attention (4711)")
    assert rows_of(path)[0][-1] == "Self Attention (4711)"


@pytest.mark.slow
@pytest.mark.parametrize("text", ["", "name,points\nada,3\n", "\x00", "Student,Section\n"])
def test_export_canvas_when_roster_is_none_raises(course_of_four: Course, tmp_path: Path, text: str) -> None:
    with pytest.raises(CourseError, match=r"is not a gradebook from Canvas.*choose Grades, Export"):
        export_canvas(course_of_four, ASSIGNMENT, roster(tmp_path, text), "")


@pytest.mark.slow
def test_export_canvas_when_roster_is_unreadable_raises(course_of_four: Course, tmp_path: Path) -> None:
    with pytest.raises(
        CourseError, match=r"cannot be read: No such file or directory\. Use --roster with the file from"
    ):
        export_canvas(course_of_four, ASSIGNMENT, tmp_path / "none.csv", "")
    (tmp_path / "latin.csv").write_bytes("Gödel".encode("latin-1"))
    with pytest.raises(CourseError, match="it is not UTF-8 text"):
        export_canvas(course_of_four, ASSIGNMENT, tmp_path / "latin.csv", "")


@pytest.mark.slow
def test_export_canvas_when_roster_is_of_another_class_raises(course_of_four: Course, tmp_path: Path) -> None:
    text = "Student,ID,SIS Login ID,Section\nX,1,x,A\n"
    with pytest.raises(CourseError, match=r"Nobody in .* has a grade here"):
        export_canvas(course_of_four, ASSIGNMENT, roster(tmp_path, text), "")


@pytest.mark.parametrize(
    ("by", "rows"),
    [
        ("username", [["Username", "self_attention"], ["ada", "30"], ["alan", "26.5"], ["barbara", "26.75"],
                      ["chien", "27.25"]]),
        ("email", [["Email address", "self_attention"], ["ada@example.edu", "30"], ["alan@example.edu", "26.5"]]),
        ("idnumber", [["ID number", "self_attention"], ["u-ada", "30"], ["u-alan", "26.5"]]),
    ],
)  # fmt: skip
def test_export_moodle_writes_identifiers_and_points(
    course_of_four: Course, messages: Messages, by: str, rows: list[list[str]]
) -> None:
    path = export_moodle(course_of_four, ASSIGNMENT, by, "")
    assert rows_of(path) == rows
    left_out = [] if by == "username" else ["barbara and chien"]
    assert [line.split(": ")[1].split(". ")[0] for line in messages.texts] == left_out


def test_export_moodle_names_the_column_as_asked(course_of_four: Course) -> None:
    path = export_moodle(course_of_four, ASSIGNMENT, "email", "Assignment: Week 3 (Real)")
    assert rows_of(path)[0] == ["Email address", "Assignment: Week 3 (Real)"]


def test_export_moodle_leaves_out_students_who_share_an_address(course_of_four: Course, messages: Messages) -> None:
    with course_of_four.api().gradebook as gradebook:
        gradebook.update_or_create_student("alan", email="ADA@example.edu")
        gradebook.update_or_create_student("barbara", email="barbara@example.edu")
    rows = rows_of(export_moodle(course_of_four, ASSIGNMENT, "email", ""))
    assert rows[1:] == [["barbara@example.edu", "26.75"]]
    assert "ada, alan and chien" in messages.texts[0]


@pytest.mark.slow
def test_export_moodle_when_nobody_has_an_address_raises(course: Course) -> None:
    grade(course, Paper("ada"))
    with pytest.raises(CourseError, match=r"Nobody .* has a usable Email address.*grader students import"):
        export_moodle(course, ASSIGNMENT, "email", "")


def test_export_jplag_writes_a_folder_of_programs_for_each_student(
    course: Course, make_notebook: Callable[..., Any]
) -> None:
    code = "def softmax(items_in):\n    %time\n    return items_in"
    for student in ("ada", "emmy"):
        path = course.notebook(f"submitted/{student}", ASSIGNMENT)
        path.parent.mkdir(parents=True)
        nbformat.write(make_notebook(course, {3: code}), path)
    course.notebook("submitted/nobody", ASSIGNMENT).parent.mkdir(parents=True)
    link = course.notebook("submitted/link", ASSIGNMENT)
    link.parent.mkdir(parents=True)
    link.symlink_to(path)
    (stale := course.root / f"export/{ASSIGNMENT}-jplag/submissions/gone/x.py").parent.mkdir(parents=True)
    stale.write_text("")
    made = export(ASSIGNMENT, "jplag", f"export/{ASSIGNMENT}-jplag", course.root)
    program = f"{ASSIGNMENT}.py"
    assert set(files_in(made)) == {
        f"base-code/{program}", f"submissions/ada/{program}", f"submissions/emmy/{program}",
    }  # fmt: skip
    base, ada = (made / place / program for place in ("base-code", "submissions/ada"))
    defined = "def softmax(items_in):\n    pass\n    return items_in\n"
    assert (defined in ada.read_text(), defined in base.read_text()) == (True, False)
    assert {node.name for node in ast.walk(ast.parse(base.read_text())) if isinstance(node, ast.FunctionDef)} >= {
        "softmax"
    }


@pytest.mark.parametrize("step", ["submitted", "release"])
def test_export_jplag_without_anything_to_compare_says_so(step: str, course: Course) -> None:
    shutil.rmtree(course.root / step, ignore_errors=True)
    ended = grader("export", ASSIGNMENT, "--to", "jplag", folder=course.root)
    said = "Nobody has submitted" if step == "submitted" else "has not been released yet"
    assert (ended.returncode, said in ended.stderr) == (1, True)


def test_export_when_answers_wait_says_so(course_of_four: Course, messages: Messages) -> None:
    with course_of_four.api().gradebook as gradebook:
        gradebook.find_grade("test-exercise-1", ASSIGNMENT, ASSIGNMENT, "ada").needs_manual_grade = True
        gradebook.db.commit()
    export_moodle(course_of_four, ASSIGNMENT, "username", "")
    assert messages.texts == [
        "Not final: 1 answer by 1 student still to grade manually (1: ada). Grade them in the formgrader "
        "(`jupyter lab`, menu Nbgrader), then export again."
    ]


@pytest.mark.slow
def test_export_defuses_formulas_and_never_changes_identifiers(
    course: Course, messages: Messages, tmp_path: Path
) -> None:
    grade(
        course,
        Paper("=1+1"),
        Paper("ada", says={1: ["=cmd|' /C calc'!A0"]}),
        Paper("@eve"),
        Paper("-1"),
    )
    with course.api().gradebook as gradebook:
        gradebook.update_or_create_student(
            "ada", first_name="@SUM(A1)", last_name="=2+2", lms_user_id="+31", email="a@b.c"
        )
    alone = rows_of(export_canvas(course, ASSIGNMENT, None, "=title"))
    assert alone[0][-1] == "'=title"
    assert alone[2:] == [["'=2+2, @SUM(A1)", "", "", "ada", "", "30"]]
    assert "-1, =1+1 and @eve" in messages.texts[0]
    assert rows_of(export_moodle(course, ASSIGNMENT, "username", ""))[1:] == [["ada", "30"]]
    text = 'Student,ID,SIS Login ID,Section\n"=""Ada""",7,ada,+A\n=x,8,=1+1,B\n'
    filled_in = rows_of(export_canvas(course, ASSIGNMENT, roster(tmp_path, text), ""))
    assert filled_in[1:] == [['\'="Ada"', "7", "ada", "'+A", "30"]]
    assert "Not in the file from Canvas, so left out: -1 and @eve." in messages.texts
    assert messages.texts[-1].startswith("Left out, because a spreadsheet would read their identifier")
    assert "as a formula: =1+1. Enter" in messages.texts[-1]


@pytest.mark.parametrize("text", ['read ;"=1+1', 'read |" -1', 'read ; "@b'])
def test_defused_leaves_no_formula_with_other_delimiters(text: str) -> None:
    """Where a semicolon ends a cell, a quote, which is two in the file, is read as nothing."""
    line = io.StringIO()
    csv.writer(line).writerow(["ada", defused(text)])
    for delimiter in ";|":
        (cells,) = csv.reader(io.StringIO(line.getvalue()), delimiter=delimiter, skipinitialspace=True)
        assert not any(map(is_formula, cells))


@pytest.mark.parametrize("text", ["write /tmp/z;=1+1", "a; -1", "a|\t@b", "\u200b=1+1", "\ufeff@SUM(A1)", "a;＝b"])
def test_defused_leaves_no_formula_in_part_of_a_cell(text: str) -> None:
    assert [part for part in re.split("[;|]", defused(text)) if is_formula(part)] == []


@pytest.mark.parametrize("text", ["Lovelace, Ada", "2: not scaled; 7: softmax along rows", "a-b", "x = 1; y"])
def test_defused_leaves_other_texts(text: str) -> None:
    assert defused(text) == text


@pytest.mark.parametrize(
    ("value", "text"),
    [(30.0, "30"), (26.5, "26.5"), (1 / 3, "0.33"), (0.0, "0"), (1e-9, "0"), (123456.0, "123456"), (10.0, "10")],
)
def test_number_writes_what_importers_accept(value: float, text: str) -> None:
    assert number(value) == text


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["report", "self_attention"], "self_attention is not graded yet. Run: grader autograde self_attention"),
        (["report", "nonsense"], "There is no assignment “nonsense”."),
        (["export", "self_attention", "--to", "moodle"], "Run: grader autograde self_attention"),
        (["export", "nonsense", "--to", "canvas"], "There is no assignment “nonsense”."),
        (["export", "self_attention", "--to", "blackboard"], "'canvas', 'moodle'"),
    ],
)
def test_export_and_report_mistakes_of_the_user_are_one_sentence(
    course: Course, arguments: list[str], words: str
) -> None:
    done = grader(*arguments, folder=course.root)
    assert done.returncode in (1, 2)
    assert words in " ".join(done.stderr.replace("│", " ").split())
    assert "Traceback" not in done.stderr


@pytest.mark.slow
def test_export_command_prints_the_path_of_the_file(course_of_four: Course, tmp_path: Path) -> None:
    arguments = ["export", ASSIGNMENT, "--to", "canvas", "--roster", str(roster(tmp_path))]
    done = grader(*arguments, folder=course_of_four.root)
    assert done.returncode == 0
    assert done.stdout == "export/self_attention-canvas.csv\n"
    assert "left out: barbara and chien" in done.stderr
