"""The gradebook on a PostgreSQL server: the same rows as with SQLite, whatever happens to the server meanwhile."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import psycopg
import pytest
from postgresql_server import Server, programs
from sqlalchemy import Engine, event
from sqlalchemy.exc import OperationalError
from sqlalchemy.orm import scoped_session

from grader.classroom.run import autograde
from grader.course.folder import CONFIG_FILE, Course
from grader.errors import CourseError
from grader.gradebook.roster import RosterLine, write_roster
from grader.release.compiling import compile_release
from grader.serving.arrivals import Arrivals, Stage
from grader.serving.invitations import Role
from grader.serving.lti.people import Identity, People
from grader.serving.lti.store import COURSES, ITEMS, MEMBERSHIPS, PEOPLE, SCORES, Store
from support.observers import Messages, at_first_look
from support.proof import skip
from support.snapshots import files, rows

pytestmark = pytest.mark.slow

ASSIGNMENT = "self_attention"
OTHER = "multi_head_attention"
DUE = datetime(2026, 11, 20, 12)
RELEASED = "released"  # a database that only ever is copied


@pytest.fixture(scope="module")
def server() -> Iterator[Server]:
    folder = programs()
    if folder is None:
        skip("no PostgreSQL server installed (on Debian: apt-get install postgresql)")
    server = Server(folder)
    try:
        yield server
    finally:
        server.remove()


@pytest.fixture(scope="module")
def released(server: Server, new_course: Callable[[], Course]) -> Course:
    """A course whose release is in the database `released`."""
    course = new_course()
    server.make(RELEASED)
    use_database(course, server.url(RELEASED))
    for assignment in course.assignments():
        compile_release(course, assignment)
    return course


@pytest.fixture
def database(server: Server, released: Course, tmp_path: Path) -> Iterator[str]:  # noqa: ARG001  it must be there
    """The name of a database of this test's own, with the release in it."""
    name = tmp_path.name.replace("-", "_").lower()
    server.make(name, like=RELEASED)
    yield name
    server.start_again()
    server.drop(name)


@pytest.fixture
def on_server(course: Course, server: Server, database: str) -> Course:
    """A course of this test's own, whose gradebook is on the server."""
    (course.root / "gradebook.db").unlink()
    use_database(course, server.url(database))
    return Course(course.root)


def use_database(course: Course, url: str, more: str = "") -> None:
    with (course.root / CONFIG_FILE).open("a") as config:
        config.write(f"\nc.CourseDirectory.db_url = {url!r}\n{more}")


# What an instructor has settled before, and what a class hands in.


def set_up_gradebook(course: Course) -> None:
    (course.root / "course.toml").write_text("[late]\nper = 'day'\nshare = 0.1\n")
    with course.api().gradebook as gradebook:
        gradebook.update_or_create_assignment(ASSIGNMENT, duedate=DUE)
        for student in ("ada", "extended"):
            gradebook.update_or_create_student(student, first_name=student.title())
            gradebook.update_or_create_submission(ASSIGNMENT, student)
        gradebook.grant_extension(ASSIGNMENT, "extended", days=2)
        gradebook.find_grade("test-exercise-2", ASSIGNMENT, ASSIGNMENT, "ada").manual_score = 1.5
        gradebook.find_comment("exercise-3", ASSIGNMENT, ASSIGNMENT, "ada").manual_comment = "Nicely done — ẑ."
        gradebook.db.commit()


def hand_in(course: Course, submit: Callable[..., Path], solved: dict[int, str]) -> None:
    submit(course, "ada", {3: solved[3]})
    submit(course, "Ödön", {1: solved[1], 3: r"def softmax(items_in): raise ValueError('\0 \ud800 \U0001d544')"})
    submit(course, "broken", b"[]")
    for student, hours in (("late", 30), ("extended", 30), ("early", -5)):
        folder = submit(course, student, {3: solved[3], 5: solved[5]}).parent
        (folder / "timestamp.txt").write_text(f"{DUE + timedelta(hours=hours)} UTC")


def hand_in_three(course: Course, submit: Callable[..., Path], solved: dict[int, str]) -> None:
    for student in ("ada", "emmy", "zoe"):
        submit(course, student, {3: solved[3]})


def points(course: Course, **how: Any) -> dict[str, float]:
    """What each has who was graded now, and was not before."""
    results = autograde(Course(course.root), ASSIGNMENT, **how)
    return {one.student: one.points for one in results if not one.unchanged}


