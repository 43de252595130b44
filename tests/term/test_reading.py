"""What course.toml may say, and what lateness and full marks come to."""

from __future__ import annotations

import re
from datetime import timedelta
from pathlib import Path

import pytest

from grader.errors import CourseError
from grader.term.reading import read_rules
from grader.term.rules import AskAfter, Explain, Late, Rule, counted, most


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[assignment.words]", "course.toml, assignment: there is no such key. Did you mean assignments?"),
        (
            "[assignments.word]",
            "course.toml, assignments.word: there is no such key. Did you mean words? The options are: numbers, words.",
        ),
        ("[assignments.words]\nviod = [1]", "assignments.words.viod: there is no such key. Did you mean void?"),
        ("[assignments.words]\nvoid = 1", 'words.void: 1 is not a list of names. Write void = [3, "mean"].'),
        ("[serving]\nattempts = 0", "serving.attempts: 0 is not a whole number of 1 or more. For example, write"),
        ("[assignments.words.serving]\nbefore = 1", "words.serving.before: 1 is not an option"),
        ("[serving]\nafter = \"all\"", 'Write after = "nothing" or after = "points"'),
        ("[explain]\nafter = 'points'", 'explain.after: "points" is not an option. Write after = "full marks" or'),
        ("[explain]\nquestions = 0", "explain.questions: 0 is not a whole number of 1 or more."),
        ("[explain]\npoints = 1", "explain.points: there is no such key. Did you mean after?"),
        ("[serving]\npauses = 1", "serving.pauses: there is no such key. Did you mean pause?"),
        ("[assignments.words]\nfull = [true]", "full: [true] is not a list of names"),
        ("[assignments]\nwords = 3", "assignments.words: 3 is not a table. Write [assignments.words] instead."),
        (
            "[assignments.words]\nvoid = [1]\nbonus = [1]",
            "course.toml, assignments.words.bonus: exercise 1 is also in void. Take it out of one of them.",
        ),
        ("[assignments.words\n", "course.toml cannot be read: Expected ']'"),
        pytest.param("late = " + "[" * 9999, "course.toml cannot be read: it is nested too deeply.", id="deep"),
        ("[late]\nshare = 0.1", 'course.toml, late.per: it is missing. Write per = "day" or per = "hour".'),
        ("[late]\nper = 'week'\nshare = 0.1", 'course.toml, late.per: "week" is not an option.'),
        ("[late]\nper = 'day'", "course.toml, late.share: it is missing. Write share = 0.1 for 10%."),
        ("[late]\nper = 'day'\nshare = 10", "late.share: 10 is not a number from 0 to 1. Write share = 0.1 for 10%."),
        ("[late]\nper = 'day'\nshare = 0.1\ncapp = 0.5", "late.capp: there is no such key. Did you mean cap?"),
        ("[late]\nper = 'day'\nshare = 0.1\ngrace = 15", 'grace: 15: this is not a length of time. Write it as "2'),
        ("timezone = 'Europe/Berln'", '"Europe/Berln". For example, write timezone = "Europe/Berlin".'),
        ("[groups]\nred = ['ada']", 'groups.red: ["ada"] are not at least two different students. Name each once.'),
        ("[groups]\nred = ['ada', 'ada']", "are not at least two different students"),
        ("[groups]\nred = ['ada', 'emmy']\nblue = ['ada', 'kurt']", "groups.blue: ada is also in red."),
        ("[assignments.words]\ngroups = 1", "words.groups: 1 is neither true nor false. Write groups = false."),
        ("counts = 'first'", 'course.toml, counts: "first" is not an option. Write counts = "last" or counts ='),
        ("[assignments.words]\ncounts = true", 'words.counts: true is not an option. Write counts = "last"'),
        ("[assignments.words]\nweight = -1", "words.weight: -1 is not a number of 0 or more. For example, write"),
        ("[assignments.words]\nweight = '2'", 'words.weight: "2" is not a number of 0 or more.'),
        ("[assignments.words]\ndue = 2026-10-12", "words.due: 2026-10-12: a date without a time. Write it as 2026"),
        ("[assignments.words]\ndue = 'soon'", 'words.due: "soon": this is not a date and time. Write it as 2026'),
        (
            "[assignments.words]\ndue = 2026-10-12T10:00:00",
            "due: 2026-10-12 10:00:00: a time without a time zone. Write 2026-10-12T10:00:00+02:00, or timezone =",
        ),
        (
            "timezone = 'Europe/Berlin'\n[assignments.words]\ndue = 2026-10-25T02:30:00",
            "clocks in Europe/Berlin change then, so this is not a single moment. For example, write it as 2026",
        ),
        (
            "[assignments.words]\nextensions = {ada = '2 days'}",
            "words.extensions: there is no due date to extend. Write due = 2026-10-12T10:00:00+02:00.",
        ),
        (
            "[assignments.words]\ndue = 2026-10-12T10:00:00Z\nextensions = {ada = 2026-10-11T10:00:00Z}",
            "extensions.ada: 2026-10-11 10:00:00+00:00 is before the due date. Write a later time",
        ),
        (
            "[assignments.words]\ndue = 2026-10-12T10:00:00Z\nextensions = {ada.b = '2 days'}",
            'words.extensions.ada: a name with a dot in it is read as two names. Write it in quotes: "ada.…".',
        ),
        (
            "[assignments.words]\ndue = 2026-10-12T10:00:00Z\nextensions = {ada = 'long'}",
            'words.extensions.ada: "long": this is not a length of time.',
        ),
    ],
)  # fmt: skip
def test_read_rules_when_a_rule_is_wrong_raises(text: str, said: str, tmp_path: Path) -> None:
    (tmp_path / "course.toml").write_text(text)
    with pytest.raises(CourseError, match=re.escape(said)):
        read_rules(tmp_path, ["numbers", "words"])


@pytest.mark.parametrize(
    ("text", "explain"),
    [
        ("", Explain(AskAfter.NEVER)),
        ("[explain]", Explain(AskAfter.FULL_MARKS, 3)),
        ("[explain]\nquestions = 5", Explain(AskAfter.FULL_MARKS, 5)),
        ("[explain]\nquestions = 5\n[assignments.words.explain]\nafter = 'never'", Explain(AskAfter.NEVER, 5)),
        ("[assignments.words.explain]", Explain(AskAfter.FULL_MARKS, 3)),
    ],
)
def test_read_rules_asks_about_code_if_a_table_says_so(text: str, explain: Explain, tmp_path: Path) -> None:
    (tmp_path / "course.toml").write_text(text)
    assert read_rules(tmp_path, ["numbers", "words"]).of("words").explain == explain


@pytest.mark.parametrize(
    ("late", "share"),
    [
        (timedelta(), 0.0),
        (timedelta(minutes=15), 0.0),
        (timedelta(minutes=15, seconds=1), 0.1),
        (timedelta(days=1), 0.1),
        (timedelta(days=1, seconds=1), 0.2),
        (timedelta(days=30), 0.25),
    ],
)
def test_late_cost_counts_each_day_begun(late: timedelta, share: float) -> None:
    assert Late("day", 0.1, cap=0.25, grace=timedelta(minutes=15)).cost(late) == pytest.approx(share)


def test_counted_with_full_marks_keeps_more_than_full() -> None:
    assert counted(3.0, 2.0, Rule.FULL) == 3.0
    assert [most(2.0, one) for one in (None, *Rule)] == [2.0, 0.0, 2.0, 0.0]
