"""Of several hand-ins, the best: all are kept and graded, and what counts is told of everywhere."""

from __future__ import annotations

import contextlib
import csv
import json
import re
import shutil
import sqlite3
import zlib
from collections.abc import Callable, Mapping
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import Any

import nbformat
import pytest
from selenium.webdriver import Chrome

from grader.classroom import attempts
from grader.classroom.graded_folder import GradedFolder
from grader.classroom.run import autograde
from grader.classroom.stale import stale
from grader.classroom.submission_grader import SubmissionGrader
from grader.collecting import placing
from grader.collecting.collect import CollectOptions, collect
from grader.course.folder import Course
from grader.export.moodle import export_moodle
from grader.gradebook.class_gradebook import ClassGradebook
from grader.host import scratch
from grader.model.submission import Graded, Submission
from grader.notebooks.cells import solved
from grader.pages.feedback import write_feedback
from grader.pages.report import write_report
from grader.publishing import publish as publishing
from grader.publishing.publish import UnseenChanges
from grader.release.compiling import compile_release
from support.accessibility import violations
from support.command_line import grader
from support.second_course import WRONG, copy_of_second_course
from support.snapshots import files_in

pytestmark = pytest.mark.slow

publish = partial(publishing.publish, waiting_anyway=True)  # some answers wait for points by hand
WORDS = "words"
RIGHT: dict[str, str] = {}  # 7 points by tests; kurt's WRONG has 3. `why` has two more, which a person gives
FIRST, SECOND, THIRD = "2026-10-12 07:00:00", "2026-10-13 09:00:00", "2026-10-14 09:00:00"
BEST = """\
counts = "best"

[late]
per = "day"
share = 0.1

[assignments.words]
due = 2026-10-12T08:00:00Z
"""
Sent = Callable[..., Path]


@pytest.fixture(scope="module")
def released(tmp_path_factory: pytest.TempPathFactory) -> Course:
    root = tmp_path_factory.mktemp("best") / "course"
    course = copy_of_second_course(root)
    (root / "course.toml").write_text(BEST)
    compile_release(course, WORDS)
    return course


@pytest.fixture
def course(released: Course, tmp_path: Path) -> Course:
    shutil.copytree(released.root, tmp_path / "course")
    return Course(tmp_path / "course")


def notebook(course: Course, answers: Mapping[str, str], why: str = "") -> str:
    """Without an answer to `why`, it is as it was given out, and nobody has to read it."""
    released = course.read("release", WORDS)
    given = {cell.id: cell.source for cell in released.cells}
    made: Any = solved(released, course.read("source", WORDS))
    for cell in made.cells:
        cell.source = {**answers, "why": why or given["why"]}.get(cell.id, cell.source)
    text: str = nbformat.writes(made)
    return text


def inbox(course: Course, *hand_ins: tuple[str, str], student: str = "kurt") -> Path:
    """The exchange, with these notebooks at these times."""
    folder = course.root.parent / f"inbox{len(list(course.root.parent.glob('inbox*')))}"
    for time, text in hand_ins:
        place = folder / f"{student}+{WORDS}+{time} UTC"
        place.mkdir(parents=True)
        (place / "words.ipynb").write_text(text)
    return folder


def collected(course: Course, *hand_ins: tuple[str, str], student: str = "kurt", **wanted: Any) -> list[str]:
    wanted = {"as_named": True, **wanted}
    source = inbox(course, *hand_ins, student=student)
    return [one.outcome for one in collect(course, WORDS, [source], CollectOptions(**wanted))]


def graded(course: Course) -> dict[str, bool]:
    """By student, whether nothing was graded. Everyone has a grade."""
    results = list(autograde(course, WORDS))
    assert [one.error for one in results if one.error] == []
    return {one.student: one.unchanged for one in results}


