"""`grader publish --send`, against a server that answers as Canvas and Moodle say that they do."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from typing import Any

import pytest

from grader.course.folder import Course
from grader.errors import CourseError
from grader.export import rest, send
from grader.export.platform import Grade, PlatformApi
from grader.export.rest import Rest
from grader.gradebook.published import Publication, Publications, points_to_publish
from grader.gradebook.roster import RosterLine, write_roster
from grader.gradebook.standings import read_class
from support.command_line import Ended
from support.command_line import grader as run_grader
from support.made_class import ASSIGNMENT, Paper, grade
from support.messages import Messages
from support.platform_server import TOKEN, Held, serving

pytestmark = pytest.mark.slow

KINDS = ("canvas", "moodle")
POINTS = {"ada": 30.0, "alan": 26.5, "barbara": 26.75}
IDS = {"ada": 7, "alan": 8, "barbara": 9}


@pytest.fixture
def published(course: Course) -> Course:
    """Three students who were told their points. Their addresses are known, and a late one's penalty."""
    a_day_late = datetime(2026, 1, 2, 12)
    alan = Paper("alan", {2: 0.5}, {2: ["not scaled"]}, timestamp=a_day_late)
    grade(course, Paper("ada"), alan, Paper("barbara", {7: 0.35}))
    (course.root / "course.toml").write_text('[late]\nper = "day"\nshare = 0.0702\n')  # two of alan's 28.5 points
    with course.api().gradebook as gradebook:
        for name in POINTS:
            gradebook.update_or_create_student(name, email=f"{name}@example.edu", lms_user_id=f"u-{name}")
        gradebook.update_or_create_assignment(ASSIGNMENT, duedate="2026-01-01 12:00:00 UTC")
    publications = Publications(course, ASSIGNMENT)
    publications.begin()
    told, most = points_to_publish(course, ASSIGNMENT)
    publications.keep(Publication(1, "2026-11-24T10:15:00+00:00", "me", most, told))
    return course


@pytest.fixture
def held() -> Held:
    """The three, and somebody whom we do not know."""
    names = {**IDS, "kurt": 10}
    people = [
        {"id": number, "username": name, "login_id": name, "email": f"{name}@Example.edu", "idnumber": f"u-{name}",
         "sis_user_id": f"u-{name}"}
        for name, number in names.items()
    ]  # fmt: skip
    return Held(people, dict.fromkeys(names.values()))


@pytest.fixture
def url(held: Held) -> Iterator[str]:
    with serving(held) as address:
        yield address


@pytest.fixture
def waited_seconds() -> list[float]:
    """For how long the platform was waited for; nobody really waits."""
    return []


@pytest.fixture(params=KINDS)
def platform(request: pytest.FixtureRequest, url: str, waited_seconds: list[float]) -> PlatformApi:
    found = send.platform_at(request.param, "101/4711", environment(request.param, url))
    found._rest._sleep = waited_seconds.append  # type: ignore[attr-defined]
    return found


@pytest.fixture(params=KINDS)
def kind_and_url(request: pytest.FixtureRequest, url: str) -> tuple[str, str]:
    return request.param, url


def environment(kind: str, url: str, token: str = TOKEN) -> dict[str, str]:
    return {f"{kind.upper()}_URL": url, f"{kind.upper()}_TOKEN": token}


def plan_grades(course: Course, platform: PlatformApi, **how: str) -> list[Grade]:
    return send.plan(course, ASSIGNMENT, platform, how.get("by", "username"), how.get("link", ""))


def send_grades(course: Course, platform: PlatformApi, grades: list[Grade], yes: bool = True) -> int:
    return send.send(course, ASSIGNMENT, platform, grades, yes)


def writing_calls(held: Held) -> list[str]:
    return [call for call in held.calls if call.startswith("PUT") or "save" in call]


# --- what is sent ----------------------------------------------------------------------------------------------------


def test_send_gives_points_and_a_comment_to_each(published: Course, platform: PlatformApi, held: Held) -> None:
    grades = plan_grades(published, platform, link="https://pages.example.edu/{student}?a=1&b=2")
    assert [(one.student, one.before, one.points) for one in grades] == [(name, None, POINTS[name]) for name in POINTS]
    assert send_grades(published, platform, grades) == 3
    assert held.score == {**{IDS[name]: points for name, points in POINTS.items()}, 10: None}
    said = "26.5 of 30 points (1: 3, 2: 1.5, 3: 2, 4: 2, 5: 3, 6: 4, 7: 5, 8: 8, late penalty: 2). "
    (comment,) = held.comments[8]
    amp = "&amp;" if platform.name == "Moodle" else "&"
    assert comment == f"{said}https://pages.example.edu/alan?a=1{amp}b=2"
    assert len(writing_calls(held)) == (1 if platform.name == "Moodle" else 3)


