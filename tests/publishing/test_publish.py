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
from grader.classroom.stale import stale, told_of_stale
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
def taught(course: Course, submit: Submit, solved: dict[Label, str]) -> Course:
    """ada has exercise 3 right, and emmy 2 and 3; both are graded. The folder of exercises is the course's own."""
    shutil.copytree(Path(grader.__file__).parent / "exercises", course.root / "exercises")
    settings = course.root / CONFIG_FILE
    settings.write_text(settings.read_text().replace('"grader.exercises"', '"exercises"'))
    submit(course, "ada", {3: solved[3]})
    submit(course, "emmy", {2: solved[2], 3: solved[3]})
    list(autograde(course, ASSIGNMENT))
    return course


def first(course: Course, *platforms: str) -> Publication:
    found = publish(course, ASSIGNMENT, platforms)
    assert found is not None
    return found


def command(course: Course, *words: str) -> Ended:
    return run_grader(*words, folder=course.root)


# --- what is kept ----------------------------------------------------------------------------------------------------


def test_a_publication_holds_points_pages_and_exports(taught: Course) -> None:
    new = first(taught, "moodle", "canvas")
    assert (new.number, new.max_points, list(new.platforms)) == (1, 30, ["canvas", "moodle"])
    assert {name: one.total for name, one in new.students.items()} == {"ada": 2, "emmy": 5}
    folder = Publications(taught, ASSIGNMENT).folder(1)
    assert {path.name for path in (folder / "export").iterdir()} == {
        "self_attention-canvas.csv",
        "self_attention-moodle.csv",
    }
    with zipfile.ZipFile(folder / "feedback.zip") as pages:
        assert sorted(pages.namelist()) == [f"{name}/{ASSIGNMENT}/{ASSIGNMENT}.html" for name in ("ada", "emmy")]
    assert Publications(taught, ASSIGNMENT).last() == new


def test_new_words_of_the_instructor_are_published(taught: Course) -> None:
    before = first(taught)
    with taught.api().gradebook as gradebook:
        gradebook.find_comment("exercise-3", ASSIGNMENT, ASSIGNMENT, "ada").manual_comment = "Well said."
        gradebook.db.commit()
    again = first(taught)
    assert (again.number, list(again.changed)) == (2, []), "no points are others"
    assert [name for name in ("ada", "emmy") if before.students[name] != again.students[name]] == ["ada"]
    assert "Well said." in (taught.folder("feedback") / "ada" / ASSIGNMENT / f"{ASSIGNMENT}.html").read_text()
    assert publish(taught, ASSIGNMENT, []) is None


def test_nothing_is_published_twice(taught: Course) -> None:
    first(taught, "moodle")
    assert publish(taught, ASSIGNMENT, []) is None
    assert publish(taught, ASSIGNMENT, ["moodle"]) is None
    assert Publications(taught, ASSIGNMENT).numbers == [1]
    assert first(taught, "canvas").number == 2, "a platform that has nothing so far"


