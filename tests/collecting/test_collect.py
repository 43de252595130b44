"""`grader collect`: hand-ins of each platform, known by what they contain. What is not sure waits; nothing is lost."""

from __future__ import annotations

import contextlib
import io
import json
import os
import shutil
import stat
import struct
import time
import zipfile
import zlib
from collections.abc import Callable, Mapping
from datetime import datetime
from pathlib import Path
from typing import Any

import nbformat
import pytest

from grader.collecting import contents, files, folders, identifying, placing
from grader.collecting.choosing import ChosenUpload
from grader.collecting.collect import CollectOptions, Decision, collect
from grader.collecting.students import Roster, StudentReference
from grader.collecting.submission_times import SubmissionTimes
from grader.collecting.uploads import Upload
from grader.course.folder import Course
from grader.errors import CourseError
from grader.gradebook.due_dates import LATE_FILE
from grader.gradebook.settling import warn_of_unknown_lateness
from grader.host import scratch
from grader.model.label import Label
from support.command_line import Ended
from support.command_line import grader as run_grader
from support.observers import Messages
from support.snapshots import files_in

pytestmark = pytest.mark.slow

ASSIGNMENT = "self_attention"
NOTEBOOK = f"{ASSIGNMENT}.ipynb"
STUDENTS = """\
id,name,email
ada,Ada Lovelace,ada@example.edu
emmy,Emmy Noether,emmy@example.edu
zoë,Zoë O'Neil,z@example.edu
"""
MOODLE = "Ada Lovelace_101_assignsubmission_file_"
Notebook = Callable[..., bytes]


@pytest.fixture(scope="module")
def taught(new_course: Callable[[], Course]) -> Course:
    """A course with a table of its students. What is collected is taken away after each test."""
    course = new_course()
    (course.root / "students.csv").write_text(STUDENTS)
    return course


@pytest.fixture
def class_of(taught: Course) -> Any:
    yield taught
    shutil.rmtree(taught.root / "submitted", ignore_errors=True)


@pytest.fixture(scope="module")
def notebook(taught: Course, make_notebook: Callable[..., Any], solved: dict[Label, str]) -> Notebook:
    """`notebook(3, 4)`: with these exercises solved, as bytes."""

    def make(*numbers: int, assignment: str = ASSIGNMENT, mark: str = "") -> bytes:
        made = make_notebook(taught, {number: solved[number] for number in numbers}, assignment)
        made.cells.append(nbformat.v4.new_markdown_cell(f"mine {mark}", id="mine"))
        text: str = nbformat.writes(made)
        return text.encode()

    return make


def zipped(held: Mapping[str, bytes]) -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in held.items():
            archive.writestr(name, content)
    return file.getvalue()


def a_zip(course: Course, held: Mapping[str, bytes], name: str = "all.zip") -> Path:
    path = course.root.parent / name
    path.write_bytes(zipped(held))
    return path


def a_folder(place: Path, held: Mapping[str, bytes]) -> Path:
    for name, content in held.items():
        (place / name).parent.mkdir(parents=True, exist_ok=True)
        (place / name).write_bytes(content)
    return place


def decided(course: Course, *sources: Path, **wanted: Any) -> list[Decision]:
    table = course.root / "students.csv"
    return list(collect(course, ASSIGNMENT, sources, CollectOptions(**{"students": table, **wanted})))


def outcomes(decisions: list[Decision]) -> dict[str, str]:
    return {decision.student or decision.source: decision.outcome for decision in decisions}


def placed(course: Course, student: str = "ada") -> dict[str, bytes]:
    return files_in(course.root / "submitted" / student / ASSIGNMENT)


def why(decisions: list[Decision]) -> str:
    return "; ".join(said for one in decisions if one.waits for said in one.notes)


# --- platforms -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("names", "students"),
    [
        (["Ada Lovelace_101_assignsubmission_file_/x.ipynb", "Emmy Noether_102_assignsubmission_file_/a/b.ipynb"], 2),
        (["Ada Lovelace_101_assignsubmission_file/x.ipynb"], 1),
        (["Ada Lovelace_101_assignsubmission_file_x.ipynb", "Zoë ONeil_103_assignsubmission_file_x.ipynb"], 2),
        (
            ["all/Ada Lovelace_101_assignsubmission_file_/x.ipynb", "all/ADA lovelace_101_assignsubmission_file_/y.py"],
            1,
        ),
        (["lovelaceada_123_456_self_attention-1.ipynb", "oneilzoë_LATE_124_457_self_attention.ipynb"], 2),
        (["Ada Lovelace - self_attention.ipynb", "self_attention_EMMY.ipynb", "zoe\u0308 (2).ipynb"], 3),
        (["ada/self_attention.ipynb", "Emmy Noether/week/x.ipynb", "Z@example.edu/x.ipynb"], 3),
        (["all/ada.ipynb", "all/emmy.ipynb"], 2),
        (["ada.zip", "emmy"], 2),
    ],
)
@pytest.mark.parametrize("as_zip", [True, False])
def test_collect_by_names_of_each_platform_finds_students(
    names: list[str], students: int, as_zip: bool, class_of: Course, notebook: Notebook, tmp_path: Path
) -> None:
    content = {name: notebook(3, mark=name.split(".")[0]) for name in names if not name.endswith(".py")}
    held = {name: zipped({"x.ipynb": one}) if name.endswith((".zip", "emmy")) else one for name, one in content.items()}
    found = decided(class_of, a_zip(class_of, held) if as_zip else a_folder(tmp_path / "all", held))
    assert why(found) == ""
    assert set(outcomes(found)) <= {"ada", "emmy", "zoë"}
    assert {one.outcome for one in found} == {"new"}
    assert len(found) == students
    for one in found:
        assert placed(class_of, one.student)[NOTEBOOK] in content.values()
    assert len({placed(class_of, one.student)[NOTEBOOK] for one in found}) == students


LATE = {"lovelaceada_LATE_1_2_x.ipynb": 3, "noetheremmy_2_3_x.ipynb": 4}


def test_collect_when_canvas_says_late_notes_and_keeps_it(
    class_of: Course, notebook: Notebook, messages: Messages
) -> None:
    source = a_zip(class_of, {name: notebook(number) for name, number in LATE.items()})
    said = {one.student: list(one.notes) for one in decided(class_of, source)}
    assert said == {
        "ada": ["late, as Canvas says, but not by how much: it counts as on time unless --times has the time"],
        "emmy": [],
    }  # fmt: skip
    assert placed(class_of)[LATE_FILE] == b"Canvas says that this is late, but not by how much.\n"
    assert set(placed(class_of, "emmy")) == {NOTEBOOK}
    assert outcomes(decided(class_of, source)) == {"ada": "the same is there", "emmy": "the same is there"}
    (class_of.root / "submitted/ada" / ASSIGNMENT / LATE_FILE).unlink()
    assert [one.notes[0] for one in decided(class_of, source) if one.student == "ada"] == [
        "the same, now known to be late"
    ]
    messages.texts.clear()
    warn_of_unknown_lateness(class_of, ASSIGNMENT)
    assert len(messages.texts) == 1
    assert messages.texts[0].startswith("Late by an unknown time, so there is no penalty: ada. Collect again with")
    (class_of.root / "submitted/ada" / ASSIGNMENT / "timestamp.txt").write_text("2026-11-20 10:00:00 UTC")
    warn_of_unknown_lateness(class_of, ASSIGNMENT)
    assert len(messages.texts) == 1, "it is settled"


def test_collect_of_a_students_late_file_ignores_it(class_of: Course, notebook: Notebook) -> None:
    decided(class_of, a_zip(class_of, {"ada/x.ipynb": notebook(3), f"ada/{LATE_FILE}": b"x"}))
    assert set(placed(class_of)) == {NOTEBOOK}


CANVAS_TIMES = [
    {"user_id": 1, "submitted_at": "2026-11-20T11:00:00+01:00", "late": True, "seconds_late": 3600},
    {"user_id": 2, "submitted_at": None, "late": False},
    "nonsense",
]


def test_times_from_canvas_json_are_written(class_of: Course, notebook: Notebook, tmp_path: Path) -> None:
    source = a_zip(class_of, {name: notebook(number) for name, number in LATE.items()})
    decided(class_of, source)
    times = tmp_path / "submissions.json"
    times.write_text(json.dumps(CANVAS_TIMES))
    found = {one.student: one for one in decided(class_of, source, times=times)}
    assert (found["ada"].outcome, list(found["ada"].notes)) == (
        "replaced", ["the same, now with its time", "late, as Canvas says"],
    )  # fmt: skip
    assert placed(class_of)["timestamp.txt"] == b"2026-11-20 10:00:00.000000 UTC\n"
    assert LATE_FILE not in placed(class_of)
    assert list(found["emmy"].notes) == ["submissions.json has no time for it"]


