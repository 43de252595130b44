"""How many bytes of a student's notebooks are kept, and which go: none that may count, and none that waits."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from grader.classroom import attempts
from grader.course.folder import Course
from grader.serving import room
from grader.serving.arrivals import Arrival, Arrivals, Stage
from grader.serving.desk import Desk, GradingOptions
from grader.serving.room import NoRoomLeft, make_room
from support.served import ASSIGNMENT, PATIENCE, serving

pytestmark = pytest.mark.slow

KILOBYTE = 1000


@pytest.fixture
def arrivals(course: Course, monkeypatch: pytest.MonkeyPatch) -> Iterator[Arrivals]:
    monkeypatch.setattr(room, "MOST_BYTES", 3 * KILOBYTE)
    table = Arrivals(course)
    yield table
    table.close()


class Submitting:
    """Students whose notebooks have a kilobyte, which has one letter."""

    def __init__(self, arrivals: Arrivals, best: bool = False) -> None:
        self._arrivals, self._best = arrivals, best

    def submit(self, letter: str, student: str = "ada", assignment: str = "a", state: Stage = Stage.GRADED) -> Arrival:
        content = letter.encode() * KILOBYTE
        make_room(self._arrivals, student, [content], lambda _: self._best)
        arrival = self._arrivals.add(student, assignment, {assignment: content})
        if state is not Stage.WAITING:
            self._arrivals.finish(arrival, state, {})
        return arrival

    def left(self, *submitted: Arrival) -> str:
        """The letters of these that are still there."""
        sizes = self._arrivals.sizes(submitted)
        left = [self._arrivals.contents(one, [one.assignment]) for one in submitted if one.sha256 in sizes]
        return "".join(content[:1].decode() for contents in left for content in contents.values())


def test_make_room_removes_the_oldest_and_keeps_rows(arrivals: Arrivals) -> None:
    students = Submitting(arrivals)
    submitted = [students.submit(letter) for letter in "abcde"]
    assert students.left(*submitted) == "cde"
    assert [arrival.sha256 for arrival in arrivals.of_student("ada")[::-1]] == [one.sha256 for one in submitted]


def test_make_room_keeps_the_last_of_each_assignment(arrivals: Arrivals) -> None:
    students = Submitting(arrivals)
    submitted = [students.submit(letter, assignment=letter) for letter in "abc"]
    with pytest.raises(NoRoomLeft):
        students.submit("d", assignment="d")
    assert students.left(*submitted) == "abc"
    submitted.append(students.submit("a", assignment="d"))  # which is there already
    assert students.left(*submitted) == "abca"


@pytest.mark.parametrize("state", [Stage.WAITING, Stage.FAILED])
def test_make_room_keeps_what_has_not_been_graded(arrivals: Arrivals, state: Stage) -> None:
    students = Submitting(arrivals)
    submitted = [students.submit("a"), *(students.submit(letter, state=state) for letter in "bc")]
    with pytest.raises(NoRoomLeft):
        students.submit("d")  # which is not graded yet: until then, the first may count
    assert students.left(*submitted) == "abc"
    arrivals.finish(submitted[-1], Stage.GRADED, {})
    submitted.append(students.submit("d"))
    assert students.left(*submitted) == "bcd"


def test_make_room_keeps_what_is_graded_again(arrivals: Arrivals) -> None:
    students = Submitting(arrivals)
    submitted = [students.submit(letter) for letter in "abc"]
    arrivals.once_more(submitted[-1])
    assert students.left(*submitted, students.submit("d")) == "bcd"


def test_make_room_when_best_counts_keeps_all(arrivals: Arrivals) -> None:
    students = Submitting(arrivals, best=True)
    submitted = [students.submit(letter) for letter in "abc"]
    with pytest.raises(NoRoomLeft):
        students.submit("d")
    assert students.left(*submitted) == "abc"


def test_make_room_keeps_submissions_of_others(arrivals: Arrivals) -> None:
    students = Submitting(arrivals)
    of_emmy = students.submit("a", student="emmy")
    submitted = [students.submit(letter) for letter in "abcd"]
    assert students.left(of_emmy, *submitted) == "aacd"
    assert students.left(students.submit("e", student="emmy")) == "e"


def test_submit_when_room_is_full_says_what_to_do(
    new_course: Callable[[], Course], make_notebook: Any, solved: dict[int, str]
) -> None:
    with serving(new_course()) as one:
        place, rules = f"/assignments/{ASSIGNMENT}", one.course.root / "course.toml"
        table = Arrivals(one.course)
        large, small = (table.add("ada", ASSIGNMENT, {ASSIGNMENT: content}) for content in (b"{}", b"{ }"))
        for arrival in (large, small):
            table.finish(arrival, Stage.GRADED, {})
        table.close()
        path = one.course.root / "arrived" / f"{large.sha256}.ipynb"
        os.truncate(path, room.MOST_BYTES)  # nothing but a hole
        notebook = json.dumps(make_notebook(one.course, solved)).encode()
        rules.write_text('counts = "best"\n')
        refused = one.post("ada", place, notebook)
        assert refused.status_code == 413
        assert refused.json()["error"].startswith("Your notebooks take up 200 MB here, the most for a student")
        assert path.exists()
        assert one.post("emmy", place, notebook).status_code == 202
        rules.write_text('counts = "last"\n')
        assert one.verdict("ada", one.submit("ada", notebook)["submission"])["result"]["points"] == 30
        assert not path.exists()
        receipt = one.get("ada", f"/submissions/{large.id}").json()["receipt"]
        assert receipt["sha256"] == large.sha256


def test_desk_when_no_more_attempts_can_be_kept_goes_on(
    course: Course, make_notebook: Any, solved: dict[int, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(attempts, "MOST_ATTEMPTS", 1)
    (course.root / "course.toml").write_text('counts = "best"\n')
    table = Arrivals(course)
    submitted = []
    for student, changed in (("ada", {}), ("ada", {3: ""}), ("ada", {4: ""}), ("emmy", {})):
        content = json.dumps(make_notebook(course, solved | changed)).encode()
        submitted.append(table.add(student, ASSIGNMENT, {ASSIGNMENT: content}))
    desk = Desk(course, table, GradingOptions(1))
    desk.start()
    until = time.monotonic() + PATIENCE
    while not all(arrival.is_done for arrival in table.of_class()) and not desk.trouble and time.monotonic() < until:
        time.sleep(0.1)
    desk.close()
    states = [arrival.state for arrival in map(table.get, (arrival.id for arrival in submitted)) if arrival]
    table.close()
    assert (desk.trouble, states) == ({}, [Stage.GRADED, Stage.GRADED, Stage.FAILED, Stage.GRADED])