def test_a_publication_that_is_cut_off_is_none(taught: Course, monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as patch:
        patch.setattr(publishing, "export_points", lambda *_, **__: (_ for _ in ()).throw(KeyboardInterrupt))
        with pytest.raises(KeyboardInterrupt):
            first(taught, "moodle")
    assert Publications(taught, ASSIGNMENT).last() is None
    assert first(taught, "moodle").number == 1


def test_publication_of_an_earlier_version_can_be_read(taught: Course) -> None:
    publication = first(taught)
    path = Publications(taught, ASSIGNMENT).folder(1) / "state.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | {"restores": None}))
    assert Publications(taught, ASSIGNMENT).last() == publication


@pytest.mark.parametrize("text", ["", "{", "[]", '{"number": 1}', '{"students": {"ada": 1}, "changed": []}'])
def test_a_state_that_cannot_be_read_is_a_clear_error(text: str, taught: Course) -> None:
    first(taught)
    (Publications(taught, ASSIGNMENT).folder(1) / "state.json").write_text(text)
    with pytest.raises(CourseError, match=r"state.json cannot be read: .* Restore a copy"):
        first(taught)


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
def test_who_goes_from_what_to_what_and_why(
    change: Callable[[Course, Submit], None],
    now: float,
    exercises: list[str],
    why: set[str],
    taught: Course,
    submit: Submit,
) -> None:
    before = first(taught)
    change(taught, submit)
    taught = open_course(taught.root)  # as the next command does
    list(autograde(taught, ASSIGNMENT))
    with pytest.raises(UnseenChanges) as unseen:
        first(taught)
    (ada,) = [one for one in unseen.value.found if one.student == "ada"]
    assert (ada.before, ada.now, list(ada.exercises), set(ada.why)) == (2, now, exercises, why)
    assert unseen.value.since == before
    write_changes(taught, ASSIGNMENT, unseen.value.found, before)
    assert first(taught).students["ada"].total == now, "the changes were shown"


def test_another_grader_is_told_as_such() -> None:
    one = Fingerprint("abcdefg0", *(digest(part) for part in "enrh"))
    assert len(str(one)) == 64
    assert changes_between(str(one), str(replace(one, grader="abcdefg2"))) == (), "on a GPU, or unconfined"
    assert changes_between(str(one), str(replace(one, grader="bbcdefg0"))) == ("another version of the grader",)
    assert changes_between("f" * 64, str(one)) == ("another version of the grader",)
    assert changes_between("", "") == ()


def test_who_comes_and_who_goes() -> None:
    before, now = {"ada": PublishedPoints(TWO, 2.0)}, {"emmy": PublishedPoints(TWO, 2.0)}
    assert changes(before, now) == [
        PointsChange("ada", 2.0, None, (), ("no longer graded",)),
        PointsChange("emmy", None, 2.0, (), ("graded for the first time",)),
    ]
    assert changes(before, before) == []


# --- what is stale ---------------------------------------------------------------------------------------------------


def test_it_is_said_who_is_not_up_to_date(taught: Course, submit: Submit) -> None:
    assert stale(taught, ASSIGNMENT) == {}
    submit(taught, "ada")
    submit(taught, "kurt")
    assert stale(taught, ASSIGNMENT) == {"ada": ("a new submission",), "kurt": ("not graded yet",)}
    exercise_changed(taught, submit)
    taught = Course(taught.root)
    said = told_of_stale(stale(taught, ASSIGNMENT), ASSIGNMENT)
    assert said == (
        "Out of date: a new submission: ada; an exercise file: ada and emmy; not graded yet: kurt. "
        "Run: grader autograde self_attention"
    )


def test_exports_refuse_what_is_stale_and_pages_say_so(taught: Course, submit: Submit) -> None:
    submit(taught, "ada")
    refused = command(taught, "export", ASSIGNMENT, "--to", "moodle")
    assert (refused.returncode, "a new submission: ada" in refused.stderr) == (1, True)
    assert not (taught.root / "export").exists()
    assert command(taught, "publish", ASSIGNMENT).returncode == 1
    assert command(taught, "export", ASSIGNMENT, "--to", "moodle", "--stale-anyway").returncode == 0
    for name in ("report", "feedback"):
        page = command(taught, name, ASSIGNMENT)
        assert (page.returncode, "a new submission: ada" in page.stderr) == (0, True)


# --- the commands ----------------------------------------------------------------------------------------------------


def test_autograde_tells_of_changes_and_then_they_may_be_published(taught: Course, submit: Submit) -> None:
    assert "for 2 students (publication 1)." in command(taught, "publish", ASSIGNMENT, "--to", "moodle").stdout
    handed_in_again(taught, submit)
    graded = command(taught, "autograde", ASSIGNMENT)
    assert "a new submission" in graded.stdout
    assert "report/self_attention-changes.html" in graded.stdout
    unseen = command(taught, "publish", ASSIGNMENT)
    assert unseen.returncode == 0, "autograde has shown them"
    assert "(publication 2)" in unseen.stdout
    assert "Nothing to publish: students already know these points." in command(taught, "publish", ASSIGNMENT).stdout
    history = command(taught, "publish", ASSIGNMENT, "--history").stdout.split("\n")
    assert [line.split()[0] for line in history if "UTC" in line] == ["1", "2"]


def test_what_was_never_shown_waits(taught: Course, submit: Submit) -> None:
    first(taught)
    handed_in_again(taught, submit)
    command(taught, "autograde", ASSIGNMENT, "--quiet")
    refused = command(taught, "publish", ASSIGNMENT)
    assert (refused.returncode, "2: 0 → 1.5" in refused.stdout) == (1, True)
    assert "Check these changes first" in refused.stderr
    by_hand(taught, submit)
    assert command(taught, "publish", ASSIGNMENT).returncode == 1, "other changes than those that were shown"
    assert command(taught, "publish", ASSIGNMENT).returncode == 0


def test_a_dry_run_writes_nothing(taught: Course, submit: Submit) -> None:
    before = everything(taught)
    handed_in_again(taught, submit)
    submitted = taught.notebook("submitted/ada", ASSIGNMENT)
    dry = command(taught, "autograde", ASSIGNMENT, "--dry-run", "--json")
    assert dry.returncode == 0, dry.stderr
    told = json.loads(dry.stdout)
    assert (told["since"], [(one["student"], one["now"]) for one in told["changes"]]) == (0, [("ada", 1.5)])
    assert told["unchanged"] == 1, "what has a grade is not graded again"
    assert "2: 0 → 1.5" in command(taught, "autograde", ASSIGNMENT, "--dry-run").stdout
    after = everything(taught)
    assert {path for path in after if after[path] != before.get(path)} == {submitted}


def test_what_students_are_called_is_text_on_the_page(taught: Course) -> None:
    found = [PointsChange("<b>&\x1b[31m", 1.0, None, ["3: 1 → 0"], ["a new submission"])]
    since = Publication(1, "2026-11-24T10:15:00+00:00", "<i>me", 30.0, {"<b>": PublishedPoints({}, 1.0)})
    page = write_changes(taught, ASSIGNMENT, found, since).read_text()
    assert "&lt;b&gt;&amp;" in page
    assert "<b>" not in page
    assert "<i>" not in page
    assert "\x1b" not in page
    assert "2026-11-24 10:15 UTC" in page


def test_a_platform_that_is_none_is_refused(taught: Course) -> None:
    said = command(taught, "publish", ASSIGNMENT, "--to", "blackboard").stderr
    assert "There is no platform “blackboard”. Choose one of: canvas, moodle." in said


def everything(course: Course) -> dict[Path, Any]:
    """All files of a course, but for what Python leaves behind."""
    return {path: path.read_bytes() for path in course.root.rglob("*") if path.is_file() and path.suffix != ".pyc"}