WORKSHEET = """\
Identifier,Full name,Email address,Status,Grade,"Last modified (submission)","Last modified (grade)"
Participant 101,Ada Lovelace,ada@example.edu,Submitted for grading,,"Friday, 20 November 2026, 9:15\u202fAM",-
Participant 102,Emmy Noether,emmy@example.edu,Submitted for grading,,"Freitag, 20. November 2026, 09:15",-
Participant 103,Zoë,z@example.edu,No submission,,-,-
"""


def test_times_from_moodle_worksheet_are_in_the_courses_zone(
    class_of: Course, notebook: Notebook, tmp_path: Path
) -> None:
    moodle = {
        f"{name}_assignsubmission_file_/x.ipynb": notebook(3) for name in ("Ada Lovelace_101", "Emmy Noether_102")
    }
    source = a_zip(class_of, moodle)
    times = tmp_path / "worksheet.csv"
    times.write_text(WORKSHEET, encoding="utf-8-sig")
    with pytest.raises(CourseError, match=r"a time without a time zone: write .* at the top of course.toml"):
        decided(class_of, source, times=times)
    rules = class_of.root / "course.toml"
    rules.write_text('timezone = "Europe/Berlin"')
    try:
        found = {one.student: one for one in decided(Course(class_of.root), source, times=times)}
    finally:
        rules.unlink()
    assert found["ada"].time == datetime(2026, 11, 20, 8, 15)
    assert placed(class_of)["timestamp.txt"] == b"2026-11-20 08:15:00.000000 UTC\n"
    assert list(found["emmy"].notes) == [
        "worksheet.csv says “Freitag, 20. November 2026, 09:15”, which it cannot read as a time"
    ]
    assert set(placed(class_of, "emmy")) == {NOTEBOOK}, "it is graded all the same"


@pytest.mark.parametrize(
    "text",
    ["2026-11-20T10:00:00Z", "2026-11-20 10:00:00 UTC", "2026-11-20 10:00", "November 20, 2026, 10:00 AM",
     "Friday, November 20, 2026, 10:00 AM", "20 November 2026, 10:00"],
)  # fmt: skip
def test_times_from_a_plain_table_fit_any_platform(
    text: str, class_of: Course, notebook: Notebook, tmp_path: Path
) -> None:
    times = tmp_path / "times.csv"
    times.write_text(f'id,submitted_at\nada,"{text}"\n')
    (class_of.root / "course.toml").write_text('timezone = "UTC"')
    (one,) = decided(Course(class_of.root), a_zip(class_of, {"ada/x.ipynb": notebook(3)}), times=times)
    (class_of.root / "course.toml").unlink()
    assert one.time == datetime(2026, 11, 20, 10)


@pytest.mark.parametrize(
    ("name", "text", "said"),
    [
        ("x.json", "[" * 100_000, "it is not JSON"),
        ("x.json", "{}", "nobody in it has a time"),
        ("x.csv", "id,submitted_at\nada,yesterday\n", "which it cannot read as a time"),
        ("x.csv", "nonsense", "not a table of students"),
    ],
)
def test_times_from_a_file_without_any_is_an_error(
    name: str, text: str, said: str, class_of: Course, notebook: Notebook, tmp_path: Path
) -> None:
    (tmp_path / name).write_text(text)
    with pytest.raises(CourseError, match=said):
        decided(class_of, a_zip(class_of, {"ada/x.ipynb": notebook(3)}), times=tmp_path / name)


def test_times_in_names_take_precedence_over_a_table(class_of: Course, notebook: Notebook, tmp_path: Path) -> None:
    times = tmp_path / "times.csv"
    times.write_text("id,submitted_at\nada,2026-11-25T10:00:00Z\n")
    (one,) = decided(class_of, inbound(tmp_path / "1", notebook(3), 20), times=times)
    assert one.time == datetime(2026, 11, 20, 10)


def test_times_are_found_by_an_id_that_no_roster_has(tmp_path: Path) -> None:
    table = tmp_path / "times.csv"
    table.write_text("id,submitted_at\nada,2026-11-20T10:00:00Z\n")
    times = SubmissionTimes(table, "UTC", Roster([]))
    assert times.find_time(Upload(StudentReference.of(""), [], "ada.zip"), "ada") == (datetime(2026, 11, 20, 10), "")


def test_clones_are_read_without_their_git_folders(class_of: Course, notebook: Notebook, tmp_path: Path) -> None:
    held = {
        "week1-ada/.git/config": b"x", "week1-ada/self_attention/Self_Attention.ipynb": notebook(3),
        "week1-ada/self_attention/.ipynb_checkpoints/x.ipynb": notebook(4),
        "week1-ada/README.md": b"x", "week1-ada/self_attention/own.py": b"x = 1",
        "week1-ada/release/self_attention.ipynb": class_of.notebook("release", ASSIGNMENT).read_bytes(),
        "week1-ada/other.ipynb": notebook(assignment="causal_attention"),
        "week1-kurt/.git/config": b"x", "week1-kurt/README.md": b"x",
    }  # fmt: skip
    found = decided(class_of, a_folder(tmp_path / "clones", held))
    assert outcomes(found) == {"clones/week1-kurt": "waits", "ada": "new"}
    assert placed(class_of) == {NOTEBOOK: notebook(3), "own.py": b"x = 1"}
    told = "; ".join(found[1].notes)
    assert "release/self_attention.ipynb is unchanged since the release, so it was skipped" in told
    assert "other.ipynb: it is for causal_attention" in told


def test_exchange_with_several_uploads_collects_the_newest(
    class_of: Course, notebook: Notebook, tmp_path: Path
) -> None:
    at = "2026-11-{} 10:00:00.500000 UTC"
    held = {
        f"ada+{ASSIGNMENT}+{at.format(20)}+Ab-_1/{NOTEBOOK}": notebook(3),
        f"ada+{ASSIGNMENT}+{at.format(22)}+Ab-_2/{NOTEBOOK}": notebook(3, 4),
        f"ada+{ASSIGNMENT}+{at.format(22)}+Ab-_2/timestamp.txt": b"1970-01-01 00:00:00 UTC",
        f"ada+{ASSIGNMENT}+{at.format(23)}+Ab-_3/{NOTEBOOK}": b"{",
        f"emmy+causal_attention+{at.format(22)}+Ab-_4/x.ipynb": b"",
        f"Ada Lovelace+{ASSIGNMENT}+{at.format(24)}/{NOTEBOOK}": notebook(3),
    }
    found = decided(class_of, a_folder(tmp_path / "inbound", held))
    assert [(one.student, one.outcome) for one in found] == [("", "waits"), ("ada", "waits"), ("ada", "new")]
    assert "not valid JSON" in found[1].notes[0]
    assert placed(class_of) == {NOTEBOOK: notebook(3, 4), "timestamp.txt": b"2026-11-22 10:00:00.500000 UTC\n"}


