"""What programs may ask of a server: it answers as it describes itself, and tokens do what their scopes say."""

from __future__ import annotations

import csv
import io
import json
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import httpx
import pytest
from jsonschema import Draft202012Validator
from tornado.routing import PathMatches

from grader.course.folder import Course
from grader.serving import invitations
from grader.serving.invitations import Scope
from grader.serving.web import application
from support.command_line import grader
from support.served import API, ASSIGNMENT, PATIENCE, Served, serving

pytestmark = pytest.mark.slow

SOON = timedelta(hours=1)


@pytest.fixture(scope="module")
def served(new_course: Callable[[], Course]) -> Iterator[Served]:
    with serving(new_course()) as one:
        yield one


@pytest.fixture(scope="module")
def notebook(served: Served, make_notebook: Callable[..., Any], solved: dict[int, str]) -> bytes:
    code = "def softmax(items):\n    exp = torch.exp(torch.as_tensor(items))\n    return exp / exp.mean()"
    return json.dumps(make_notebook(served.course, solved | {3: code})).encode()


@pytest.fixture(scope="module")
def graded(served: Served, notebook: bytes) -> int:
    number: int = served.submit("ada", notebook)["submission"]
    served.verdict("ada", number)
    return number


@pytest.fixture(scope="module")
def description(served: Served) -> dict[str, Any]:
    found: dict[str, Any] = served.get("", "/openapi.json").json()
    return found


def new_token(served: Served, name: str, *scopes: Scope) -> str:
    """The name under which `served` now knows a token of this person."""
    called = f"{name}, {scopes}"
    served.codes[called] = invitations.new_token(served.course, name, scopes, datetime.now(UTC) + SOON)
    return called


# --- the description -------------------------------------------------------------------------------------------------


def test_api_answers_as_openapi_describes(
    served: Served, graded: int, notebook: bytes, description: dict[str, Any]
) -> None:
    assert description["openapi"] == "3.1.0"
    for place, methods in description["paths"].items():
        there = place.format(assignment=ASSIGNMENT, submission=graded)
        for method, one in methods.items():
            (needed, *_) = one["security"][0]["token"]
            name = "ada" if needed in ("submit", "read") else "prof"
            answer = served.post(name, there, notebook) if method == "post" else served.get(name, there)
            must_fit(answer, one)
            must_fit(served.get("", there), one)
    assert served.get("ada", "/submissions/99999").json() == {"error": "There is nothing here."}
    assert served.get("ada", "/nothing").json() == {"error": "There is nothing here."}


def must_fit(answer: httpx.Response, described: dict[str, Any]) -> None:
    """Whether an answer has a described status, type and content."""
    responses = described["responses"]
    assert str(answer.status_code) in responses or answer.is_error, answer.text
    content = responses.get(str(answer.status_code), responses["default"])["content"]
    kind = answer.headers["Content-Type"].partition(";")[0]
    assert kind in content
    if schema := content[kind].get("schema"):
        Draft202012Validator.check_schema(schema)
        Draft202012Validator(schema).validate(answer.json())


def test_openapi_describes_every_address(description: dict[str, Any]) -> None:
    services: Any = SimpleNamespace(secret=b"", hub=None, outbox=None)
    matchers = [rule.matcher for rule in application(services, secure=False).wildcard_router.rules]
    found = [one.regex.pattern for one in matchers if isinstance(one, PathMatches)]
    known = {place for place in found if place.startswith(API)} - {f"{API}/openapi\\.json$", f"{API}/.*$"}
    described = {re.sub(r"{\w+}", "1", API + place) for place in description["paths"]}
    assert len(known) == len(described) > 5
    for place in known:
        assert [one for one in described if re.fullmatch(place, one)], place


def test_must_fit_when_answer_is_wrong_raises(served: Served, description: dict[str, Any]) -> None:
    answer = served.get("ada", "/me")
    other = httpx.Response(200, json=answer.json() | {"role": "king"})
    with pytest.raises(Exception, match="king"):
        must_fit(other, description["paths"]["/me"]["get"])


def test_events_hold_the_state_of_a_submission(served: Served, graded: int) -> None:
    (line,) = served.get("ada", f"/submissions/{graded}/events").text.split("\n\n")[:-1]
    state = json.loads(line.removeprefix("data: "))
    assert state | {"receipt": ...} == served.get("ada", f"/submissions/{graded}").json() | {"receipt": ...}