def test_postgresql_rows_and_notebooks_equal_those_of_sqlite(
    new_course: Callable[[], Course], on_server: Course, submit: Callable[..., Path], solved: dict[int, str]
) -> None:
    in_a_file = new_course()
    for course in (in_a_file, on_server):
        set_up_gradebook(course)
        hand_in(course, submit, solved)
        assert [one.error for one in autograde(course, ASSIGNMENT) if one.error] == []
    assert rows(on_server) == rows(in_a_file)
    assert files(on_server) == files(in_a_file)
    assert not (on_server.root / "gradebook.db").exists()
    penalties = {student: penalty for _, student, _, penalty, _, _ in rows(on_server)["notebooks"]}
    assert {student for student, penalty in penalties.items() if penalty} == {"late"}


def test_postgresql_term_rules_when_removed_take_back_penalties(
    on_server: Course, submit: Callable[..., Path], solved: dict[int, str]
) -> None:
    hand_in_three(on_server, submit, solved)
    (on_server.folder("submitted") / "zoe" / ASSIGNMENT / "timestamp.txt").write_text("2026-11-20 13:00:00 UTC")
    rules = on_server.root / "course.toml"
    rules.write_text(
        "[late]\nper = 'day'\nshare = 0.1\n[assignments.self_attention]\ndue = 2026-11-20T12:00:00Z\n"
        "extensions = {ada = '2 days'}\n"
    )
    points(on_server)
    assert penalties(on_server) == {"zoe": 0.2}, "a tenth of two points"
    assert {row[3] for row in rows(on_server)["submissions"]} == {None, timedelta(days=2)}
    rules.unlink()
    assert points(on_server) == {}
    assert penalties(on_server) == {}


def penalties(course: Course) -> dict[str, float]:
    return {student: penalty for _, student, _, penalty, _, _ in rows(course)["notebooks"] if penalty}


def test_postgresql_regrading_keeps_unchanged_rows_and_manual_points(
    on_server: Course, submit: Callable[..., Path], solved: dict[int, str]
) -> None:
    hand_in_three(on_server, submit, solved)
    assert points(on_server) == {"ada": 2, "emmy": 2, "zoe": 2}
    with on_server.api().gradebook as gradebook:
        gradebook.find_grade("test-exercise-2", ASSIGNMENT, ASSIGNMENT, "ada").manual_score = 2.5
        gradebook.db.commit()
    before = rows(on_server)
    assert points(on_server) == {}
    assert rows(on_server) == before
    submit(on_server, "ada", {5: solved[5]})
    assert points(on_server) == {"ada": 3}
    with on_server.api().gradebook as gradebook:
        assert gradebook.find_submission(ASSIGNMENT, "ada").score == 5.5


def test_postgresql_two_assignments_do_not_touch_each_other(
    on_server: Course, submit: Callable[..., Path], solved: dict[int, str]
) -> None:
    submit(on_server, "ada", {3: solved[3]})
    submit(on_server, "ada", {}, assignment=OTHER)
    submit(on_server, "emmy", {}, assignment=OTHER)
    first, *_ = autograde(on_server, ASSIGNMENT)
    before = rows(on_server)["grades"]
    assert {one.student: one.error for one in autograde(on_server, OTHER)} == {"ada": "", "emmy": ""}
    assert rows(on_server)["grades"] > before
    assert (first.points, points(on_server)) == (2, {})


def test_postgresql_gradebook_is_read_by_nbgrader_api(
    on_server: Course, submit: Callable[..., Path], solved: dict[int, str]
) -> None:
    hand_in_three(on_server, submit, solved)
    points(on_server)
    api = on_server.api()
    submissions = {one["student"]: one for one in api.get_submissions(ASSIGNMENT)}
    assert {student: one["score"] for student, one in submissions.items()} == {"ada": 2, "emmy": 2, "zoe": 2}
    assert all(one["autograded"] and not one["needs_manual_grade"] for one in submissions.values())
    about = next(one for one in api.get_student_submissions("ada") if one["name"] == ASSIGNMENT)
    assert (about["score"], about["max_score"]) == (2, 30)
    assert [one["average_score"] for one in api.get_notebooks(ASSIGNMENT)] == [2]
    assert len(api.get_notebook_submissions(ASSIGNMENT, ASSIGNMENT)) == 3
    before = rows(on_server)
    assert api.autograde(ASSIGNMENT, "ada")["success"]
    assert rows(on_server) == before