def points(course: Course) -> dict[str, float]:
    """As Moodle gets them; the feedback page and the report say the same."""
    _, *rows = csv.reader(export_moodle(course, WORDS, "username", "").read_text().splitlines())
    found = {student: float(told) for student, told in rows}
    pages = {path.parent.parent.name: path.read_text() for path in write_feedback(course, WORDS)}
    for student, page in pages.items():
        said = re.search(r"<strong>([\d.]+)</strong> of ([\d.]+) points", page)
        assert said
        assert float(said[1]) == found[student]
    report = csv.DictReader(write_report(course, WORDS)[1].read_text("utf-8-sig").splitlines())
    assert {one["student"]: float(one["points"]) for one in report if one["points"]} == found
    return found


def counted_attempt_note(course: Course, student: str = "kurt") -> str:
    """What all that is told says of the hand-in that counts."""
    table = csv.DictReader(write_report(course, WORDS)[1].read_text("utf-8-sig").splitlines())
    (line,) = [one for one in table if one["student"] == student]
    write_feedback(course, WORDS)
    page = (course.folder("feedback") / student / WORDS / "words.html").read_text()
    assert (f"This is {line['hand-in']}. All of them were graded." in page) == bool(line["hand-in"])
    assert ("were graded" in page) == bool(line["hand-in"])
    return line["hand-in"]


def by_hand(course: Course, student: str, given: float, cell: str = "why") -> None:
    with course.api().gradebook as gradebook:
        grade = gradebook.find_grade(cell, WORDS, WORDS, student)
        grade.manual_score, grade.needs_manual_grade = given, False
        gradebook.db.commit()


def rule(course: Course, text: str) -> Course:
    """The course with these rules, opened as the next command opens it."""
    (course.root / "course.toml").write_text(text)
    return Course(course.root)


def count_graded(patch: pytest.MonkeyPatch) -> list[str]:
    """The hand-ins that are really graded from now on."""
    found: list[str] = []
    real = SubmissionGrader.grade

    def grade(self: SubmissionGrader, submission: Submission) -> Graded:
        found.append(submission.student)
        return real(self, submission)

    patch.setattr(SubmissionGrader, "grade", grade)
    return found


# --- what is kept ----------------------------------------------------------------------------------------------------


def test_collect_when_best_counts_keeps_all_attempts(course: Course) -> None:
    one, two, three = (notebook(course, {}, f"{number} answers") for number in range(3))
    assert collected(course, (FIRST, one), (THIRD, three), dry_run=True) == ["new", "kept beside a newer one"]
    assert not (course.root / "hand_ins").exists()
    assert collected(course, (FIRST, one), (THIRD, three)) == ["new", "kept beside a newer one"]
    assert collected(course, (SECOND, two)) == ["kept beside a newer one"]
    assert collected(course, (SECOND, two), (THIRD, three)) == ["the same is there", "the same is there"]
    assert attempt_texts(course) == {one, two, three}
    newest = notebook(course, RIGHT, "four")
    assert collected(course, ("2026-10-20 09:00:00", newest)) == ["replaced"]
    assert attempt_texts(course) == {one, two, three, newest}
    assert course.notebook("submitted/kurt", WORDS).read_text() == newest
    assert course.submitters() == ["kurt"]
    assert [path.name for path in (course.root / "submitted/kurt").iterdir()] == [WORDS]


def attempt_texts(course: Course, student: str = "kurt") -> set[str]:
    places = [
        course.root / "hand_ins" / student / WORDS / name for name in attempts.kept_attempts(course, student, WORDS)
    ]
    return {(place / "words.ipynb").read_text() for place in [course.folder("submitted") / student / WORDS, *places]}