def test_plan_leaves_out_points_that_are_right_there(published: Course, platform: PlatformApi, held: Held) -> None:
    held.score |= {7: 30.0, 8: 20.0}
    assert [(one.student, one.before) for one in plan_grades(published, platform)] == [
        ("alan", 20.0),
        ("barbara", None),
    ]
    send_grades(published, platform, plan_grades(published, platform))
    assert plan_grades(published, platform) == []
    assert 7 not in held.comments


def test_send_when_plan_was_not_shown_sends_nothing(published: Course, platform: PlatformApi, held: Held) -> None:
    assert send_grades(published, platform, plan_grades(published, platform), yes=False) == 0
    assert writing_calls(held) == []
    held.score[7] = 29.0  # somebody has changed it there meanwhile
    assert send_grades(published, platform, plan_grades(published, platform), yes=False) == 0
    assert send_grades(published, platform, plan_grades(published, platform), yes=False) == 3


def test_send_when_cut_off_continues(published: Course, platform: PlatformApi, held: Held) -> None:
    """Where it is not known whether it was done, it is not done again by itself: a comment would stand there twice."""
    platform.at_once = 1
    send_grades(published, platform, plan_grades(published, platform), yes=False)
    held.first_writes += [(429, {"Retry-After": "3"}, "")] + [(0, {}, "")] * rest.TRIES
    with pytest.raises(CourseError, match=r"continues where it stopped\. 0 of 3 were sent\."):
        send_grades(published, platform, plan_grades(published, platform), yes=False)
    assert len(writing_calls(held)) == (2 if platform.name == "Canvas" else 1 + rest.TRIES - 1)
    held.first_writes.clear()
    held.score[7] = 30.0  # it had been done
    assert send_grades(published, platform, plan_grades(published, platform), yes=False) == 2
    assert held.score[8] == POINTS["alan"]
    assert {user: len(comments) for user, comments in held.comments.items()} == {8: 1, 9: 1}


# --- who it is -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("by", ["email", "idnumber"])
def test_plan_matches_students_by_the_chosen_field(
    by: str, published: Course, platform: PlatformApi, held: Held
) -> None:
    for one in held.people:
        one["username"] = one["login_id"] = f"x{one['id']}"
    with pytest.raises(
        CourseError, match=r"cannot match any student here by Username\. Try another way: --by username or"
    ):
        plan_grades(published, platform)
    assert [one.id for one in plan_grades(published, platform, by=by)] == ["7", "8", "9"]


def test_plan_leaves_out_and_names_ambiguous_students(
    published: Course, platform: PlatformApi, held: Held, messages: Messages
) -> None:
    held.people[3].update(username="ADA", login_id="ADA")
    del held.people[1]
    assert [one.student for one in plan_grades(published, platform)] == ["barbara"]
    assert messages.texts == [
        f"Left out, because {platform.name} has no match, or several, for their Username: ada and alan."
    ]


def test_plan_matches_by_the_canvas_id_of_the_roster(
    published: Course, held: Held, url: str, messages: Messages
) -> None:
    for one in held.people:
        one["login_id"] = {7: "alan", 8: "unknown", 9: "barbara"}.get(int(one["id"]), "kurt")
    write_roster(
        published.root, [RosterLine("ada", canvas_id="7"), RosterLine("alan", canvas_id="8"), RosterLine("barbara")]
    )
    canvas = send.platform_at("canvas", "101/4711", environment("canvas", url))
    assert {one.student: one.id for one in plan_grades(published, canvas)} == {"ada": "7", "alan": "8", "barbara": "9"}
    write_roster(published.root, [RosterLine("ada", canvas_id="7"), RosterLine("alan")])  # whose name is ada's there
    assert {one.student: one.id for one in plan_grades(published, canvas)} == {"ada": "7", "barbara": "9"}
    assert messages.texts == ["Left out, because Canvas has no match, or several, for their Username: alan."]