@pytest.fixture(scope="module")
def undisturbed_results(new_course: Callable[[], Course], submit: Callable[..., Path], solved: dict[int, str]) -> Any:
    """What is left of those three where nothing happens, in SQLite."""
    course = new_course()
    hand_in_three(course, submit, solved)
    points(course)
    return rows(course), files(course)


@pytest.mark.parametrize("how", ["fast", "immediate"])
def test_postgresql_when_server_restarts_is_waited_for(
    how: str,
    on_server: Course,
    server: Server,
    submit: Callable[..., Path],
    solved: Any,
    undisturbed_results: Any,
    messages: Messages,
) -> None:
    """It ends when all are graded and nobody is written down."""
    hand_in_three(on_server, submit, solved)
    messages.at_first = server.start
    watch = at_first_look(lambda: server.stop(how))
    assert points(on_server, watch=watch) == {"ada": 2, "emmy": 2, "zoe": 2}
    assert len(messages.texts) == 1
    assert "Waiting for it" in messages.texts[0]
    assert (rows(on_server), files(on_server)) == undisturbed_results


def test_postgresql_when_server_crashes_before_commit_repeats_batch(
    on_server: Course,
    server: Server,
    submit: Callable[..., Path],
    solved: Any,
    undisturbed_results: Any,
    monkeypatch: Any,
    messages: Messages,
) -> None:
    """All is written and nothing kept, in the second of three batches."""
    monkeypatch.setattr("grader.classroom.run.BATCH", 1)
    hand_in_three(on_server, submit, solved)
    commits = []

    def crash(_connection: Any) -> None:
        commits.append(1)
        if len(commits) == 2:
            server.stop("immediate")

    messages.at_first = server.start
    watch = at_first_look(lambda: event.listen(Engine, "commit", crash))
    try:
        assert points(on_server, watch=watch) == {"ada": 2, "emmy": 2, "zoe": 2}
    finally:
        event.remove(Engine, "commit", crash)
    assert len(messages.texts) == 1
    assert (rows(on_server), files(on_server)) == undisturbed_results


def test_postgresql_when_server_crashes_after_commit_doubles_nothing(
    on_server: Course,
    server: Server,
    submit: Callable[..., Path],
    solved: Any,
    undisturbed_results: Any,
    monkeypatch: Any,
    messages: Messages,
) -> None:
    monkeypatch.setattr("grader.classroom.run.BATCH", 1)
    hand_in_three(on_server, submit, solved)
    commit = scoped_session.commit
    commits = []

    def commit_and_crash(session: Any) -> None:
        commit(session)
        commits.append(1)
        if len(commits) == 2:
            server.stop("immediate")
            raise OperationalError("COMMIT", {}, psycopg.OperationalError("server closed the connection unexpectedly"))

    def begin() -> None:
        monkeypatch.setattr(scoped_session, "commit", commit_and_crash)

    messages.at_first = server.start
    watch = at_first_look(begin)
    assert points(on_server, watch=watch) == {"ada": 2, "emmy": 2, "zoe": 2}
    # The three submissions, one of them twice, and what being late costs.
    assert (len(messages.texts), len(commits)) == (1, 5)
    monkeypatch.undo()
    assert (rows(on_server), files(on_server)) == undisturbed_results


def test_postgresql_when_server_stays_down_half_writes_nothing(
    on_server: Course,
    server: Server,
    submit: Callable[..., Path],
    solved: Any,
    undisturbed_results: Any,
    monkeypatch: Any,
) -> None:
    """The first of three is kept; the next run takes the others, and only them."""
    monkeypatch.setattr("grader.classroom.run.BATCH", 1)
    hand_in_three(on_server, submit, solved)
    run = autograde(on_server, ASSIGNMENT)
    first = next(run)
    server.stop("immediate")
    with monkeypatch.context() as patch:
        patch.setattr("grader.gradebook.connection.PATIENCE", 0.0)
        with pytest.raises(CourseError, match=r"Nothing is half-saved\. Run this again") as told:
            list(run)
        assert "postgresql" in str(told.value)
        with pytest.raises(CourseError, match="cannot be used"):
            next(autograde(on_server, ASSIGNMENT))
    server.start()
    assert {one[1] for one in rows(on_server)["submissions"]} == {first.student}
    assert {path.split("/")[0] for path in files(on_server)} - {".waiting"} == {first.student}
    assert points(on_server) == {student: 2 for student in ("ada", "emmy", "zoe") if student != first.student}
    assert (rows(on_server), files(on_server)) == undisturbed_results


