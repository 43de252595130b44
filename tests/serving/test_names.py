"""Who and what the server speaks of: names from the roster, files, assignments, and commands as one types them."""

from __future__ import annotations

import csv
import io
import os
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest
from words_course import ROSTER, WORDS, ServedWords, answered, words_course

from grader.serving.submit import in_terminal
from support.command_line import grader
from support.places import ROOT
from support.report_pages import text_of
from support.served import API, token_in

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServedWords]:
    course = words_course(tmp_path_factory.mktemp("words") / "course")
    one = ServedWords(course)
    try:
        yield one
    finally:
        if one.process.poll() is None:
            one.stop()


def test_names_of_students_are_shown_and_found(served: ServedWords) -> None:
    number = served.submit("ada", answered(served.course, {}))["submission"]
    served.verdict("ada", number)
    for text in ("ada", "ADA", "lovelace", "Lovelace, ada".replace(",", "")):
        page = served.page("prof", f"/class?student={text}")
        assert "Ada Lovelace (ada)" in page, text
        assert "Gödel" not in page
    assert "Kurt Gödel (kurt)" in served.page("prof", "/class?student=gödel")
    assert "Ada Lovelace Id: ada" in served.page("prof", "/students/ada")
    assert "Ada Lovelace Sign out" in served.page("ada", "/")
    enter = httpx.get(f"{served.address}/enter/{served.codes['ada']}").text
    assert "Hello, Ada Lovelace" in enter
    assert "submit in your name" in enter
    (line,) = served.get("prof", "/class?student=lovelace").json()["submissions"]
    assert (line["student"], line["full_name"]) == ("ada", "Ada Lovelace")


def test_enter_page_of_an_instructor_says_what_the_link_can_do(served: ServedWords) -> None:
    enter = httpx.get(f"{served.address}/enter/{served.codes['prof']}").text
    assert "in your name" not in enter
    assert "see the points of the whole class" in enter


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b'{"cells": [', "it is not valid JSON, and ends in the middle. Save the notebook, and submit it again."),
        (b"PK", "it is not valid JSON. Save the notebook, and submit it again."),
        (
            b'{"cells": [], "nbformat": 4, "nbformat_minor": 5, "metadata": {}}',
            "mine.ipynb cannot be graded as words: it has no cells that can be read.",
        ),
        (
            b'{"cells": [' + b"{}," * 1000 + b"{}]}",
            "mine.ipynb cannot be graded as words: it has more than 1000 cells.",
        ),
    ],
)
def test_refused_file_is_named_with_a_way_back(served: ServedWords, content: bytes, words: str) -> None:
    name = "mine.ipynb" if content[:1] == b"{" else "mine.zip"
    with served.browser("kurt") as browser:
        home = browser.get("/").text
        form = token_in(home) | {"late": "yes"}
        answer = browser.post(f"/assignments/{WORDS}", data=form, files={"notebook": (name, content)})
    page = " ".join(text_of(answer.text).split())
    assert answer.status_code == 400
    assert f"Sorry {name} " in page
    assert words in page
    assert "student" not in page
    assert 'href="/">Back to the course</a>' in answer.text


def test_student_removed_from_roster_is_not_let_in(served: ServedWords) -> None:
    roster = served.course.root / "roster.csv"
    token = grader("students", "token", "lea", "--scope", "read", folder=served.course.root).stdout.strip()
    authorized = {"Authorization": f"Bearer {token}"}
    with served.browser("lea") as browser:
        roster.write_text(ROSTER.replace("lea,,\n", ""))
        try:
            content = answered(served.course, {})
            assert served.post("lea", f"/assignments/{WORDS}", content).status_code == 401
            assert httpx.get(f"{served.address}{API}/me", headers=authorized).status_code == 401
            assert browser.get("/").status_code == 401
            assert browser.get(f"/enter/{served.codes['lea']}").status_code == 404
            invited = grader("students", "invite", "lea", folder=served.course.root)
            assert "There is no student called lea" in " ".join(invited.stderr.split())
            assert served.get("prof", "/class").status_code == 200
        finally:
            roster.write_text(ROSTER)
        assert browser.get("/").status_code == 200, "and let in again with the same link"
    assert served.get("lea", "/me").status_code == 200


def test_students_invite_prints_a_table_for_a_mail_merge(served: ServedWords) -> None:
    roster = served.course.root / "roster.csv"
    usual = roster.read_text()
    roster.write_text('id,name,email\nbob,"Bob, the Builder",bob@example.edu\n')
    try:
        done = grader("students", "invite", "--server", "https://grader.example.edu", folder=served.course.root)
    finally:
        roster.write_text(usual)
    (line,) = csv.DictReader(io.StringIO(done.stdout))
    assert list(line) == ["id", "name", "address", "link"]
    assert (line["id"], line["name"], line["address"]) == ("bob", "Bob, the Builder", "bob@example.edu")
    assert line["link"].startswith("https://grader.example.edu/enter/")


def test_mail_commands_of_the_docs_mail_the_links(tmp_path: Path) -> None:
    page = (ROOT / "docs/serving.md").read_text(encoding="utf-8")
    (commands,) = re.findall(r"```sh\n(python3 - links.csv.*?)```", page, re.DOTALL)
    link = "https://grader.example.edu/enter/x"
    (tmp_path / "links.csv").write_text(f'id,name,address,link\nbob,"Bob, the Builder",bob@example.edu,{link}\n')
    (tmp_path / "mail").write_text('#!/bin/sh\necho "$@" >> mails\ncat >> mails\n')
    (tmp_path / "mail").chmod(0o755)
    environment = {**os.environ, "PATH": f"{tmp_path}:{os.environ['PATH']}"}
    subprocess.run(["bash", "-e", "-c", commands], cwd=tmp_path, env=environment, check=True)
    mails = (tmp_path / "mails").read_text()
    assert mails.startswith("-s Your link bob@example.edu\nHello Bob, the Builder,\n")
    assert link in mails


def test_submit_in_a_terminal_speaks_of_commands(
    served: ServedWords, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("grader.serving.submit.CODES_FILE", tmp_path / "kept.json")
    (tmp_path / "mine.ipynb").write_bytes(answered(served.course, {"why": "The second."}))

    def said(*words: str) -> str:
        in_terminal(words, "grader submit")
        text = capsys.readouterr().out
        assert "submit(" not in text
        assert "sign_in(" not in text
        return text

    assert "grader submit --link LINK" in said("mine.ipynb")
    assert said("--link", f"{served.address}/enter/{served.codes['ada']}") == "Signed in as Ada Lovelace (ada).\n"
    assert "Write grader submit mine.ipynb --assignment … with one of: words" in said("mine.ipynb")
    first = served.submit("ada", answered(served.course, {"why": "The first."}))["submission"]
    served.verdict("ada", first)
    late = said("mine.ipynb", "--assignment", WORDS)
    assert "This would be late" in late
    assert "Nothing was submitted. To submit it anyway: grader submit mine.ipynb --assignment words --late" in late
    told = said("mine.ipynb", "--assignment", WORDS, "--late")
    assert "This is late: " in told
    assert "✓ Exercise 1: Count words, 2 of 2" in told
    assert "… why, – of 2" in told, "no points yet is not 0 points"


def test_serve_lists_assignments_that_cannot_be_served(served: ServedWords) -> None:
    """The last test: it stops the server."""
    assert list(served.get("ada", "/me").json()["assignments"]) == [WORDS]
    assert "numbers cannot be submitted here: it is not released. Run: grader release numbers." in served.stop()