def test_plan_leaves_out_excused_students(published: Course, held: Held, url: str, messages: Messages) -> None:
    held.excused = {8}
    canvas = send.platform_at("canvas", "101/4711", environment("canvas", url))
    assert [one.student for one in plan_grades(published, canvas)] == ["ada", "barbara"]
    assert messages.texts == ["Left out, because they are excused or not assigned in Canvas: alan."]


def test_plan_reads_all_pages_of_students(published: Course, platform: PlatformApi, held: Held) -> None:
    """Those of ours come last."""
    others = [{"id": 1000 + n, "username": f"n{n}", "login_id": f"n{n}"} for n in range(205)]
    held.people[:0] = others
    held.score = {one["id"]: None for one in held.people}
    assert [one.id for one in plan_grades(published, platform)] == ["7", "8", "9"]


# --- what goes wrong -------------------------------------------------------------------------------------------------


def test_platform_that_asks_for_time_is_waited_for(
    published: Course, platform: PlatformApi, held: Held, waited_seconds: list[float]
) -> None:
    later = format_datetime(datetime.now(UTC) - timedelta(hours=1))
    held.first += [(429, {"Retry-After": "7"}, ""), (429, {"Retry-After": later}, ""), (503, {}, "")]
    held.first += [(403, {}, "403 Forbidden (Rate Limit Exceeded)"), (502, {}, "")]
    assert len(plan_grades(published, platform)) == 3
    assert waited_seconds == [7.0, 0.0, 4.0, 8.0, 16.0]
    held.first += [(0, {}, "")]
    held.first_writes += [(429, {"Retry-After": "7"}, "")]
    assert send_grades(published, platform, plan_grades(published, platform)) == 3
    assert waited_seconds[5:] == [1.0, 7.0]


def test_platform_that_stays_busy_raises(published: Course, platform: PlatformApi, held: Held) -> None:
    held.first += [(429, {}, "")] * rest.TRIES
    with pytest.raises(CourseError, match=r"is busy\. Run this again"):
        plan_grades(published, platform)
    held.first[:] = [(429, {"Retry-After": "86400"}, "")]
    with pytest.raises(CourseError, match="is busy"):
        plan_grades(published, platform)
    assert held.first == []


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        ((403, {}, '{"message": "user not authorized"}'), "does not allow this to the token's owner: .*not authorized"),
        ((404, {}, "gone"), "cannot find this: gone"),
        ((500, {}, "oh"), "returned error 500: oh Run this again"),
        ((302, {"Location": "http://127.0.0.1:9/"}, ""), "redirects to http://127.0.0.1:9/"),
        ((200, {}, "<html>"), "not return JSON. Check its address"),
    ],
)  # fmt: skip
def test_platform_error_is_named_in_the_course_error(
    answer: tuple[int, dict[str, str], str], words: str, published: Course, platform: PlatformApi, held: Held
) -> None:
    held.first.append(answer)
    with pytest.raises(CourseError, match=f"{platform.name} .*{words}"):
        plan_grades(published, platform)


@pytest.mark.parametrize(("kind", "words"), [("canvas", "rejected the token"), ("moodle", r"Invalid token \(inval")])
def test_wrong_token_is_named_and_not_shown(kind: str, words: str, published: Course, url: str) -> None:
    platform = send.platform_at(kind, "101/4711", environment(kind, url, token="wrong-one"))
    with pytest.raises(CourseError, match=words) as failed:
        plan_grades(published, platform)
    assert "wrong-one" not in str(failed.value)