def test_postgresql_when_server_is_down_at_start_is_waited_for(
    on_server: Course, server: Server, submit: Callable[..., Path], solved: Any, messages: Messages
) -> None:
    submit(on_server, "ada", {3: solved[3]})
    server.stop()
    messages.at_first = server.start
    assert points(on_server) == {"ada": 2}
    assert len(messages.texts) == 1


def test_postgresql_when_table_is_locked_is_waited_for(
    on_server: Course,
    server: Server,
    database: str,
    submit: Callable[..., Path],
    solved: Any,
    monkeypatch: Any,
    messages: Messages,
) -> None:
    """With a message, where the server would have us wait for ever without a word."""
    submit(on_server, "ada", {3: solved[3]})
    with server.connect(database) as other:
        other.execute("SET idle_in_transaction_session_timeout = '1min'")  # if we wait for ever, it does not
        other.commit()
        messages.at_first = other.rollback
        watch = at_first_look(lambda: other.execute("LOCK TABLE submitted_assignment"))
        assert points(on_server, watch=watch) == {"ada": 2}
        assert len(messages.texts) == 1
        assert "lock timeout" in messages.texts[0]
        other.execute("LOCK TABLE submitted_assignment")
        monkeypatch.setattr("grader.gradebook.connection.PATIENCE", 0.0)
        with pytest.raises(CourseError, match="lock timeout"):
            list(autograde(on_server, ASSIGNMENT))


def test_postgresql_when_student_is_added_meanwhile_grades_her(
    on_server: Course, server: Server, database: str, submit: Callable[..., Path], solved: Any
) -> None:
    """Between our look at who is there and our row for her."""
    submit(on_server, "ada", {3: solved[3]})

    told: list[str] = []

    def add(_one: Any, _two: Any, statement: str, *_: Any) -> None:
        if statement.startswith("INSERT INTO student") and not told:
            told.append(statement)
            with server.connect(database) as other:
                other.execute("INSERT INTO student (id, first_name) VALUES ('ada', 'Ada')")

    event.listen(Engine, "before_cursor_execute", add)
    try:
        assert points(on_server) == {"ada": 2}
    finally:
        event.remove(Engine, "before_cursor_execute", add)
    assert {one[:2] for one in rows(on_server)["students"]} == {("ada", "Ada")}


def test_postgresql_keeps_no_transaction_open_while_grading(
    on_server: Course, server: Server, database: str, submit: Callable[..., Path], solved: Any
) -> None:
    """It would be in the way of others, and end up as a lost connection where the server permits none."""
    submit(on_server, "ada", {3: solved[3]})
    states: list[str] = []

    def look() -> None:
        with server.connect(database) as other:
            query = "SELECT state FROM pg_stat_activity WHERE datname = %s AND pid != pg_backend_pid()"
            states.extend(state for (state,) in other.execute(query, [database]))

    points(on_server, watch=at_first_look(look))
    assert set(states) == {"idle"}


@pytest.mark.parametrize(
    ("url", "words"),
    [
        ("postgresql+nonsense://grader@/attention", "postgresql.nonsense"),
        ("postgresql+pg8000://grader@/attention", "pg8000"),  # a driver that is not installed
        ("gradebook.db", "Could not parse"),
    ],
)
def test_db_url_when_unusable_is_a_clear_error(
    url: str, words: str, course: Course, submit: Callable[..., Path]
) -> None:
    submit(course, "ada")
    use_database(course, url)
    with pytest.raises(CourseError, match=rf"{words}.*pip install 'psycopg\[binary\]'"):
        list(autograde(Course(course.root), ASSIGNMENT))


def test_db_url_error_hides_the_password(
    course: Course, submit: Callable[..., Path], tmp_path: Path, monkeypatch: Any
) -> None:
    """Neither where it is meant to be nor where it may be as well."""
    monkeypatch.setattr("grader.gradebook.connection.PATIENCE", 0.0)
    submit(course, "ada")
    use_database(course, f"postgresql+psycopg://grader:secret@/attention?host={tmp_path}&password=secret")
    with pytest.raises(CourseError, match="cannot be used") as told:
        list(autograde(Course(course.root), ASSIGNMENT))
    assert "secret" not in str(told.value)