def test_server_that_stops_with_open_streams_logs_no_error(
    new_course: Callable[[], Course], make_notebook: Callable[..., Any], solved: dict[int, str]
) -> None:
    with serving(new_course()) as one:
        slow = json.dumps(make_notebook(one.course, solved | {3: f"import time\ntime.sleep(3)\n{solved[3]}"}))
        place = f"{one.address}{API}/submissions/{one.submit('ada', slow.encode())['submission']}/events"
        headers = {"Authorization": f"Bearer {one.codes['ada']}"}
        with httpx.stream("GET", place, headers=headers, timeout=PATIENCE) as events:
            assert next(events.iter_lines()).startswith("data: ")
            assert one.stop() == ""
    assert one.process.returncode == 0


def test_me_lists_scopes_and_assignments(served: Served) -> None:
    told = served.get("ada", "/me").json()
    assert (told["name"], told["role"], told["scopes"]) == ("ada", "student", ["read", "submit"])
    for name in ("prof", "grace"):
        assert served.get(name, "/me").json()["scopes"] == ["class", "read"]
    served.codes |= invitations.invite(served.course, ["zoe"])  # who has submitted nothing
    told = served.get("zoe", "/me").json()
    known = {
        "notebook": ASSIGNMENT,
        "notebooks": [ASSIGNMENT],
        "left": 50,
        "refusal": "",
        "late": "",
        "late_costs_points": False,
    }
    assert told["assignments"][ASSIGNMENT] == known


def test_class_points_equal_those_of_the_report(served: Served, notebook: bytes) -> None:
    number = served.submit("emmy", notebook)["submission"]
    served.verdict("emmy", number)
    (line,) = served.get("grace", "/class?student=emmy").json()["submissions"]
    assert (line["id"], line["student"], line["state"], line["max_points"]) == (number, "emmy", "graded", 30)
    report = served.get("grace", f"/assignments/{ASSIGNMENT}/report.json").json()
    (emmy,) = [one for one in report["students"] if one["student"] == "emmy"]
    assert emmy["points"] == line["points"] < 30
    for place in (f"/assignments/{ASSIGNMENT}/report.csv", "/term.csv"):
        rows = list(csv.DictReader(io.StringIO(served.get("grace", place).text.removeprefix("\ufeff"))))
        (of_emmy,) = [row for row in rows if row["student"] == "emmy"]
        assert f"{line['points']:g}" in of_emmy.values()
    refused = served.get("grace", "/assignments/transformer/report.json")
    assert (refused.status_code, "transformer is not graded yet" in refused.json()["error"]) == (404, True)


# --- tokens ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "scope"),
    [("ada", Scope.READ), ("ada", Scope.SUBMIT), *(("grace", scope) for scope in Scope)],
)
def test_token_does_only_what_its_scope_allows(
    served: Served, graded: int, notebook: bytes, description: dict[str, Any], name: str, scope: Scope
) -> None:
    called = new_token(served, name, scope)
    may: dict[str, bool] = {}
    for place, methods in description["paths"].items():
        there = place.format(assignment=ASSIGNMENT, submission=graded)
        for method, one in methods.items():
            answer = served.post(called, there, notebook) if method == "post" else served.get(called, there)
            may[place] = answer.is_success
            if scope not in one["security"][0]["token"]:
                assert answer.status_code == 403
                assert answer.json()["error"].startswith("This token may not do this. It needs --scope ")
    reads = name == "ada" and scope is Scope.READ
    assert may["/me"]
    assert may["/submissions/{submission}"] == may["/submissions/{submission}/events"] == reads
    assert may["/assignments/{assignment}"] == (name == "ada" and scope is Scope.SUBMIT)
    assert may["/class"] == may["/term.csv"] == may["/metrics"] == (scope is Scope.CLASS)


def test_token_scopes_add_up_within_the_rights_of_the_owner(served: Served, graded: int) -> None:
    both = new_token(served, "grace", Scope.CLASS, Scope.READ)
    assert served.get(both, f"/submissions/{graded}").status_code == 200
    assert served.post(both, f"/assignments/{ASSIGNMENT}", b"{}").status_code == 403
    other = new_token(served, "emmy", Scope.READ)
    assert served.get(other, f"/submissions/{graded}").status_code == 404


def test_token_of_a_student_never_sees_the_class(served: Served, graded: int) -> None:
    refused = grader("students", "token", "emmy", "--scope", "class", "--scope", "read", folder=served.course.root)
    assert "emmy is a student, who never sees the class." in refused.stderr
    called = new_token(served, "emmy", Scope.READ)
    file = served.course.root / invitations.FILE
    file.write_text(file.read_text().replace('"read"', '"read", "class"'))  # whatever its scopes say
    assert served.get(called, "/me").json()["scopes"] == ["read"]
    for place in ("/class", "/term.csv", f"/assignments/{ASSIGNMENT}/report.json", f"/submissions/{graded}"):
        assert served.get(called, place).status_code == 404