def test_exchange_folder_of_another_owner_waits(
    class_of: Course, notebook: Notebook, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    held = {f"ada+{ASSIGNMENT}+2026-11-20 10:00:00 UTC/{NOTEBOOK}": notebook(3)}
    inbound = a_folder(tmp_path / "inbound", held)
    owned(monkeypatch, ada="emmy")
    assert why(decided(class_of, inbound)) == "it claims to be from ada, but belongs to emmy on this machine"
    assert why(decided(class_of, inbound, students=None, as_named=True)) == ""
    owned(monkeypatch, ada="ada")
    assert why(decided(class_of, inbound)) == ""


def owned(monkeypatch: pytest.MonkeyPatch, **owners: str) -> None:
    """What begins with such a word and a `+` belongs to this user of the machine; root and ourselves have no name."""
    numbers = {name: 5000 + number for number, name in enumerate(sorted(set(owners.values()) - {"", "ourselves"}))}
    numbers |= {"": 0, "ourselves": os.geteuid()}
    names = {number: name for name, number in numbers.items() if not name.startswith("nobody")}
    monkeypatch.setattr(folders, "number_of_user", lambda entry: numbers[owners[entry.name.split("+")[0]]])
    monkeypatch.setattr("pwd.getpwuid", lambda number: type("User", (), {"pw_name": names[number]}))
    monkeypatch.setattr("pwd.getpwnam", lambda name: numbers[name])


@pytest.mark.parametrize(
    ("owners", "collected", "said"),
    [
        (
            {"ada": "m7", "emmy": "m7", "zoë": "zoë"},
            {"zoë"},
            "“m7” of this machine has submitted for ada and emmy. If",
        ),
        (
            {"ada": "nobody1", "emmy": "nobody1", "zoë": "nobody2"},
            {"zoë"},
            "“number 5000” of this machine has",
        ),
        (
            {"ada": "m7", "ADA": "ada", "emmy": "e1", "zoë": "z1"},
            {"emmy", "zoë"},
            "on this machine, it belongs to another user, m7",
        ),
        ({"ada": "ada", "emmy": "ada", "zoë": "z1"}, {"ada", "zoë"}, "it claims to be from emmy, but belongs to ada"),
        ({"ada": "ourselves", "emmy": "ourselves", "zoë": ""}, {"ada", "emmy", "zoë"}, ""),
    ],
)
def test_exchange_user_with_uploads_for_two_students_waits(
    owners: dict[str, str],
    collected: set[str],
    said: str,
    class_of: Course,
    notebook: Notebook,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    owned(monkeypatch, **owners)
    held = {f"{name}+{ASSIGNMENT}+2026-11-20 10:00:00 UTC/{NOTEBOOK}": notebook(3) for name in owners}
    found = decided(class_of, a_folder(tmp_path / "inbound", held))
    assert {one.student for one in found if not one.waits} == collected
    assert said in why(found)


def test_exchange_newer_upload_by_another_user_waits(
    class_of: Course, notebook: Notebook, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    days = {"a1": 20, "m7": 23}
    held = {f"ada+{ASSIGNMENT}+2026-11-{days[user]} 10:00:00 UTC/{NOTEBOOK}": notebook(3, mark=user) for user in days}
    inbound = a_folder(tmp_path / "inbound", held)
    monkeypatch.setattr(folders, "number_of_user", lambda entry: 5000 + int(entry.name[-15:-13]))
    monkeypatch.setattr("pwd.getpwuid", lambda number: type("User", (), {"pw_name": {5020: "a1", 5023: "m7"}[number]}))
    found = decided(class_of, inbound)
    two = "the user “a1” of this machine and the user “m7” of this machine have submitted for ada. If one user"
    assert two in why(found)
    assert not placed(class_of)
    monkeypatch.setattr("pwd.getpwuid", lambda number: type("User", (), {"pw_name": {5020: "ada", 5023: "m7"}[number]}))
    found = decided(class_of, inbound)
    assert "“ada” of this machine and the user “m7” of this machine have submitted for ada" in why(found)
    assert placed(class_of)[NOTEBOOK] == notebook(3, mark="a1"), "which is surely hers"


def test_exchange_with_a_file_instead_of_a_folder_waits(class_of: Course, notebook: Notebook, tmp_path: Path) -> None:
    held = {f"{name}+{ASSIGNMENT}+2026-11-20 10:00:00 UTC": notebook(3) for name in ("ada", "emmy")}
    found = decided(class_of, a_folder(tmp_path / "inbound", held))
    assert {one.outcome for one in found} <= {"new", "waits"}


def test_collect_from_a_named_platform_reads_it_as_that(class_of: Course, notebook: Notebook) -> None:
    source = a_zip(class_of, {"ada_1_2_x.ipynb": notebook(3), "emmy_1_3_x.ipynb": notebook(4)})
    as_folder = decided(class_of, source, platform="folder", as_named=True, dry_run=True)
    assert {one.student for one in as_folder} == {"ada_1_2_x", "emmy_1_3_x"}
    with pytest.raises(CourseError, match=r"There is no platform “blackboard”\. Choose one of: exchange, moodle"):
        decided(class_of, source, platform="blackboard")


# Names that a student chooses, of one who wants to be somebody else, or wants nobody to be collected.

CANVAS_TABLE = """\
Student,ID,SIS User ID,SIS Login ID,Section
"Lovelace, Ada",101,ada,ada,A
"Noether, Emmy",102,emmy,emmy,A
"Gödel, Kurt",107,kurt,kurt,A
"""
MOODLE_TABLE = """\
Identifier,Full name,Username
Participant 101,Ada Lovelace,ada
Participant 102,Emmy Noether,emmy
Participant 107,Kurt Gödel,kurt
"""


@pytest.mark.parametrize(
    ("name", "whose"),
    [
        ("Kurt Gödel_107_assignsubmission_file_Emmy Noether_102_assignsubmission_file_x.ipynb", "kurt"),
        ("Kurt Gödel_107_assignsubmission_file_/Emmy Noether_102_assignsubmission_file_x.ipynb", "kurt"),
        ("Kurt Gödel_107_assignsubmission_file_+self_attention+2026-11-20 10:00:00 UTC.ipynb", "kurt"),
        ("Kurt Gödel_107_assignsubmission_file_noetheremmy_102_9_x.ipynb", "kurt"),
        (f"Kurt Gödel_107_assignsubmission_file_{'x' * 240}.ipynb", ""),
        ("Kurt Gödel_107_assignsubmission_file_\u202ex.ipynb", ""),
        ("Emmy Noether_107_assignsubmission_file_x.ipynb", ""),
        ("Kurt Gödel_102_assignsubmission_file_x.ipynb", ""),
        ("Nobody_102_assignsubmission_file_x.ipynb", ""),
        ("Emmy Noether_9_assignsubmission_file_x.ipynb", ""),
        ("Emmy Noether_１０２_assignsubmission_file_x.ipynb", ""),
        ("Emmy_Noether_102_assignsubmission_file_x.ipynb", ""),
        ("Emmy Noether_assignsubmission_file_x.ipynb", ""),
    ],
)
@pytest.mark.parametrize("as_named", [True, False])
def test_moodle_names_with_imitations_identify_by_moodles_part(
    name: str, whose: str, as_named: bool, class_of: Course, notebook: Notebook
) -> None:
    table = class_of.root.parent / "moodle.csv"
    table.write_text(MOODLE_TABLE)
    held = {f"{MOODLE}x.ipynb": notebook(3), name: notebook(4)}
    found = decided(class_of, a_zip(class_of, held), students=table, platform="moodle", as_named=as_named)
    assert {one.student for one in found if not one.waits} == {"ada", whose} - {""}
    assert len(found) == 2, "and what waits is listed"


@pytest.mark.parametrize(
    ("name", "whose"),
    [
        ("gödelkurt_107_9_x.ipynb", "kurt"),
        ("gödelkurt_LATE_107_9_2_x.ipynb", "kurt"),
        ("gödelkurt_107_9_noetheremmy_102_8_x.ipynb", ""),
        ("gödelkurt_107_9_102_7_x.ipynb", ""),
        ("102_7_107_9_x.ipynb", ""),
        ("noetheremmy_102_107_9_x.ipynb", ""),
        ("_102_107_9_x.ipynb", ""),
        ("_102_9_x.ipynb", ""),
        ("noetheremmy_107_9_x.ipynb", ""),
        ("nobody_102_9_x.ipynb", ""),
        ("noetheremmy_１０２_9_x.ipynb", ""),
        ("anon_102_9_x.ipynb", ""),
    ],
)
@pytest.mark.parametrize("platform", ["", "canvas"])
def test_canvas_names_with_imitations_identify_by_canvass_part(
    name: str, whose: str, platform: str, class_of: Course, notebook: Notebook
) -> None:
    table = class_of.root.parent / "canvas.csv"
    table.write_text(CANVAS_TABLE)
    held = {"lovelaceada_101_8_x.ipynb": notebook(3), name: notebook(4)}
    found = decided(class_of, a_zip(class_of, held), students=table, platform=platform)
    assert {one.student for one in found if not one.waits} == {"ada", whose} - {""} or ("１" in name and not platform)
    assert len(found) == 2


def test_canvas_names_with_two_readings_wait_without_numbers_in_the_table(class_of: Course, notebook: Notebook) -> None:
    held = {"lovelaceada_101_8_x.ipynb": notebook(3), "noetheremmy_5_107_9_x.ipynb": notebook(4)}
    found = decided(class_of, a_zip(class_of, held), as_named=True)
    assert {one.student for one in found if not one.waits} == {"ada"}
    assert "could be from user 5 or user 107" in why(found)
    assert "Use --students with the gradebook exported from Canvas" in why(found)
    two = {"lovelaceada_101_8_x.ipynb": b"", "lovelaceada_107_9_x.ipynb": notebook(4), "noetheremmy_5_3_x": notebook(3)}
    found = decided(class_of, a_zip(class_of, two))
    assert {one.student for one in found if not one.waits} == {"emmy"}
    assert "user 101 of Canvas and user 107 of Canvas have submitted for ada. Use --students with" in why(found)


@pytest.mark.parametrize(
    ("others", "hostile", "platform"),
    [
        (["lovelaceada_101_8_x.ipynb", "noetheremmy_102_9_x.ipynb"], f"{MOODLE}x.ipynb", "canvas"),
        (["ada.ipynb", "emmy.ipynb"], f"{MOODLE}x.ipynb", ""),
        (["ada.ipynb", "emmy.ipynb"], "x_1_2_x.ipynb", ""),
        (["ada/x.ipynb", "emmy.zip", "kurt/x.ipynb"], "kurt/.git/config", ""),
        (["ada/x.ipynb", "emmy/x.ipynb"], f"zoë+{ASSIGNMENT}+2026-11-20 10:00:00 UTC/x.ipynb", ""),
        (["ada/.git/x", "ada/x.ipynb", "emmy/.git/x", "emmy/x.ipynb"], f"{MOODLE}x.ipynb", ""),
    ],
)
def test_platform_with_one_hostile_name_stays_the_same(
    others: list[str],
    hostile: str,
    platform: str,
    class_of: Course,
    notebook: Notebook,
    tmp_path: Path,
    messages: Messages,
) -> None:
    content = {name: notebook(3) if ".ipynb" in name else b"" for name in others}
    content |= {name: zipped({"x.ipynb": notebook(3)}) for name in others if name.endswith(".zip")}
    before = decided(class_of, a_folder(tmp_path / "before", content), platform=platform, dry_run=True)
    messages.texts.clear()
    source = a_folder(tmp_path / "all", {**content, hostile: notebook(4)})
    wanted = CollectOptions(class_of.root / "students.csv", platform=platform)
    found = list(collect(class_of, ASSIGNMENT, [source], wanted))
    assert {one.student for one in before if not one.waits} == {"ada", "emmy"}
    assert {one.student for one in found if not one.waits} == {"ada", "emmy"}
    assert "use --from" in messages.texts[0] or platform


def test_single_folder_is_a_students_unless_named_like_the_source(
    class_of: Course, notebook: Notebook, messages: Messages
) -> None:
    inner = {"Emmy Noether_102_assignsubmission_file_x.ipynb": notebook(3), f"{MOODLE}y.ipynb": notebook(3)}
    messages.texts.clear()
    source = a_zip(class_of, {f"mallory/{name}": content for name, content in inner.items()}, "week1-2026.zip")
    wanted = CollectOptions(class_of.root / "students.csv", dry_run=True)
    found = list(collect(class_of, ASSIGNMENT, [source], wanted))
    assert [one.outcome for one in found] == ["waits"]
    assert "use --from moodle" in messages.texts[0]
    for wrapper in ("Week1", ASSIGNMENT):
        source = a_zip(class_of, {f"{wrapper}/{name}": content for name, content in inner.items()}, "week1-2026.zip")
        assert {one.student for one in decided(class_of, source, dry_run=True)} == {"ada", "emmy"}
    source = a_zip(class_of, {"mallory/ada.ipynb": notebook(3), "mallory/emmy.ipynb": notebook(3)})
    found = list(collect(class_of, ASSIGNMENT, [source], wanted))
    assert "collect from that folder; unpack a zip file first" in messages.texts[-1]
    source = a_zip(class_of, {f"ada/{MOODLE}x.ipynb": notebook(3), f"ada/{MOODLE}y.ipynb": notebook(3)})
    found = list(collect(class_of, ASSIGNMENT, [source], wanted))
    assert {one.student for one in found} == {"ada"}
    assert messages.texts[-1].endswith("1 submission for self_attention."), "nobody is asked to read names of hers"


def test_file_named_late_is_not_read_as_a_name_from_canvas(
    class_of: Course, notebook: Notebook, tmp_path: Path
) -> None:
    source = a_folder(tmp_path / "all", {"LATE": b"", "ada/x.ipynb": notebook(3)})
    assert outcomes(decided(class_of, source)) == {"all/LATE": "waits", "ada": "new"}


def test_names_with_a_dash_do_not_identify_by_what_follows(class_of: Course, notebook: Notebook) -> None:
    held = {"Kurt - Ada Lovelace.ipynb": notebook(3), "Emmy Noether - my best.ipynb": notebook(3)}
    found = decided(class_of, a_zip(class_of, held))
    assert outcomes(found) == {"all.zip/Kurt - Ada Lovelace.ipynb": "waits", "emmy": "new"}


def test_clones_with_a_shared_beginning_wait_when_two_students_fit(
    class_of: Course, notebook: Notebook, tmp_path: Path
) -> None:
    (tmp_path / "table.csv").write_text("id\nanna-ada\nada\nanna-emmy\n")
    held = {f"week1-anna-{name}/{file}": notebook(3) for name in ("ada", "emmy") for file in ("x.ipynb", ".git/x")}
    found = decided(class_of, a_folder(tmp_path / "all", held), students=tmp_path / "table.csv")
    assert outcomes(found) == {"all/week1-anna-ada": "waits", "anna-emmy": "new"}
    assert "could be ada or anna-ada" in why(found)


def test_names_with_odd_unicode_match_the_same_student(class_of: Course, notebook: Notebook) -> None:
    held = {"Kurt/x.ipynb": notebook(3), "ｋurt/x.ipynb": notebook(4), "ADA/x.ipynb": notebook(3)}
    found = decided(class_of, a_zip(class_of, held), as_named=True)
    assert outcomes(found) == {"ada": "new", "Kurt": "new", "all.zip/ｋurt": "waits"}
    odd = {"ad\u200ba/x.ipynb": notebook(3), "\u202eada/x.ipynb": notebook(3), "ada\u200b/x.ipynb": notebook(3)}
    assert {one.student for one in decided(class_of, a_zip(class_of, odd))} == {""}


@pytest.mark.parametrize(
    "name", [" " * 60_000, "_" * 60_000, "x " * 30_000, "x+" * 30_000, "(1)" * 20_000, "1_" * 30_000]
)
def test_names_of_great_length_are_read_quickly(name: str, class_of: Course, notebook: Notebook) -> None:
    began = time.process_time()
    found = decided(class_of, a_zip(class_of, {f"{name}x": b"", "ada.ipynb": notebook(3)}))
    assert {one.student for one in found if not one.waits} == {"ada"}
    assert time.process_time() - began < 10


# --- who it is -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("table", "name"),
    [
        (
            "Identifier,Full name,Email address\nParticipant 101,A. L.,ada@example.edu\n",
            "A. L._101_assignsubmission_file_",
        ),
        (
            "Student,ID,SIS User ID,SIS Login ID,Section\n    Points Possible,,,,\nX,123,u1,ada@example.edu,A\n",
            "x_123_4_a.ipynb",
        ),
        ("id,name,section\nada@example.edu,Ada Lovelace,A\n", "ada lovelace"),
        ("First name;Last name;Username\nAda;Lovelace;ada@example.edu\n", "Lovelace, Ada"),
    ],
)
def test_students_table_from_moodle_or_canvas_identifies(
    table: str, name: str, class_of: Course, notebook: Notebook, tmp_path: Path
) -> None:
    (tmp_path / "table.csv").write_text(table)
    content = notebook(3)
    held = {name if name.endswith(".ipynb") else f"{name}/x.ipynb": content}
    found = decided(class_of, a_zip(class_of, held), students=tmp_path / "table.csv")
    assert [one.student for one in found if not one.waits] == ["ada@example.edu"]


def test_students_in_the_gradebook_are_identified(course: Course, notebook: Notebook) -> None:
    with course.api().gradebook as gradebook:
        gradebook.add_student("s1", first_name="Ada", last_name="Lovelace", email="ada@example.edu", lms_user_id="77")
    (course.root / "table.csv").write_text("id,name,email\n77,Countess,c@example.edu\n")
    held = {"Lovelace, Ada/x.ipynb": notebook(3), "c@example.edu/x.ipynb": notebook(3)}
    (one,) = decided(course, a_zip(course, held), students=course.root / "table.csv")
    assert (one.student, one.outcome) == ("s1", "new"), "the table's line is of the same student"


def test_student_id_with_a_path_in_it_waits(course: Course, notebook: Notebook) -> None:
    with course.api().gradebook as gradebook:
        gradebook.add_student("../../evil", first_name="Ada", last_name="Lovelace")
    found = decided(course, a_zip(course, {f"{MOODLE}/x.ipynb": notebook(3)}), students=None)
    assert "is not a folder name that nbgrader can use: ../../evil" in why(found)
    assert not (course.root / "submitted").exists()


def test_students_that_are_unknown_or_ambiguous_wait(class_of: Course, notebook: Notebook) -> None:
    held = {name: notebook(3) for name in ("ad/x.ipynb", "ada l./x.ipynb", "Ada - Emmy.ipynb", NOTEBOOK)}
    source = a_zip(class_of, held)
    found = decided(class_of, source)
    assert [one.notes[0] for one in found] == [
        "no student is known as “ad”",
        "no student is known as “ada l.”",
        "“Ada - Emmy” could be ada or emmy",
        "no student is known as “self_attention”",
    ]
    assert not (class_of.root / "submitted").exists()
    assert outcomes(decided(class_of, source, as_named=True)) == {
        "ad": "new", "ada l.": "new", "all.zip/Ada - Emmy.ipynb": "waits", f"all.zip/{NOTEBOOK}": "waits",
    }  # fmt: skip


def test_platform_number_equal_to_another_students_id_waits(
    class_of: Course, notebook: Notebook, tmp_path: Path
) -> None:
    (tmp_path / "table.csv").write_text("id,name\n101,Kurt Gödel\n")
    moodle = a_zip(class_of, {f"{MOODLE}/x.ipynb": notebook(3)}, "moodle.zip")
    found = decided(class_of, moodle, students=tmp_path / "table.csv", as_named=True)
    assert why(found) == "no student is known as “Ada Lovelace (101)”, and another student is called 101"
    canvas = a_zip(class_of, {"kurt_101_4_x.ipynb": notebook(3)}, "canvas.zip")
    found = decided(class_of, moodle, canvas, as_named=True, students=None)
    assert outcomes(found) == {"canvas.zip/kurt_101_4_x.ipynb": "waits", "101": "new"}
    odd = a_zip(class_of, {"a[b]/x.ipynb": notebook(3)})
    assert "is not a folder name that nbgrader can use" in why(decided(class_of, odd, as_named=True))


def test_students_with_the_same_name_wait(class_of: Course, notebook: Notebook, tmp_path: Path) -> None:
    (tmp_path / "table.csv").write_text("id,name\na1,Ada Lovelace\na2,ADA LOVELACE\n")
    found = decided(class_of, a_zip(class_of, {f"{MOODLE}/x.ipynb": notebook(3)}), students=tmp_path / "table.csv")
    assert why(found) == "“Ada Lovelace (101)” could be a1 or a2"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("nonsense", "not a table of students"),
        ("id,name\n../ada,Ada\n", "cannot be a student's id"),
        ("id,email\nx,ada@example.edu\nada,q@example.edu\n", ""),
    ],
)
def test_students_table_that_is_unusable_is_an_error(text: str, said: str, class_of: Course, tmp_path: Path) -> None:
    path = tmp_path / "table.csv"
    path.write_text(text)
    source = a_zip(class_of, {})
    if said:
        with pytest.raises(CourseError, match=said):
            decided(class_of, source, students=path)
    else:
        assert decided(class_of, source, students=path) == []