JSON = (
    "", "null", "3", '"text"', "[null]", "[[]]", "[{}]", "{}", '{"id": 1}', '[{"id": {}}]', '[{"id": true}]',
    '[{"id": "../7"}]',
    '{"courses": 3}', '{"courses": [{"assignments": {}}]}', '{"courses": [{"assignments": [{"id": 4711}]}]}',
    '{"courses": [{"assignments": [{"id": 4711, "name": [], "grade": "NaN"}]}]}',
    '{"assignments": [{"grades": [{"userid": 7, "grade": "many"}]}]}',
    '{"assignments": [{"grades": [{"userid": 7, "grade": Infinity, "attemptnumber": []}]}]}',
    '{"name": {}, "grading_type": "points", "points_possible": "30"}',
    '{"name": "x", "grading_type": "points", "points_possible": NaN}',
    '[{"user_id": 7, "score": "30"}]', '[{"user_id": 7, "score": NaN}]', '[{"user_id": 7, "score": [1]}]',
    "[" * 100_000, "1" * 10_000, "\udcff", "<html>", f'"{"x" * 2**20}"',
    f'{{"exception": {{}}, "message": ["{TOKEN}"], "errorcode": "{TOKEN}"}}',
)  # fmt: skip
HOSTILE = [
    *((200, {}, text) for text in JSON),
    (200, {"Content-Length": "99"}, "[]"),
    (200, {"Content-Length": "-1"}, "[]"),
    (200, {"Link": f'<http://[{TOKEN}>; rel="next"'}, "[]"),
    (200, {"Link": f'<https://example.edu/{TOKEN}>; rel="next"'}, "[]"),
    (200, {"X": "x" * 100_000}, "[]"),
    (204, {}, ""), (301, {}, ""), (304, {}, ""), (418, {}, "x" * 289 + TOKEN),
    *((302, {"Location": place}, "") for place in (f"https://example.edu/?t={TOKEN}", "http://[", "file:///x", "//")),
    (401, {}, TOKEN), (403, {}, f"Authorization: Bearer {TOKEN}"), (500, {}, f"wstoken={TOKEN}"),
    (403, {"Content-Length": "99"}, "cut off"),
    *((429, {"Retry-After": when}, "") for when in ("nan", "-5", "soon", "9e9", "Mon, 01 Jan 9999999999 0:0:0 GMT")),
]  # fmt: skip


def refusal(ask: Callable[[], object]) -> str:
    """What is said, if it is refused; any other error fails the test."""
    try:
        ask()
    except CourseError as error:
        return str(error)
    return ""


def test_hostile_answers_of_a_platform_raise_a_sentence(
    published: Course, kind_and_url: tuple[str, str], held: Held, monkeypatch: pytest.MonkeyPatch
) -> None:
    """At each step, to reading and to writing; none of it shows the token, sends anything, or is a traceback."""
    monkeypatch.setattr(rest, "MAX_BYTES", 2**19)
    known = read_class(published, ASSIGNMENT)
    monkeypatch.setattr(send, "read_class", lambda *_: known)
    kind, url = kind_and_url

    def new() -> PlatformApi:
        made = send.platform_at(kind, "101/4711", environment(kind, url))
        made._rest._sleep = lambda _: None  # type: ignore[attr-defined]
        return made

    grades = plan_grades(published, new())
    reads = len(held.calls)
    for answer in HOSTILE:
        for before in range(reads):
            held.first[:] = [*[None] * before, answer]
            said = refusal(lambda: plan_grades(published, new()))
            assert new().name in said or not said, (answer, before)
            assert TOKEN[4:] not in said, (answer, before)
            assert held.first == []
        assert writing_calls(held) == []
        held.first_writes[:] = [answer]
        assert TOKEN[4:] not in refusal(lambda: send_grades(published, new(), grades)), answer
        held.calls.clear()


def test_plan_when_answer_has_another_type_raises(published: Course, platform: PlatformApi, held: Held) -> None:
    """Else all would be left alone, or sent again."""
    for before in (1, 2):
        held.first[:] = [*[None] * before, (200, {}, "{}")]
        with pytest.raises(CourseError, match="sent an unexpected answer"):
            plan_grades(published, platform)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    "text", ["not-for\nothers", "not for others", "", "„not-for-others“", "not-for-others\0", "x" * 5000]
)
def test_platform_at_with_a_malformed_token_hides_it(text: str, kind: str, url: str) -> None:
    with pytest.raises(CourseError, match=f"{kind.upper()}_TOKEN") as failed:
        send.platform_at(kind, "101/4711", environment(kind, url, token=text))
    assert not text or text not in str(failed.value)
    assert "others" not in str(failed.value)


def test_platform_at_strips_line_ends_of_token_and_url(published: Course, kind_and_url: tuple[str, str]) -> None:
    kind, url = kind_and_url
    platform = send.platform_at(kind, "101/4711", environment(kind, f"{url}/\n", token=f"{TOKEN}\r\n"))
    assert len(plan_grades(published, platform)) == 3