def test_postgresql_when_best_counts_restores_its_manual_points(
    on_server: Course, submit: Callable[..., Path], solved: dict[int, str]
) -> None:
    def total() -> float:
        assert [one.error for one in autograde(Course(on_server.root), ASSIGNMENT)] == [""]
        with on_server.api().gradebook as gradebook:
            return float(gradebook.find_submission(ASSIGNMENT, "Ödön").score)

    def by_hand(exercise: int, points: float, words: str | None = None) -> None:
        with on_server.api().gradebook as gradebook:
            names = (ASSIGNMENT, ASSIGNMENT, "Ödön")
            gradebook.find_grade(f"test-exercise-{exercise}", *names).manual_score = points
            gradebook.find_comment(f"exercise-{exercise}", *names).manual_comment = words
            gradebook.db.commit()

    (on_server.root / "course.toml").write_text('counts = "best"\n')
    odd = r"def softmax(items_in): raise ValueError('\0 \ud800 \U0001d544')"
    submit(on_server, "Ödön", {1: solved[1], 3: odd})
    assert total() == 3
    by_hand(2, 1, "Nicely done — ẑ.")
    other = "def attention_scores(all_queries, all_keys): return None"
    submit(on_server, "Ödön", {1: solved[1], 2: other, 3: solved[3]})
    assert total() == 5
    by_hand(3, 0.5)
    assert total() == 4, "3 and 1 by hand are more than 3 and 0.5"
    with on_server.api().gradebook as gradebook:
        said = gradebook.find_comment("exercise-2", ASSIGNMENT, ASSIGNMENT, "Ödön").manual_comment
    assert said == "Nicely done — ẑ."
    assert b"ud800" in on_server.notebook("autograded/Ödön", ASSIGNMENT).read_bytes()


def test_postgresql_arrivals_survive_a_server_restart(on_server: Course, server: Server) -> None:
    with contextlib.closing(Arrivals(on_server)) as arrivals:
        first = arrivals.add("ada", ASSIGNMENT, {ASSIGNMENT: b"{}"})
        server.stop("immediate")
        server.start_again()
        second = arrivals.add("ada", ASSIGNMENT, {ASSIGNMENT: b"{ }"})
        arrivals.finish(first, Stage.GRADED, {"points": 1.0})
        assert arrivals.once_more(first)
        assert not arrivals.once_more(second)
    with contextlib.closing(Arrivals(on_server)) as arrivals:
        assert [(one.number, one.state) for one in arrivals.of_student("ada")] == [(2, "waiting"), (1, "waiting")]
    assert not (on_server.root / "arrived" / "serving.db").exists()


def test_postgresql_keeps_what_lti_does(on_server: Course) -> None:
    """Each constraint holds there, too, and what belongs to a course goes with it."""
    with contextlib.closing(Arrivals(on_server)) as arrivals:
        store = Store(arrivals.engine)
        people = People(on_server, store)
        write_roster(on_server.root, [RosterLine("ada", email="ada@example.edu"), RosterLine("emmy")])
        contexts = [{"registration": "campus", "deployment": "1", "context": name} for name in ("first", "second")]
        first, second = (store.save(COURSES, context, is_confirmed=1) for context in contexts)
        for course in (first, second, first):
            people.enter(course, Identity("sub-ada", "Ada ẑ", "ada@example.edu", {}), Role.STUDENT)
        people.enter(first, Identity("sub-2", "", "ada@example.edu", {}), Role.STUDENT)
        assert [(person.sub, person.student) for person in people.students_in(first.id)] == [
            ("sub-ada", "ada"),
            ("sub-2", None),
        ]
        (ada,) = people.students_in(second.id)
        for course in (first, second):
            item = store.save(ITEMS, {"course": course.id, "assignment": ASSIGNMENT}, line_item="https://a.edu")
            store.save(SCORES, {"item": item.id, "person": ada.id}, state="waiting")
        store.remove(COURSES, id=first.id)
        store.remove_strangers()
        store.remove_unconfirmed()
        assert [len(store.rows(table)) for table in (COURSES, PEOPLE, MEMBERSHIPS, ITEMS, SCORES)] == [1] * 5
        assert [store.use_nonce("once"), store.use_nonce("once")] == [True, False]