# --- what it is ------------------------------------------------------------------------------------------------------


def without_ids(content: bytes) -> Any:
    made = nbformat.reads(content.decode(), as_version=4)
    for cell in made.cells:
        cell.metadata = {}
    return made


@pytest.mark.parametrize(
    "name",
    ["self_attention (1).ipynb", "Self_Attention.IPYNB", "a.ipynb.txt", "a.json", "causal_attention.ipynb", "ada"],
)
def test_notebook_with_any_file_name_is_identified(name: str, class_of: Course, notebook: Notebook) -> None:
    assert outcomes(decided(class_of, a_zip(class_of, {f"ada/{name}": notebook(3)}))) == {"ada": "new"}
    assert placed(class_of) == {NOTEBOOK: notebook(3)}


def test_zips_in_zips_are_unpacked_to_a_limit(class_of: Course, notebook: Notebook) -> None:
    inner = {"x.ipynb": notebook(3), "own.py": b"x = 1", "__MACOSX/._x.ipynb": b"junk", "data.npz": zipped({"a": b"1"})}
    content = zipped({"sub/deep.zip": zipped({"in/deeper.zip": zipped(inner)})})
    (one,) = decided(class_of, a_zip(class_of, {f"{MOODLE}/hand-in.zip": content}))
    assert (one.student, one.outcome, list(one.notes)) == ("ada", "new", []), "and nothing is said of junk"
    assert set(placed(class_of)) == {NOTEBOOK, "own.py", "data.npz"}
    deeper = {f"{MOODLE}/hand-in.zip": zipped({"a.zip": content})}
    assert why(decided(class_of, a_zip(class_of, deeper))).endswith("more than 3 zip files are nested")