@pytest.mark.parametrize(("name", "most"), [("MOST_ATTEMPTS", 1), ("MOST_BYTES", 1000)])
def test_collect_when_attempts_are_too_many_waits(
    name: str, most: int, course: Course, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(attempts, name, most)
    collected(course, (FIRST, notebook(course, WRONG)))
    graded(course)
    (copy,) = attempts.kept_attempts(course, "kurt", WORDS)
    collected(course, (SECOND, notebook(course, RIGHT)))  # its place is free: what was there is kept already
    graded(course)
    assert attempts.kept_attempts(course, "kurt", WORDS) == [copy]
    assert counted_attempt_note(course) == "the best of 2 attempts, submitted 2026-10-13 09:00 UTC"
    source = inbox(course, (THIRD, notebook(course, WRONG, "No.")))
    (told,) = collect(course, WORDS, [source], CollectOptions(as_named=True))
    assert told.outcome == placing.WAITS
    assert told.notes[0].endswith("there is no more room for this student's attempts")
    assert graded(course) == {"kurt": True}


def test_collect_when_last_counts_keeps_no_attempts(course: Course) -> None:
    course = rule(course, "")
    one, two = (notebook(course, {}, f"{number} answers") for number in range(2))
    assert collected(course, (FIRST, one), (SECOND, two)) == ["new"]
    assert collected(course, (THIRD, one)) == ["replaced"]
    assert not (course.root / "hand_ins").exists()


def test_collect_when_cut_at_any_moment_loses_no_attempt(course: Course, monkeypatch: pytest.MonkeyPatch) -> None:
    texts = [notebook(course, {}, f"{number} answers") for number in range(3)]
    collected(course, (FIRST, texts[0]), (SECOND, texts[1]))
    source = inbox(course, (THIRD, texts[2]))
    before = files_in(course.root)
    moments = 0
    while moments < 100:
        with monkeypatch.context() as patch, contextlib.suppress(KeyboardInterrupt):
            cut_after(moments, patch)
            list(collect(course, WORDS, [source], CollectOptions(as_named=True)))
            break
        assert attempt_texts(course) >= set(texts[:2])
        list(collect(course, WORDS, [source], CollectOptions(as_named=True)))
        assert attempt_texts(course) == set(texts)
        assert [path.name for path in (course.root / "submitted/kurt").iterdir()] == [WORDS]
        for name in ("submitted", "hand_ins"):
            shutil.rmtree(course.root / name)
        for place, content in before.items():
            if place.startswith(("submitted/", "hand_ins/")):
                (course.root / place).parent.mkdir(parents=True, exist_ok=True)
                (course.root / place).write_bytes(content)
        moments += 1
    assert 5 <= moments < 100


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

    for owner, name in ((Path, "write_bytes"), (Path, "rename"), (scratch, "exchange")):
        patch.setattr(owner, name, counted(getattr(owner, name)))


def test_attempt_replaced_by_hand_is_kept_once_graded(course: Course) -> None:
    """As nbgrader's own collect replaces it, too."""
    collected(course, (FIRST, notebook(course, RIGHT)))
    graded(course)
    course.notebook("submitted/kurt", WORDS).write_text(notebook(course, WRONG))
    assert graded(course) == {"kurt": False}
    assert points(course) == {"kurt": 7}


# --- what counts -----------------------------------------------------------------------------------------------------


def test_autograde_when_best_counts_grades_only_new_attempts(course: Course, monkeypatch: pytest.MonkeyPatch) -> None:
    done = count_graded(monkeypatch)
    collected(course, (FIRST, notebook(course, WRONG)), (SECOND, notebook(course, RIGHT)))
    collected(course, (FIRST, notebook(course, RIGHT)), student="ada")
    assert graded(course) == {"ada": False, "kurt": False}
    assert sorted(done) == ["ada", "kurt", "kurt"]
    # A day and an hour late: a fifth of 7 is taken off, and that is more than the 3 of the first.
    assert points(course) == {"ada": 7, "kurt": 5.6}
    assert counted_attempt_note(course) == "the best of 2 attempts, submitted 2026-10-13 09:00 UTC"
    assert counted_attempt_note(course, "ada") == ""
    assert graded(course) == {"ada": True, "kurt": True}
    collected(course, (THIRD, notebook(course, WRONG)))
    assert stale(course, WORDS) == {"kurt": ("a new submission",)}
    assert graded(course) == {"ada": True, "kurt": False}
    assert len(done) == 4
    assert points(course) == {"ada": 7, "kurt": 5.6}
    assert counted_attempt_note(course) == "the best of 3 attempts, submitted 2026-10-13 09:00 UTC"
    assert stale(course, WORDS) == {}


def test_best_of_equal_attempts_is_the_newer(course: Course) -> None:
    course = rule(course, 'counts = "best"\n')
    collected(course, (FIRST, notebook(course, RIGHT)), (SECOND, notebook(course, RIGHT)))
    graded(course)
    assert counted_attempt_note(course) == "the best of 2 attempts, submitted 2026-10-13 09:00 UTC"


def test_extension_that_makes_another_attempt_best_is_a_reason(course: Course, monkeypatch: pytest.MonkeyPatch) -> None:
    """Two days of 0.35 leave 2.1 of the 7 points: less than the 3 of the first."""
    course = rule(course, BEST.replace("share = 0.1", "share = 0.35"))
    collected(course, (FIRST, notebook(course, WRONG)), (SECOND, notebook(course, RIGHT)))
    graded(course)
    assert points(course) == {"kurt": 3}
    assert counted_attempt_note(course) == "the best of 2 attempts, submitted 2026-10-12 07:00 UTC"
    publish(course, WORDS, ["moodle"])
    course = rule(
        course, BEST.replace("share = 0.1", "share = 0.35") + '[assignments.words.extensions]\nkurt = "1 day"\n'
    )
    assert stale(course, WORDS) == {"kurt": ("the rules of the term",)}
    refused = grader("export", WORDS, "--to", "moodle", folder=course.root)
    assert "the rules of the term: kurt. Run: grader autograde words" in " ".join(refused.stderr.split())
    done = count_graded(monkeypatch)
    assert graded(course) == {"kurt": False}
    assert done == ["kurt", "kurt"], "both are graded again"
    assert points(course) == {"kurt": 4.55}  # an hour late is a day begun: 0.35 of 7 is 2.45
    with pytest.raises(UnseenChanges) as unseen:
        publish(course, WORDS, [])
    (kurt,) = unseen.value.points_changes
    assert (kurt.before, kurt.now) == (3, 4.55)
    assert kurt.why[0] == "another attempt counts: the best of 2 attempts, submitted 2026-10-13 09:00 UTC"
    new = publish(course, WORDS, [], yes=True)
    assert new
    assert new.students["kurt"].hand_in == "the best of 2 attempts, submitted 2026-10-13 09:00 UTC"
    course = rule(course, BEST.replace("share = 0.1", "share = 0.35"))
    assert graded(course) == {"kurt": False}
    assert points(course) == {"kurt": 3}
    assert graded(course) == {"kurt": True}


def test_manual_points_stay_with_their_attempt(course: Course) -> None:
    course = rule(course, 'counts = "best"\n')
    collected(course, (FIRST, notebook(course, WRONG, "Long and good.")))
    graded(course)
    by_hand(course, "kurt", 2)
    by_hand(course, "kurt", 2, "test-greeting")  # one more than there are
    assert points(course) == {"kurt": 7}  # 3 + 2 + 2
    collected(course, (SECOND, notebook(course, RIGHT, "Short.")))
    graded(course)
    assert points(course) == {"kurt": 7}, "of tests; the new answer waits, and could make it 9"
    assert counted_attempt_note(course).endswith("submitted 2026-10-13 09:00 UTC")
    assert waiting_students(course) == {"kurt"}
    by_hand(course, "kurt", 0)
    by_hand(course, "kurt", 1, "test-exercise-2")
    assert stale(course, WORDS) == {"kurt": ("another attempt is now the best",)}
    assert graded(course) == {"kurt": False}
    assert points(course) == {"kurt": 7}
    assert counted_attempt_note(course).endswith("submitted 2026-10-12 07:00 UTC")
    assert waiting_students(course) == set()
    by_hand(course, "kurt", 0)
    assert graded(course) == {"kurt": False}
    assert points(course) == {"kurt": 6}, "7, with 1 of 2 for exercise 2, and nothing for the answer"
    assert counted_attempt_note(course).endswith("submitted 2026-10-13 09:00 UTC")


def waiting_students(course: Course) -> set[str]:
    return set(json.loads(write_report(course, WORDS)[2].read_text())["waiting"])


def test_unread_answer_counts_as_what_it_could_be(course: Course) -> None:
    """So that a better one is read at all: the formgrader has one hand-in of each student."""
    course = rule(course, 'counts = "best"\n')
    collected(course, (FIRST, notebook(course, RIGHT)))
    graded(course)
    assert points(course) == {"kurt": 7}
    collected(course, (SECOND, notebook(course, {"exercise-2": "word_lengths = None"}, "Good.")))
    graded(course)
    assert counted_attempt_note(course).endswith("submitted 2026-10-13 09:00 UTC")
    assert waiting_students(course) == {"kurt"}
    by_hand(course, "kurt", 1)
    graded(course)
    assert points(course) == {"kurt": 7}


def test_manual_points_follow_an_unchanged_answer(course: Course) -> None:
    course = rule(course, 'counts = "best"\n')
    collected(course, (FIRST, notebook(course, WRONG, "Long and good.")))
    graded(course)
    by_hand(course, "kurt", 2)
    add_comment(course, "kurt", "Well said.")
    collected(course, (SECOND, notebook(course, RIGHT, "Long and good.")))
    graded(course)
    assert points(course) == {"kurt": 9}
    assert counted_attempt_note(course).endswith("submitted 2026-10-13 09:00 UTC")
    assert waiting_students(course) == set()
    assert comment(course, "kurt") == "Well said."


def add_comment(course: Course, student: str, text: str) -> None:
    with course.api().gradebook as gradebook:
        gradebook.find_comment("why", WORDS, WORDS, student).manual_comment = text
        gradebook.db.commit()


def comment(course: Course, student: str) -> str | None:
    with course.api().gradebook as gradebook:
        text: str | None = gradebook.find_comment("why", WORDS, WORDS, student).manual_comment
    return text


def test_manual_points_in_the_table_of_an_earlier_version_are_found(course: Course) -> None:
    """It kept attempts that did not count in a table, with everything that people had given for them."""
    course = rule(course, 'counts = "best"\n')
    collected(course, (FIRST, notebook(course, WRONG, "Long and good.")))
    graded(course)
    by_hand(course, "kurt", 2)
    add_comment(course, "kurt", "Well said.")
    with course.api().gradebook as gradebook:
        known = ClassGradebook(gradebook, WORDS)
        marks = asdict(known.marks()["kurt"])
        attempt = known.records()["kurt"].attempt
    texts = {WORDS: course.notebook("autograded/kurt", WORDS).read_text()}
    collected(course, (SECOND, notebook(course, RIGHT, "Short.")))
    graded(course)
    assert attempt
    row = ("hand_in", attempt.digest, json.dumps({"hand_in": asdict(attempt)}), json.dumps(marks))
    with contextlib.closing(sqlite3.connect(course.root / "gradebook.db")) as database:
        (identity, result), *_ = database.execute("SELECT submission_id, result FROM grader_record").fetchall()
        old = {name: value for name, value in json.loads(result).items() if name != "choice"}
        database.execute("UPDATE grader_record SET result = ?", [json.dumps(old)])
        database.execute("CREATE TABLE grader_set_aside (submission_id, hand_in, result, marks, notebooks)")
        values = [identity, *row[1:], zlib.compress(json.dumps(texts).encode())]
        database.execute("INSERT INTO grader_set_aside VALUES (?, ?, ?, ?, ?)", values)
        database.commit()
    by_hand(course, "kurt", 0)
    by_hand(course, "kurt", 1, "test-exercise-2")
    by_hand(course, "kurt", 0, "test-exercise-1")
    graded(course)
    assert points(course) == {"kurt": 5}, "3 and 2 by hand are more than 7 - 1 - 2"
    assert counted_attempt_note(course).endswith("submitted 2026-10-12 07:00 UTC")
    assert waiting_students(course) == set()
    assert comment(course, "kurt") == "Well said."
    with contextlib.closing(sqlite3.connect(course.root / "gradebook.db")) as database:
        assert database.execute("SELECT name FROM sqlite_master WHERE name = 'grader_set_aside'").fetchall() == []


def test_best_of_a_group_is_of_all_members_attempts(course: Course) -> None:
    course = rule(course, f'{BEST}[groups]\nred = ["kurt", "lise"]\n')
    collected(course, (FIRST, notebook(course, WRONG)), (SECOND, notebook(course, RIGHT)))
    collected(course, (THIRD, notebook(course, RIGHT)), student="lise")
    graded(course)
    assert points(course) == {"kurt": 5.6, "lise": 5.6}
    assert (
        counted_attempt_note(course)
        == counted_attempt_note(course, "lise")
        == "the best of 3 attempts, submitted 2026-10-13 09:00 UTC"
    )


def test_changed_exercise_is_regraded_in_all_attempts(course: Course) -> None:
    collected(course, (FIRST, notebook(course, RIGHT)), (SECOND, notebook(course, WRONG)))
    graded(course)
    source = course.notebook("source", WORDS)
    source.write_text(source.read_text().replace('"points": 2', '"points": 4', 1))
    compile_release(course, WORDS)
    assert list(stale(course, WORDS)) == ["kurt"]
    graded(course)
    assert stale(course, WORDS) == {}
    assert points(course)["kurt"] > 7


# --- runs ------------------------------------------------------------------------------------------------------------


def test_autograde_dry_run_when_best_counts_writes_nothing(course: Course) -> None:
    collected(course, (FIRST, notebook(course, RIGHT)))
    graded(course)
    collected(course, (SECOND, notebook(course, WRONG)))
    before = files_in(course.root)
    ended = grader("autograde", WORDS, "--dry-run", folder=course.root)
    assert ended.returncode == 0, ended.stderr
    assert "the best of 2 attempts" in " ".join(ended.stdout.split())
    after = files_in(course.root)
    assert {place for place in {*before, *after} if before.get(place) != after.get(place)} <= {".grader_sound"}


@pytest.mark.parametrize("step", ["lay_down", "put_in_place"])
def test_autograde_when_cut_off_loses_nothing(step: str, course: Course, monkeypatch: pytest.MonkeyPatch) -> None:
    course = rule(course, 'counts = "best"\n')
    collected(course, (FIRST, notebook(course, WRONG, "Good.")))
    graded(course)
    by_hand(course, "kurt", 2)
    collected(course, (SECOND, notebook(course, RIGHT)))
    with monkeypatch.context() as patch:
        patch.setattr(GradedFolder, step, lambda *_: (_ for _ in ()).throw(KeyboardInterrupt))
        with pytest.raises(KeyboardInterrupt):
            list(autograde(course, WORDS))
    graded(course)
    assert points(course) == {"kurt": 7}
    by_hand(course, "kurt", 0, "test-exercise-2")
    by_hand(course, "kurt", 0, "test-exercise-1")
    graded(course)
    assert points(course) == {"kurt": 5}, "3 by tests and 2 by hand"


def test_autograde_with_jobs_grades_attempts_of_one_student(course: Course) -> None:
    texts = [notebook(course, {**WRONG, "exercise-1": f"# {number}"}) for number in range(2)]
    collected(course, (FIRST, texts[0]), (SECOND, texts[1]), (THIRD, notebook(course, RIGHT)))
    results = list(autograde(course, WORDS, jobs=2))
    assert [(one.student, one.error, one.points) for one in results] == [("kurt", "", 7.0)]
    assert points(course) == {"kurt": 4.9}  # two days and an hour: three tenths are taken off


def test_pages_with_attempts_are_accessible(course: Course, browser: Chrome) -> None:
    for student in ("ada", "kurt"):
        collected(course, (FIRST, notebook(course, RIGHT)), (SECOND, notebook(course, WRONG)), student=student)
    graded(course)
    for page in (write_report(course, WORDS)[0], *write_feedback(course, WORDS)):
        browser.get(page.as_uri())
        browser.execute_script("for (const one of document.querySelectorAll('details')) one.open = true")
        assert "the best of 2 attempts, submitted 2026-10-12 07:00 UTC" in browser.find_element("tag name", "main").text
        assert violations(browser) == [], page


def test_last_attempt_counts_again_when_the_rule_is_removed(course: Course) -> None:
    collected(course, (FIRST, notebook(course, RIGHT)), (SECOND, notebook(course, WRONG)))
    graded(course)
    course = rule(course, "")
    assert stale(course, WORDS) == {"kurt": ("a new submission",)}
    graded(course)
    assert points(course) == {"kurt": 3}
    assert counted_attempt_note(course) == ""
    course = rule(course, BEST)
    graded(course)
    assert points(course) == {"kurt": 7}
