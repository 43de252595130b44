"""Grades are published, not only computed: what students were told is kept, and what would change is shown first."""

from __future__ import annotations

import json
import shutil
import zipfile
from collections.abc import Callable
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest

import grader
from grader.classroom.run import autograde
from grader.classroom.stale import describe_stale, stale
from grader.course.folder import CONFIG_FILE, Course, open_course
from grader.errors import CourseError
from grader.gradebook.fingerprint import Fingerprint, changes_between, digest
from grader.gradebook.published import PointsChange, Publication, Publications, PublishedPoints, changes
from grader.model.label import Label
from grader.publishing import publish as publishing
from grader.publishing.changes import write_changes
from grader.publishing.publish import UnseenChanges, publish
from support.command_line import Ended
from support.command_line import grader as run_grader
from support.made_class import ASSIGNMENT

pytestmark = pytest.mark.slow

Submit = Callable[..., Path]
TWO = {"3": 2.0}
SCORES_UNSCALED = (
    "def attention_scores(all_queries, all_keys):\n"
    "    return [[(q.T @ k).squeeze() for k in all_keys] for q in all_queries]"
)


@pytest.fixture
def graded_course(course: Course, submit: Submit, solved: dict[Label, str]) -> Course:
    """ada has exercise 3 right, and emmy 2 and 3; both are graded. The folder of exercises is the course's own."""
    shutil.copytree(Path(grader.__file__).parent / "exercises", course.root / "exercises")
    settings = course.root / CONFIG_FILE
    settings.write_text(settings.read_text().replace('"grader.exercises"', '"exercises"'))
    submit(course, "ada", {3: solved[3]})
    submit(course, "emmy", {2: solved[2], 3: solved[3]})
    list(autograde(course, ASSIGNMENT))
    return course


def publish_new(course: Course, *platforms: str) -> Publication:
    found = publish(course, ASSIGNMENT, platforms)
    assert found is not None
    return found


def command(course: Course, *words: str) -> Ended:
    return run_grader(*words, folder=course.root)


# --- what is kept ----------------------------------------------------------------------------------------------------


def test_publication_holds_points_pages_and_exports(graded_course: Course) -> None:
    new = publish_new(graded_course, "moodle", "canvas")
    assert (new.number, new.max_points, list(new.platforms)) == (1, 30, ["canvas", "moodle"])
    assert {name: one.total for name, one in new.students.items()} == {"ada": 2, "emmy": 5}
    folder = Publications(graded_course, ASSIGNMENT).folder(1)
    assert {path.name for path in (folder / "export").iterdir()} == {
        "self_attention-canvas.csv",
        "self_attention-moodle.csv",
    }
    with zipfile.ZipFile(folder / "feedback.zip") as pages:
        assert sorted(pages.namelist()) == [f"{name}/{ASSIGNMENT}/{ASSIGNMENT}.html" for name in ("ada", "emmy")]
    assert Publications(graded_course, ASSIGNMENT).last() == new


def test_publish_when_only_comments_change_makes_a_publication(graded_course: Course) -> None:
    before = publish_new(graded_course)
    with graded_course.api().gradebook as gradebook:
        gradebook.find_comment("exercise-3", ASSIGNMENT, ASSIGNMENT, "ada").manual_comment = "Well said."
        gradebook.db.commit()
    again = publish_new(graded_course)
    assert (again.number, list(again.changed)) == (2, []), "no points are others"
    assert [name for name in ("ada", "emmy") if before.students[name] != again.students[name]] == ["ada"]
    assert "Well said." in (graded_course.folder("feedback") / "ada" / ASSIGNMENT / f"{ASSIGNMENT}.html").read_text()
    assert publish(graded_course, ASSIGNMENT, []) is None


def test_publish_again_when_nothing_changed_is_none(graded_course: Course) -> None:
    publish_new(graded_course, "moodle")
    assert publish(graded_course, ASSIGNMENT, []) is None
    assert publish(graded_course, ASSIGNMENT, ["moodle"]) is None
    assert Publications(graded_course, ASSIGNMENT).numbers == [1]
    assert publish_new(graded_course, "canvas").number == 2, "a platform that has nothing so far"