def test_notebook_without_ids_is_identified_by_definitions(class_of: Course, notebook: Notebook) -> None:
    bare = without_ids(notebook(3))
    found = decided(class_of, a_zip(class_of, {"ada/x.ipynb": nbformat.writes(bare).encode()}))
    assert list(found[0].notes) == ["its cells had lost their ids, and were recognized by what they define"]
    twice = next(cell for cell in bare.cells if "def softmax(" in cell.source)
    bare.cells.append(nbformat.v4.new_code_cell(twice.source))
    source = a_zip(class_of, {"emmy/x.ipynb": nbformat.writes(bare).encode()})
    assert "the cell “exercise-3” is in it 2 times" in why(decided(class_of, source))


def test_notebook_without_ids_of_written_answers_waits(course: Course, notebook: Notebook) -> None:
    (course.root / "students.csv").write_text(STUDENTS)
    released = course.read("release", ASSIGNMENT)
    words = {"grade_id": "why", "grade": True, "solution": True, "locked": False, "points": 1, "schema_version": 3}
    released.cells.append(nbformat.v4.new_markdown_cell("YOUR ANSWER HERE", metadata={"nbgrader": words}))
    nbformat.write(released, course.notebook("release", ASSIGNMENT))
    bare = nbformat.writes(without_ids(notebook(3))).encode()
    assert "the cell “why” cannot be recognized without its id" in why(
        decided(course, a_zip(course, {"ada/x.ipynb": bare}))
    )


@pytest.mark.parametrize("name", ["x.py", "X.PY.txt"])
def test_script_waits_and_asks_for_the_notebook(name: str, class_of: Course) -> None:
    source = a_zip(class_of, {f"ada/{name}": b"# In[1]:\n\n\ndef softmax(x):\n    return x\n"})
    asked = "Ask for the notebook itself, which ends in .ipynb"
    assert why(decided(class_of, source)) == f"there is no notebook in it: ada/{name}. {asked}"


def test_untouched_notebook_is_skipped_and_two_different_ones_wait(class_of: Course, notebook: Notebook) -> None:
    worked_on = {"zoë/x.ipynb": notebook(), "zoë/y.ipynb": notebook(3), "zoë/copy.ipynb": notebook(3)}
    (decision,) = decided(class_of, a_zip(class_of, worked_on))
    assert list(decision.notes) == ["zoë/x.ipynb is unchanged since the release, so it was skipped"]
    assert b"torch.exp" in placed(class_of, "zoë")[NOTEBOOK]
    two = {"emmy/x.ipynb": notebook(3), "emmy/x (1).ipynb": notebook(3, 4)}
    found = decided(class_of, a_zip(class_of, two))
    assert "2 different notebooks, with no times to show which is the newest: " in why(found)
    assert not placed(class_of, "emmy")


@pytest.mark.parametrize("cut", [0.3, 0.9, 0.999])
def test_notebook_that_was_cut_off_waits(cut: float, class_of: Course, notebook: Notebook) -> None:
    whole = notebook(3)
    part = whole[: int(len(whole) * cut)].rstrip(b"}\n ")
    untouched = class_of.notebook("release", ASSIGNMENT).read_bytes()
    held = {
        "ada/a.ipynb": part, "emmy/all.zip": zipped({"b.ipynb": part, "given/b.ipynb": untouched}),
        "zoë/c.ipynb": whole, "zoë/cut.ipynb": part,
    }  # fmt: skip
    found = {one.student: one for one in decided(class_of, a_zip(class_of, held))}
    assert {student: one.outcome for student, one in found.items()} == {"ada": "waits", "emmy": "waits", "zoë": "new"}
    said = "it is not a complete notebook: it is not valid JSON, and ends in the middle, so the student has to "
    said += "submit it again"
    assert found["ada"].notes[0] == f"ada/a.ipynb: {said}"
    assert found["emmy"].notes[0] == f"emmy/all.zip/b.ipynb: {said}"
    assert list(found["zoë"].notes) == [f"zoë/cut.ipynb: {said}"]


def large(content: bytes, megabytes: int, where: str) -> bytes:
    """With so much in it that running it again would make anew, or that is the student's."""
    made = nbformat.reads(content.decode(), as_version=4)
    more = "x" * (megabytes * 2**20)
    if where == "output":
        cell = next(cell for cell in made.cells if cell.cell_type == "code")
        cell.outputs = [nbformat.v4.new_output("display_data", {"image/png": more})]
    elif where == "attachment":
        made.cells.append(nbformat.v4.new_markdown_cell("![](a)", attachments={"a": {"image/png": more}}))
    elif where == "widgets":
        made.metadata["widgets"] = {"state": more}
    else:
        made.cells.append(nbformat.v4.new_code_cell(f"# {more}"))
    text: str = nbformat.writes(made)
    return text.encode()