@pytest.mark.parametrize(
    "url",
    ["https://ada:not-for-others@example.edu", "https://example.edu/?token=not-for-others", "https://[", "https://",
     "https://exa mple.edu", "https://example.edu/\nnot-for-others", "https://münchen.example"],
)  # fmt: skip
def test_platform_at_with_a_malformed_url_hides_it(url: str) -> None:
    with pytest.raises(CourseError, match="CANVAS_URL") as failed:
        send.platform_at("canvas", "101/4711", environment("canvas", url))
    assert "not-for-others" not in str(failed.value)


def test_platform_that_redirects_does_not_get_the_token(published: Course, held: Held, url: str) -> None:
    other = Held(people=held.people)
    canvas = send.platform_at("canvas", "101/4711", environment("canvas", url))
    with serving(other) as address:
        held.link = f"{address}/api/v1/courses/101/users?page=2"
        with pytest.raises(CourseError, match="Canvas redirects to"):
            plan_grades(published, canvas)
    assert other.calls == []
    with pytest.raises(CourseError, match="begin with https://"):
        Rest("Canvas", "http://canvas.example.edu", {})


@pytest.mark.parametrize(
    ("there", "words"),
    [
        ({"max_points": 100.0}, "has 100 points; here, it has 30. Change that there"),
        ({"max_points": 0.0}, "has (0|no) points; here"),
        ({"grading_type": "percent"}, "is not graded with points"),
        ({"teams": 1}, "is a group assignment"),
    ],
)
def test_plan_when_assignment_cannot_take_the_points_raises(
    there: dict[str, Any], words: str, published: Course, platform: PlatformApi, held: Held
) -> None:
    vars(held).update(there)
    if {"grading_type": "Moodle", "teams": "Canvas"}.get(next(iter(there))) == platform.name:
        assert plan_grades(published, platform), "it has no such thing"
        return
    with pytest.raises(CourseError, match=words):
        plan_grades(published, platform)
    assert writing_calls(held) == []


def test_plan_when_moodle_assignment_is_unknown_lists_them(published: Course, url: str) -> None:
    moodle = send.platform_at("moodle", "101/9", environment("moodle", url))
    with pytest.raises(CourseError, match=r"no assignment 9 in course 101. There are: 4711 \(Self-attention\)"):
        plan_grades(published, moodle)


# --- the command -----------------------------------------------------------------------------------------------------


def command(course: Course, *words: str) -> Ended:
    return run_grader("publish", ASSIGNMENT, "--stale-anyway", *words, folder=course.root)


@pytest.mark.parametrize("kind", KINDS)
def test_publish_send_shows_then_sends_then_has_nothing_to_do(
    kind: str, published: Course, held: Held, url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in environment(kind, url).items():
        monkeypatch.setenv(name, value)
    words = ("--to", kind, "--send", "--at", "101/4711", "--by", "email")
    shown = command(published, *words)
    assert shown.returncode == 0, shown.stderr
    assert re.search(r"^ alan +– +26\.5 +26\.5 of 30 points \(1: 3, 2: 1\.5", shown.stdout, re.MULTILINE)
    assert "Nothing was sent yet." in shown.stdout
    assert writing_calls(held) == []
    assert command(published, *words).stdout.endswith("Sent 3 grades.\n")
    assert held.score[8] == 26.5
    assert "Nothing was sent." in command(published, *words).stdout
    assert TOKEN not in shown.stdout + shown.stderr


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--to", "canvas", "--at", "101/4711"], "Add it, or leave them out."),
        (["--to", "canvas", "--link", "https://example.edu"], "Add it, or leave them out."),
        (["--send", "--to", "canvas"], "Use --at COURSE/ASSIGNMENT"),
        (["--send", "--to", "canvas", "--at", "x"], "Use --at COURSE/ASSIGNMENT"),
        (["--send", "--to", "canvas", "--at", "101/4711"], "Set CANVAS_URL and CANVAS_TOKEN."),
        (["--send", "--at", "101/4711"], "--to canvas or --to moodle"),
        (["--send", "--to", "canvas", "--to", "moodle", "--at", "1/2"], "--to canvas or --to moodle"),
    ],
)
def test_publish_send_when_an_option_is_missing_publishes_nothing(
    words: list[str], said: str, published: Course, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("CANVAS_URL", "CANVAS_TOKEN"):
        monkeypatch.delenv(name, raising=False)
    ended = command(published, *words)
    assert (ended.returncode, said in " ".join(ended.stderr.split())) == (1, True), ended.stderr
    assert Publications(published, ASSIGNMENT).numbers == [1]
    assert not (published.root / "export").exists()