def test_token_signs_nobody_in(served: Served) -> None:
    code = served.codes[new_token(served, "ada", *(Scope.READ, Scope.SUBMIT))]
    assert httpx.get(f"{served.address}/enter/{code}").status_code == 404
    page = httpx.get(f"{served.address}/", headers={"Authorization": f"Bearer {code}"})
    assert (page.status_code, "Please use the personal link" in page.text) == (401, True)
    with served.browser("ada") as browser:
        assert browser.get(f"{API}/me").status_code == 401, "cookies are for pages alone"


def test_students_token_makes_and_revokes_tokens(served: Served) -> None:
    root = served.course.root

    def made(*words: str) -> str:
        done = grader("students", "token", "grace", *words, folder=root)
        assert done.returncode == 0, done.stderr
        served.codes[done.stdout] = done.stdout.strip()
        return done.stdout

    one, other = made("--scope", "class", "--days", "2"), made("--scope", "class", "--scope", "read")
    assert served.codes[one] not in (root / invitations.FILE).read_text()
    told = served.get(one, "/me").json()
    ends = datetime.fromisoformat(told["until"]) - datetime.now(UTC)
    assert (told["role"], told["scopes"], ends.days) == ("assistant", ["class"], 1)
    assert grader("students", "token", served.codes[one], "--revoke", folder=root).stdout == "Revoked: grace.\n"
    assert "Not a valid token." in grader("students", "token", served.codes[one], "--revoke", folder=root).stderr
    assert served.get(one, "/class").status_code == 401
    assert served.get(other, "/class").status_code == 200
    assert served.get("grace", "/class").status_code == 200
    served.codes |= invitations.invite(served.course, ["grace"], invitations.Role.ASSISTANT)
    assert served.get(other, "/class").status_code == 401
    third = made("--scope", "class")
    grader("students", "invite", "grace", "--revoke", folder=root)
    assert served.get(third, "/class").status_code == 401
    for words in (["nobody", "--scope", "read"], ["grace"], ["grace", "--scope", "all"]):
        assert grader("students", "token", *words, folder=root).returncode == 1


def test_token_ends_by_itself_and_with_the_link_of_its_owner(course: Course) -> None:
    now = datetime.now(UTC)
    invitations.invite(course, ["ada"], until=now + timedelta(days=1))
    long = invitations.new_token(course, "ada", [Scope.READ], now + timedelta(days=9))
    past = invitations.new_token(course, "ada", [Scope.READ], now)
    known = invitations.people(course)
    assert known[invitations.digest_of(long)].until == now + timedelta(days=1)
    assert invitations.digest_of(past) not in known
    assert invitations.digest_of(long) not in invitations.links(course)


# --- grader submit ---------------------------------------------------------------------------------------------------


def test_submit_command_signs_in_and_submits(
    served: Served, notebook: bytes, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    (tmp_path / f"{ASSIGNMENT}.ipynb").write_bytes(notebook)
    (tmp_path / "mine.ipynb").write_bytes(notebook)

    def run(*words: str) -> tuple[int, str]:
        command = [str(Path(sys.executable).with_name("grader")), "submit", *words]
        done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
        assert done.stderr == ""
        return done.returncode, done.stdout

    code, said = run(f"{ASSIGNMENT}.ipynb")
    assert (code, "grader submit --link LINK" in said) == (1, True)
    assert run("--link", f"{served.address}/enter/wrong")[0] == 1
    assert run("--link", f"{served.address}/enter/{served.codes['ada']}") == (0, "Signed in as ada.\n")
    code, said = run(f"{ASSIGNMENT}.ipynb")
    assert (code, "✓ Exercise 1:" in said) == (0, True)
    assert run("mine.ipynb")[0] == 1
    assert run("mine.ipynb", "--assignment", ASSIGNMENT)[0] == 0


def test_submit_command_needs_neither_torch_nor_a_course(tmp_path: Path) -> None:
    """It is for machines that cannot grade."""
    code = (
        "import sys; from grader.cli.app import app\n"
        "try: app(['submit', 'no.ipynb'])\n"
        "except SystemExit as end: print(end.code)\n"
        "print([name for name in ('torch', 'nbgrader', 'sqlalchemy', 'tornado') if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=True)
    assert done.stdout.splitlines() == [f"There is no file no.ipynb in {tmp_path}.", "1", "[]"]