@pytest.mark.parametrize(
    ("megabytes", "where", "said"),
    [
        (21, "output", ""),
        (21, "attachment", ""),
        (21, "widgets", ""),
        (61, "output", "it is larger than 60 MB. Ask the student to clear all outputs"),
        (21, "code", "it is larger than 20 MB, even without its outputs. Ask the student to clear all outputs"),
    ],
)
def test_notebook_with_large_outputs_is_collected_without_them(
    megabytes: int, where: str, said: str, class_of: Course, notebook: Notebook, solved: dict[Label, str]
) -> None:
    found = decided(class_of, a_zip(class_of, {"ada/x.ipynb": large(notebook(3), megabytes, where)}))
    if said:
        assert why(found) == f"ada/x.ipynb: {said}"
        return
    assert [(one.outcome, list(one.notes)) for one in found] == [
        ("new", ["ada/x.ipynb: it is larger than 20 MB, so it was collected without its outputs"])
    ]
    made = nbformat.reads(placed(class_of)[NOTEBOOK].decode(), as_version=4)
    assert [cell.source for cell in made.cells if cell.get("id") == "mine"] == ["mine "]
    assert solved[3].strip() in [cell.source.strip() for cell in made.cells]
    assert len(placed(class_of)[NOTEBOOK]) < 2**20


def test_upload_of_two_thousand_notebooks_waits_and_reads_only_some(
    class_of: Course, notebook: Notebook, monkeypatch: pytest.MonkeyPatch
) -> None:
    looks: list[str] = []
    identify = identifying.Identifier.identify

    def identify_and_count(identifier: identifying.Identifier, file: contents.UploadedFile) -> Any:
        looks.append(file.path)
        return identify(identifier, file)

    monkeypatch.setattr(identifying.Identifier, "identify", identify_and_count)
    many = {f"{number}.ipynb": b"{" for number in range(1999)}
    plain = {f"{number}.py": b"x = 1\n" for number in range(150)}
    held = {
        "ada/all.zip": zipped(many),
        "emmy/x.ipynb": notebook(3),
        "zoë/all.zip": zipped({**plain, "x.ipynb": notebook(3)}),
    }
    found = decided(class_of, a_zip(class_of, held))
    assert outcomes(found) == {"ada": "waits", "emmy": "new", "zoë": "new"}
    assert why(found) == "it holds more than 100 notebooks. Ask for just the notebook"
    assert len([place for place in looks if place.startswith("ada")]) == 101


def test_zips_in_a_zip_share_its_limit_of_files(class_of: Course, notebook: Notebook) -> None:
    inner = zipped({str(number): b"" for number in range(1500)})
    found = decided(
        class_of, a_zip(class_of, {"ada/all.zip": zipped({"1.zip": inner, "2.zip": inner, "x.ipynb": notebook(3)})})
    )
    assert [one.outcome for one in found] == ["new"]
    assert "2.zip: it would bring the submission to more than 2000 files" in found[0].notes[0]


def test_notebook_of_another_assignment_or_without_cells_waits(class_of: Course, notebook: Notebook) -> None:
    held = {
        f"ada/{NOTEBOOK}": notebook(assignment="causal_attention"), "emmy/report.pdf": b"%PDF",
        f"zoë/{NOTEBOOK}": json.dumps({"cells": [{"cell_type": "code", "source": "1"}], "nbformat": 4}).encode(),
    }  # fmt: skip
    found = decided(class_of, a_zip(class_of, held))
    said = {one.student: "; ".join(one.notes) for one in found}
    assert said["ada"] == f"ada/{NOTEBOOK}: it is for causal_attention"
    assert said["emmy"] == "there is no notebook in it: emmy/report.pdf"
    assert "no cell has an id of this course" in said["zoë"]


def test_assignment_with_two_notebooks_is_collected_as_one(course: Course, notebook: Notebook) -> None:
    (course.root / "students.csv").write_text(STUDENTS)
    second = notebook(assignment="causal_attention")
    for folder in ("source", "release"):
        (course.folder(folder) / ASSIGNMENT / "second.ipynb").write_bytes(second)
        shutil.rmtree(course.folder(folder) / "causal_attention")
    both = {"ada/1.ipynb": notebook(3), "ada/more/2.ipynb": second, "ada/more/own.py": b"", "emmy/1.ipynb": notebook(3)}
    found = {one.student: list(one.notes) for one in decided(course, a_zip(course, both))}
    assert found == {"ada": [], "emmy": ["without second.ipynb"]}
    assert set(placed(course)) == {NOTEBOOK, "second.ipynb", "own.py"}
    assert set(placed(course, "emmy")) == {NOTEBOOK}


def test_module_beside_a_notebook_is_collected(class_of: Course, notebook: Notebook) -> None:
    (decision,) = decided(class_of, a_zip(class_of, {"ada/x.ipynb": notebook(3), "ada/own.py": b"# %%\nx = 1\n"}))
    assert list(decision.notes) == []
    assert set(placed(class_of)) == {NOTEBOOK, "own.py"}


def test_notebook_with_ids_of_two_assignments_is_identified_by_cells(course: Course, notebook: Notebook) -> None:
    shutil.copytree(course.root / "source" / ASSIGNMENT, course.root / "source/week2")
    (course.root / "source/week2" / NOTEBOOK).rename(course.root / "source/week2/week2.ipynb")
    target = course.notebook("release", "week2")
    target.parent.mkdir()
    other = nbformat.reads(notebook().decode(), as_version=4)
    for cell in other.cells:
        cell.source = cell.source.replace("def softmax", "def soft_max")
    nbformat.write(other, target)
    (course.root / "students.csv").write_text(STUDENTS)
    assert outcomes(decided(course, a_zip(course, {"ada/x.ipynb": notebook(3)}))) == {"ada": "new"}
    of_week2 = notebook().replace(b"def softmax", b"def soft_max")
    assert "it is for week2" in why(decided(course, a_zip(course, {"ada/x.ipynb": of_week2})))
    shutil.copyfile(course.notebook("release", ASSIGNMENT), target)
    found = decided(course, a_zip(course, {"emmy/x.ipynb": notebook(3)}))
    assert "it could be self_attention/self_attention or week2/week2" in why(found)


# --- what is there already -------------------------------------------------------------------------------------------


def inbound(place: Path, notebook: bytes, day: int) -> Path:
    return a_folder(place, {f"ada+{ASSIGNMENT}+2026-11-{day} 10:00:00 UTC/{NOTEBOOK}": notebook})


def test_collect_again_replaces_only_older_submissions(class_of: Course, notebook: Notebook, tmp_path: Path) -> None:
    first, second, third = (notebook(3, mark=str(number)) for number in range(3))
    assert outcomes(decided(class_of, inbound(tmp_path / "1", first, 20))) == {"ada": "new"}
    (class_of.root / "submitted/ada" / ASSIGNMENT / "old.txt").write_text("of the first hand-in")
    assert outcomes(decided(class_of, inbound(tmp_path / "2", second, 22))) == {"ada": "replaced"}
    assert set(placed(class_of)) == {NOTEBOOK, "timestamp.txt"}
    assert outcomes(decided(class_of, inbound(tmp_path / "3", third, 21))) == {"ada": "a newer one is there"}
    assert outcomes(decided(class_of, inbound(tmp_path / "2", second, 22))) == {"ada": "the same is there"}
    assert placed(class_of)[NOTEBOOK] == second
    (class_of.root / "submitted/ada" / ASSIGNMENT / "put-here-by-hand.ipynb").write_text("{}")
    (one,) = decided(class_of, inbound(tmp_path / "2", second, 22))
    assert (one.outcome, list(one.notes)) == ("the same is there", ["with the same time"])
    assert [path.name for path in (class_of.root / "submitted/ada").iterdir()] == [ASSIGNMENT]


def test_collect_again_without_times_needs_the_newer_option(class_of: Course, notebook: Notebook) -> None:
    decided(class_of, a_zip(class_of, {"ada/x.ipynb": notebook(3)}))
    assert outcomes(decided(class_of, a_zip(class_of, {"ada/x.ipynb": notebook(3)}))) == {"ada": "the same is there"}
    again = a_zip(class_of, {"ada/x.ipynb": notebook(3, 4)})
    assert "no times to show which is newer: if this one is, use --newer" in why(decided(class_of, again))
    assert placed(class_of)[NOTEBOOK] == notebook(3)
    time = class_of.root / "submitted/ada" / ASSIGNMENT / "timestamp.txt"
    os.mkfifo(time)
    assert "no times to show" in why(decided(class_of, again)), "and nobody waits for what comes out of it"
    assert outcomes(decided(class_of, again, newer=True)) == {"ada": "replaced"}
    assert placed(class_of)[NOTEBOOK] == notebook(3, 4)


def test_collect_again_with_a_time_adds_it(class_of: Course, notebook: Notebook, tmp_path: Path) -> None:
    decided(class_of, a_zip(class_of, {"ada/x.ipynb": notebook(3)}))
    (one,) = decided(class_of, inbound(tmp_path / "1", notebook(3), 20))
    assert (one.outcome, list(one.notes)) == ("replaced", ["the same, now with its time"])
    assert placed(class_of)["timestamp.txt"] == b"2026-11-20 10:00:00.000000 UTC\n"
    other = inbound(tmp_path / "2", notebook(4), 22)
    (class_of.root / "submitted/ada" / ASSIGNMENT / "timestamp.txt").write_text("1" * 1000)
    assert "no times to show which is newer" in why(decided(class_of, other))