def test_publish_when_cut_off_leaves_no_publication(graded_course: Course, monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as patch:
        patch.setattr(publishing, "export_points", lambda *_, **__: (_ for _ in ()).throw(KeyboardInterrupt))
        with pytest.raises(KeyboardInterrupt):
            publish_new(graded_course, "moodle")
    assert Publications(graded_course, ASSIGNMENT).last() is None
    assert publish_new(graded_course, "moodle").number == 1


def test_publication_of_an_earlier_version_can_be_read(graded_course: Course) -> None:
    publication = publish_new(graded_course)
    path = Publications(graded_course, ASSIGNMENT).folder(1) / "state.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | {"restores": None}))
    assert Publications(graded_course, ASSIGNMENT).last() == publication


@pytest.mark.parametrize("text", ["", "{", "[]", '{"number": 1}', '{"students": {"ada": 1}, "changed": []}'])
def test_publish_when_state_is_unreadable_raises(text: str, graded_course: Course) -> None:
    publish_new(graded_course)
    (Publications(graded_course, ASSIGNMENT).folder(1) / "state.json").write_text(text)
    with pytest.raises(CourseError, match=r"state.json cannot be read: .* Restore a copy"):
        publish_new(graded_course)


# --- what has changed, and why ---------------------------------------------------------------------------------------


def handed_in_again(course: Course, submit: Submit) -> None:
    submit(course, "ada", {2: SCORES_UNSCALED})


def points_changed(course: Course, _submit: Submit) -> None:
    path = course.notebook("source", ASSIGNMENT)
    path.write_text(path.read_text().replace('"points": 2', '"points": 4'))
    assert command(course, "release", ASSIGNMENT).returncode == 0


def exercise_changed(course: Course, _submit: Submit) -> None:
    path = course.root / "exercises/ex03_softmax.py"
    path.write_text(path.read_text().replace("solution=softmax,", 'solution=softmax,\n    entry="softmax_of",'))


def due(course: Course, _submit: Submit) -> None:
    with course.api().gradebook as gradebook:
        gradebook.update_or_create_assignment(ASSIGNMENT, duedate=datetime(2026, 1, 1))
    (course.root / "course.toml").write_text('[late]\nper = "day"\nshare = 0.1\ncap = 0.5\n')
    (course.folder("submitted") / "ada" / ASSIGNMENT / "timestamp.txt").write_text("2026-02-01 10:00:00 UTC")


LATE_RULE = "course.toml (10% of the points for each day started, at most 50%)"


def by_hand(course: Course, _submit: Submit) -> None:
    with course.api().gradebook as gradebook:
        gradebook.find_grade("test-exercise-3", ASSIGNMENT, ASSIGNMENT, "ada").manual_score = 0.5
        gradebook.db.commit()


@pytest.mark.parametrize(
    ("change", "now", "exercises", "why"),
    [
        (handed_in_again, 1.5, ["2: 0 → 1.5", "3: 2 → 0"], {"a new submission"}),
        (points_changed, 4.0, ["3: 2 → 4"], {"the notebook, its points or a file next to it"}),
        (exercise_changed, 0.0, ["3: 2 → 0"], {"an exercise file"}),
        (due, 1.0, [], {"a new submission", LATE_RULE, "the penalty for being late"}),
        (by_hand, 0.5, ["3: 2 → 0.5"], {"manual points for 3"}),
    ],
)
def test_changes_say_points_before_and_now_and_why(
    change: Callable[[Course, Submit], None],
    now: float,
    exercises: list[str],
    why: set[str],
    graded_course: Course,
    submit: Submit,
) -> None:
    before = publish_new(graded_course)
    change(graded_course, submit)
    graded_course = open_course(graded_course.root)  # as the next command does
    list(autograde(graded_course, ASSIGNMENT))
    with pytest.raises(UnseenChanges) as unseen:
        publish_new(graded_course)
    (ada,) = [one for one in unseen.value.points_changes if one.student == "ada"]
    assert (ada.before, ada.now, list(ada.exercises), set(ada.why)) == (2, now, exercises, why)
    assert unseen.value.since == before
    write_changes(graded_course, ASSIGNMENT, unseen.value.points_changes, before)
    assert publish_new(graded_course).students["ada"].total == now, "the changes were shown"


def test_changes_between_fingerprints_name_another_grader() -> None:
    one = Fingerprint("abcdefg0", *(digest(part) for part in "enrh"))
    assert len(str(one)) == 64
    assert changes_between(str(one), str(replace(one, grader="abcdefg2"))) == (), "on a GPU, or unconfined"
    assert changes_between(str(one), str(replace(one, grader="bbcdefg0"))) == ("another version of the grader",)
    assert changes_between("f" * 64, str(one)) == ("another version of the grader",)
    assert changes_between("", "") == ()


def test_changes_name_students_who_come_and_go() -> None:
    before, now = {"ada": PublishedPoints(TWO, 2.0)}, {"emmy": PublishedPoints(TWO, 2.0)}
    assert changes(before, now) == [
        PointsChange("ada", 2.0, None, (), ("no longer graded",)),
        PointsChange("emmy", None, 2.0, (), ("graded for the first time",)),
    ]
    assert changes(before, before) == []


# --- what is stale ---------------------------------------------------------------------------------------------------


def test_stale_names_students_and_reasons(graded_course: Course, submit: Submit) -> None:
    assert stale(graded_course, ASSIGNMENT) == {}
    submit(graded_course, "ada")
    submit(graded_course, "kurt")
    assert stale(graded_course, ASSIGNMENT) == {"ada": ("a new submission",), "kurt": ("not graded yet",)}
    exercise_changed(graded_course, submit)
    graded_course = Course(graded_course.root)
    said = describe_stale(stale(graded_course, ASSIGNMENT), ASSIGNMENT)
    assert said == (
        "Out of date: a new submission: ada; an exercise file: ada and emmy; not graded yet: kurt. "
        "Run: grader autograde self_attention"
    )


def test_export_when_grades_are_stale_is_refused(graded_course: Course, submit: Submit) -> None:
    submit(graded_course, "ada")
    refused = command(graded_course, "export", ASSIGNMENT, "--to", "moodle")
    assert (refused.returncode, "a new submission: ada" in refused.stderr) == (1, True)
    assert not (graded_course.root / "export").exists()
    assert command(graded_course, "publish", ASSIGNMENT).returncode == 1
    assert command(graded_course, "export", ASSIGNMENT, "--to", "moodle", "--stale-anyway").returncode == 0
    for name in ("report", "feedback"):
        page = command(graded_course, name, ASSIGNMENT)
        assert (page.returncode, "a new submission: ada" in page.stderr) == (0, True)


# --- the commands ----------------------------------------------------------------------------------------------------


def test_publish_after_autograde_has_shown_changes_succeeds(graded_course: Course, submit: Submit) -> None:
    assert "for 2 students (publication 1)." in command(graded_course, "publish", ASSIGNMENT, "--to", "moodle").stdout
    handed_in_again(graded_course, submit)
    graded = command(graded_course, "autograde", ASSIGNMENT)
    assert "a new submission" in graded.stdout
    assert "report/self_attention-changes.html" in graded.stdout
    unseen = command(graded_course, "publish", ASSIGNMENT)
    assert unseen.returncode == 0, "autograde has shown them"
    assert "(publication 2)" in unseen.stdout
    assert (
        "Nothing to publish: students already know these points."
        in command(graded_course, "publish", ASSIGNMENT).stdout
    )
    history = command(graded_course, "publish", ASSIGNMENT, "--history").stdout.split("\n")
    assert [line.split()[0] for line in history if "UTC" in line] == ["1", "2"]


def test_publish_when_changes_were_not_shown_is_refused(graded_course: Course, submit: Submit) -> None:
    publish_new(graded_course)
    handed_in_again(graded_course, submit)
    command(graded_course, "autograde", ASSIGNMENT, "--quiet")
    refused = command(graded_course, "publish", ASSIGNMENT)
    assert (refused.returncode, "2: 0 → 1.5" in refused.stdout) == (1, True)
    assert "Check these changes first" in refused.stderr
    by_hand(graded_course, submit)
    assert command(graded_course, "publish", ASSIGNMENT).returncode == 1, "other changes than those that were shown"
    assert command(graded_course, "publish", ASSIGNMENT).returncode == 0


def test_autograde_dry_run_writes_nothing(graded_course: Course, submit: Submit) -> None:
    before = all_files(graded_course)
    handed_in_again(graded_course, submit)
    submitted = graded_course.notebook("submitted/ada", ASSIGNMENT)
    dry = command(graded_course, "autograde", ASSIGNMENT, "--dry-run", "--json")
    assert dry.returncode == 0, dry.stderr
    told = json.loads(dry.stdout)
    assert (told["since"], [(one["student"], one["now"]) for one in told["changes"]]) == (0, [("ada", 1.5)])
    assert told["unchanged"] == 1, "what has a grade is not graded again"
    assert "2: 0 → 1.5" in command(graded_course, "autograde", ASSIGNMENT, "--dry-run").stdout
    after = all_files(graded_course)
    assert {path for path in after if after[path] != before.get(path)} == {submitted}


def test_write_changes_escapes_student_names(graded_course: Course) -> None:
    found = [PointsChange("<b>&\x1b[31m", 1.0, None, ["3: 1 → 0"], ["a new submission"])]
    since = Publication(1, "2026-11-24T10:15:00+00:00", "<i>me", 30.0, {"<b>": PublishedPoints({}, 1.0)})
    page = write_changes(graded_course, ASSIGNMENT, found, since).read_text()
    assert "&lt;b&gt;&amp;" in page
    assert "<b>" not in page
    assert "<i>" not in page
    assert "\x1b" not in page
    assert "2026-11-24 10:15 UTC" in page


def test_publish_to_an_unknown_platform_is_refused(graded_course: Course) -> None:
    said = command(graded_course, "publish", ASSIGNMENT, "--to", "blackboard").stderr
    assert "There is no platform “blackboard”. Choose one of: canvas, moodle." in said


def all_files(course: Course) -> dict[Path, Any]:
    """All files of a course, but for what Python leaves behind."""
    return {path: path.read_bytes() for path in course.root.rglob("*") if path.is_file() and path.suffix != ".pyc"}