def test_uploads_from_several_sources_wait_when_they_differ(class_of: Course, notebook: Notebook) -> None:
    one, same, other = (
        a_zip(class_of, {f"{MOODLE}/x.ipynb": notebook(number)}, f"{place}.zip")
        for place, number in enumerate((3, 3, 4))
    )
    found = decided(class_of, one, other)
    assert [one.waits for one in found] == [True, True]
    assert "one of 2 different submissions by this student" in why(found)
    assert outcomes(decided(class_of, one, same)) == {"ada": "new"}
    timed = inbound(class_of.root.parent / "inbound", notebook(3), 20)
    assert [one.waits for one in decided(class_of, timed, other)] == [True, True], "one has a time, and one has none"


@pytest.mark.parametrize("at_once", [True, False])
def test_put_when_cut_at_any_moment_loses_nothing(
    at_once: bool, class_of: Course, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each step that writes is the last one once; what comes next then ends as if nothing had been cut off."""
    if not at_once:
        monkeypatch.setattr(scratch, "exchange", lambda *_: False)
    old, new = (a_choice(number, f"data/{number}.txt") for number in (1, 2))
    place = placing.SubmissionFolder(class_of, "ada", ASSIGNMENT)
    place.put(old)
    before = placed(class_of)
    wanted = {NOTEBOOK: b"2", "own.py": b"2", "data/2.txt": b"2", "timestamp.txt": b"2026-11-02 00:00:00.000000 UTC\n"}
    moments = 0
    while moments < 100:
        with monkeypatch.context() as patch, contextlib.suppress(KeyboardInterrupt):
            cut_after(moments, patch)
            place.put(new)
            break
        moments += 1
        if at_once:
            assert placed(class_of) in (before, wanted), "there is always one, and it is whole"
        placing.recover(class_of, ASSIGNMENT)
        assert placed(class_of) in (before, wanted)
        assert [path.name for path in place.path.parent.iterdir()] == [ASSIGNMENT]
        place.put(old)
    assert placed(class_of) == wanted
    assert 10 <= moments < 100


def a_choice(number: int, *more: str) -> ChosenUpload:
    content = str(number).encode()
    upload = Upload(StudentReference.of("ada"), (), "", datetime(2026, 11, number))
    return ChosenUpload(upload, {ASSIGNMENT: content}, dict.fromkeys(("own.py", *more), content), ())


def test_collect_after_a_cut_cleans_up(class_of: Course, notebook: Notebook) -> None:
    decided(class_of, a_zip(class_of, {"ada/x.ipynb": notebook(3)}))
    place = class_of.root / "submitted/ada" / ASSIGNMENT
    place.rename(place.with_name(f".{ASSIGNMENT}.old"))
    assert decided(class_of, a_zip(class_of, {}), dry_run=True) == []
    assert not place.exists()
    assert decided(class_of, a_zip(class_of, {})) == []
    assert placed(class_of) == {NOTEBOOK: notebook(3)}


def cut_after(number: int, patch: pytest.MonkeyPatch) -> None:
    """The next step that writes, after so many, is not done any more."""
    left = [number]

    def counted(real: Callable[..., Any]) -> Callable[..., Any]:
        def step(*arguments: Any, **named: Any) -> Any:
            left[0] -= 1
            if left[0] < 0:
                raise KeyboardInterrupt
            return real(*arguments, **named)

        return step

    for owner, name in (
        (Path, "mkdir"),
        (Path, "write_bytes"),
        (Path, "rename"),
        (scratch, "exchange"),
        (os, "unlink"),
    ):
        patch.setattr(owner, name, counted(getattr(owner, name)))


# --- what is hostile -------------------------------------------------------------------------------------------------


def with_ada(class_of: Course, notebook: Notebook, make: Callable[[zipfile.ZipFile], None]) -> list[Decision]:
    """Something hostile of emmy's beside an honest hand-in of ada's, which is collected whatever happens."""
    path = class_of.root.parent / "hostile.zip"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        make(archive)
        archive.writestr("ada/x.ipynb", notebook(3))
    found = decided(class_of, path)
    assert {one.student: one.outcome for one in found}["ada"] == "new"
    assert [path.name for path in (class_of.root / "submitted").iterdir()] == ["ada"]
    return found


def entry(name: str, mode: int = 0) -> zipfile.ZipInfo:
    info = zipfile.ZipInfo(name)
    info.external_attr = mode << 16
    return info


@pytest.mark.parametrize(
    ("name", "mode", "said"),
    [
        ("emmy/../../../evil.ipynb", 0, "its path leads elsewhere"),
        ("/emmy/evil.ipynb", 0, "its path leads elsewhere"),
        ("emmy\\..\\..\\evil.ipynb", 0, "its path leads elsewhere"),
        ("emmy/x.ipynb", stat.S_IFLNK | 0o777, "it is a link"),
        ("emmy/x.ipynb", stat.S_IFCHR | 0o666, "it is not a file"),
        ("emmy/\x1b[31mx.ipynb", 0, "its name is too long, or has characters that cannot be shown"),
        (f"emmy/{'x' * 300}.ipynb", 0, "its name is too long"),
        (f"emmy/{'d/' * 30}x.ipynb", 0, "it is in too many nested folders"),
    ],
)
def test_zip_with_odd_members_notes_them_and_writes_none(
    name: str, mode: int, said: str, class_of: Course, notebook: Notebook
) -> None:
    before = {path for path in class_of.root.parent.rglob("*") if "submitted" not in path.parts}
    found = with_ada(class_of, notebook, lambda archive: archive.writestr(entry(name, mode), notebook(4)))
    assert said in why(found)
    assert "\x1b" not in why(found)
    after = {path for path in class_of.root.parent.rglob("*") if "submitted" not in path.parts}
    assert {path.name for path in after - before} <= {"hostile.zip"}


def test_zip_bomb_is_not_unpacked(class_of: Course, notebook: Notebook, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(contents, "MAX_BYTES", 2**20)
    bomb = zipped({f"{number}.ipynb": bytes(2**20 - 1) for number in range(9)})
    found = with_ada(class_of, notebook, lambda archive: archive.writestr("emmy/bomb.zip", bomb))
    assert "bomb.zip/1.ipynb: it would bring the submission to more than" in why(found)


def test_zip_with_a_file_over_the_limit_is_not_unpacked(
    class_of: Course, notebook: Notebook, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(contents, "MAX_BYTES", 2**20)
    found = with_ada(class_of, notebook, lambda archive: archive.writestr("emmy/x.ipynb", bytes(2**21)))
    assert why(found).startswith("emmy/x.ipynb: it would bring the submission to more than")


def test_notebook_is_read_before_other_files(
    class_of: Course, notebook: Notebook, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(contents, "MAX_BYTES", len(notebook(3)) + 100)
    (one,) = decided(class_of, a_zip(class_of, {"ada/a.bin": bytes(1000), "ada/x.ipynb": notebook(3)}))
    assert (one.outcome, one.notes[0].split(":")[0]) == ("new", "ada/a.bin")


def test_zip_with_false_sizes_gives_no_more_than_it_says(class_of: Course, notebook: Notebook) -> None:
    honest = zipped({"x.ipynb": bytes(2**20)})
    lies = honest.replace(struct.pack("<L", 2**20), struct.pack("<L", 10))
    assert lies != honest
    (file,) = contents.list_inner(lies, (), "")
    with pytest.raises(files.Refused):
        file.read(100)
    found = with_ada(class_of, notebook, lambda archive: archive.writestr("emmy/lies.zip", lies))
    assert "lies.zip/x.ipynb: it is damaged" in why(found)


def test_damaged_files_count_toward_the_limit(
    class_of: Course, notebook: Notebook, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A small zip may hold a thousand files of a hundred megabytes, of which each is seen to be damaged at its end."""
    monkeypatch.setattr(contents, "MAX_BYTES", 2**20)
    whole = zipped({f"{number}.csv": bytes(2**19) for number in range(4)})
    damaged = whole.replace(struct.pack("<L", zlib.crc32(bytes(2**19))), bytes(4))
    found = with_ada(class_of, notebook, lambda archive: archive.writestr("emmy/x.zip", damaged))
    assert "x.zip/0.csv: it is damaged" in why(found)
    assert "x.zip/1.csv: it would bring the submission to more than" in why(found)


def test_zip_with_an_endless_table_of_contents_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    many = zipped({str(number): b"" for number in range(100)})
    assert len(contents.list_inner(many, (), "")) == 100
    monkeypatch.setattr(contents, "MAX_INNER_TABLE", 4000)
    with pytest.raises(files.Refused, match="too many files"):
        contents.list_inner(many, (), "")


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"PK\3\4 no zip at all", "it is not a zip file, or it is damaged"),
        (b"nothing", "it is not a zip file"),
        (zipped({str(number): b"" for number in range(contents.MAX_FILES + 1)}), "more than 2000 files"),
        (zipped({"x.ipynb": b"[" * 100_000}), "not valid JSON"),
        (zipped({"x.ipynb": b"{}"}), "no cells"),
        (zipped({"x.ipynb": b""}), "it is empty"),
        (zipped({"x.ipynb": b'{"cells": [' + b"[]," * 2**20 + b"[]]}"}), "too many parts"),
    ],
)
def test_file_that_is_unreadable_is_noted(content: bytes, said: str, class_of: Course, notebook: Notebook) -> None:
    assert said in why(with_ada(class_of, notebook, lambda archive: archive.writestr("emmy/all.zip", content)))


def test_zip_that_is_encrypted_is_noted(class_of: Course, notebook: Notebook) -> None:
    locked = bytearray(zipped({"x.ipynb": notebook(4)}))
    for start, flags in ((b"PK\3\4", 6), (b"PK\1\2", 8)):
        locked[locked.index(start) + flags] |= 1
    found = with_ada(class_of, notebook, lambda archive: archive.writestr("emmy/locked.zip", bytes(locked)))
    assert "it is encrypted" in why(found)


def test_zip_with_another_compression_is_noted(class_of: Course, notebook: Notebook) -> None:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_LZMA) as archive:
        archive.writestr("x.ipynb", notebook(4))
    found = with_ada(class_of, notebook, lambda archive: archive.writestr("emmy/other.zip", file.getvalue()))
    assert "its compression method is not supported" in why(found)


def test_folder_with_links_is_not_left(class_of: Course, notebook: Notebook, tmp_path: Path) -> None:
    secret = tmp_path / "secret.ipynb"
    secret.write_bytes(notebook(3))
    source = a_folder(tmp_path / "all", {"ada/x.ipynb": notebook(3), "emmy/x.txt": b"", "zoë/x.txt": b""})
    (source / "emmy/x.ipynb").symlink_to(secret)
    (source / "kurt").symlink_to(source / "ada")
    (source / "zoë/x.ipynb").hardlink_to(secret)
    os.mkfifo(source / "ada/pipe.ipynb")
    with (source / "ada/huge").open("wb") as file:
        file.truncate(2**40)
    found = {one.student: one for one in decided(class_of, source)}
    assert list(found["emmy"].notes) == ["emmy/x.ipynb: it is a link"]
    assert list(found["zoë"].notes) == ["zoë/x.ipynb: it is a hard link to another file"]
    assert found[""].waits
    assert set(found["ada"].notes) == {
        "ada/pipe.ipynb: it is not a file",
        "ada/huge: it would bring the submission to more than 100 MB",
    }
    assert placed(class_of) == {NOTEBOOK: notebook(3)}


def test_folder_with_too_many_levels_is_noted(class_of: Course, notebook: Notebook, tmp_path: Path) -> None:
    deep = "/".join("d" * 30)
    source = a_folder(tmp_path / "all", {"ada/x.ipynb": notebook(3), f"emmy/{deep}/x.ipynb": notebook(3)})
    found = {one.student: one for one in decided(class_of, source)}
    assert found["ada"].outcome == "new"
    assert "it is in too many nested folders" in found["emmy"].notes[0]


def test_folder_with_too_many_entries_is_noted_and_hides_no_others(
    class_of: Course, notebook: Notebook, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nobody's folder hides the others', whatever names come first, and whether one folder holds them all."""
    monkeypatch.setattr(folders, "MAX_ENTRIES", 20)
    held = {f"ada/{number:02}.txt": b"" for number in range(30)} | {f"ada/00/{number}.txt": b"" for number in range(9)}
    held |= {"ada/x.ipynb": notebook(3), "emmy/deeper/x.ipynb": notebook(3)}
    for place in ("all", "all_of_it/all_of_it"):
        source = a_folder(tmp_path / place, held)
        found = {one.student: one for one in decided(class_of, source.parent if "/" in place else source, dry_run=True)}
        assert {student: one.outcome for student, one in found.items()} == {"ada": "new", "emmy": "new"}
        assert any(said.endswith("the most deeply nested were skipped") for said in found["ada"].notes)
        assert not found["emmy"].notes


@pytest.mark.parametrize("link", ["submitted/ada", f"submitted/ada/{ASSIGNMENT}"])
def test_put_through_a_link_waits(link: str, class_of: Course, notebook: Notebook, tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    (class_of.root / link).parent.mkdir(parents=True)
    (class_of.root / link).symlink_to(elsewhere)
    source = a_zip(class_of, {"ada/x.ipynb": notebook(3), "emmy/x.ipynb": notebook(3)})
    found = decided(class_of, source, newer=True)
    assert outcomes(found) == {"ada": "waits", "emmy": "new"}
    assert "is a link" in why(found)
    assert not list(elsewhere.iterdir())


def test_files_with_conflicting_paths_do_not_stop_the_rest(class_of: Course, notebook: Notebook) -> None:
    inner = {"x.ipynb": notebook(3), "a": b"1", "a/b": b"2", "timestamp.txt": b"now", "page.html": b"<script>"}
    found = decided(class_of, a_zip(class_of, {"ada/a.zip": zipped(inner)}))
    assert "conflicts with another file, so it was skipped" in found[0].notes[0]
    assert placed(class_of) == {NOTEBOOK: notebook(3), "a": b"1"}


def test_put_when_the_disk_is_full_affects_one_student(
    class_of: Course, notebook: Notebook, monkeypatch: pytest.MonkeyPatch
) -> None:
    write = Path.write_bytes

    def full(path: Path, content: bytes) -> int:
        if "ada" in path.parts:
            raise OSError(28, "No space left on device", str(path))
        return write(path, content)

    source = a_zip(class_of, {"ada/x.ipynb": notebook(3), "emmy/x.ipynb": notebook(3)})
    with monkeypatch.context() as patch:
        patch.setattr(Path, "write_bytes", full)
        found = decided(class_of, source)
    assert outcomes(found) == {"ada": "waits", "emmy": "new"}
    assert "No space left on device" in why(found)
    assert outcomes(decided(class_of, source)) == {"ada": "new", "emmy": "the same is there"}


# --- the command -----------------------------------------------------------------------------------------------------


def command(course: Course, *words: str) -> Ended:
    return run_grader("collect", ASSIGNMENT, *words, folder=course.root)


def test_command_reports_all_decisions_and_exit_codes(class_of: Course, notebook: Notebook) -> None:
    source = a_zip(class_of, {f"{MOODLE}/x (1).ipynb": notebook(3), "[red]Kurt_9_assignsubmission_file_/x.pdf": b""})
    dry = command(class_of, str(source), "--students", "students.csv", "--dry-run", "--json")
    assert dry.returncode == 3
    assert json.loads(dry.stdout) == {
        "assignment": ASSIGNMENT,
        "dry_run": True,
        "collected": [
            {"student": "ada", "outcome": "new", "from": "all.zip/Ada Lovelace_101", "time": None, "told": []}
        ],
        "waiting": [
            {
                "student": None, "from": "all.zip/[red]Kurt_9", "time": None,
                "told": ["no student is known as “[red]Kurt (9)”"],
            }
        ],
    }  # fmt: skip
    assert not (class_of.root / "submitted").exists()
    done = command(class_of, str(source), "--students", "students.csv")
    assert done.returncode == 3
    assert "Reading all.zip as a Moodle submissions archive: 2 submissions" in done.stderr
    assert "1 collected, 1 not collected." in done.stdout
    assert "no student is known as “[red]Kurt (9)”" in done.stdout
    assert set(placed(class_of)) == {NOTEBOOK}
    alone = a_zip(class_of, {f"{MOODLE}/x (1).ipynb": notebook(3)})
    assert command(class_of, str(alone), "--students", "students.csv").returncode == 0


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["nowhere.zip"], "nowhere.zip cannot be read: No such file or directory"),
        (["students.csv"], "is not a zip file, or it is damaged"),
        (["source", "--students", "nowhere.csv"], "nowhere.csv cannot be read"),
    ],
)
def test_command_with_an_unreadable_source_is_an_error(arguments: list[str], said: str, class_of: Course) -> None:
    ended = command(class_of, *arguments)
    assert (ended.returncode, said in ended.stderr) == (1, True), ended.stderr


def test_command_with_an_unreleased_assignment_is_an_error(course: Course) -> None:
    shutil.rmtree(course.root / "release" / ASSIGNMENT)
    assert "Run: grader release self_attention" in command(course, "source").stderr
