"""What an instructor wants to know of a class, on one page: what was understood, what was not, and whom to look at.

`summary` works it out, as plain data that is also written as JSON; the page and the table say the same.
"""

from __future__ import annotations

import csv
import io
import itertools
import json
import math
import re
import statistics
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup, escape

from grader.course import Course
from grader.gradebook.standings import ClassGrades, Item, Standing, read_class
from grader.pages import charts
from grader.pages.similar_code import groups
from grader.pages.spreadsheet import defused, number
from grader.sandbox.plain_text import one_line

FOLDER = "report"
BINS = 12  # at most, in the distribution of points
UNLIKELY = 0.05  # two misconceptions come together when chance alone has them so often less than this
# How the sentences begin that say why code has no answer. Further on, a student's own words may follow.
_WHERE = r"(?:`\w+`: )?"  # the function, in an exercise with several
_TIMED_OUT = re.compile(_WHERE + "(Your code ran for more than|The notebook as a whole took too long)")
_STOPPED = re.compile(
    f"{_TIMED_OUT.pattern}|{_WHERE}Your code (ended the Python|started more|called other functions|wrote|sent)"
)
_TEMPLATES = Path(__file__).parent / "templates"

Summary = dict[str, Any]


def write_report(course: Course, assignment: str, tell: Callable[[str], None]) -> list[Path]:
    """Write the page, the table and the JSON of an assignment; returns where they are, the page first."""
    grades = read_class(course, assignment, tell)
    told = summary(grades)
    folder = course.root / FOLDER
    folder.mkdir(exist_ok=True)
    contents = {"html": page(told), "csv": table(told), "json": json.dumps(told, indent=2) + "\n"}
    paths = []
    for ending, content in contents.items():
        path = folder / f"{assignment}.{ending}"
        unfinished = path.with_suffix(".unfinished")  # whoever has the page open never finds half of one
        unfinished.write_text(content, encoding="utf-8-sig" if ending == "csv" else "utf-8", newline="")
        unfinished.replace(path)
        paths.append(path)
    return paths


def summary(grades: ClassGrades) -> Summary:
    """Everything that the report tells. Names are as they are: whoever shows them must see to that."""
    graded = grades.graded
    titles = _titles(graded)
    empty = {one.student for one in graded if _is_empty(one, grades.given)}
    return {
        "assignment": grades.assignment,
        "written": datetime.now(UTC).isoformat(timespec="seconds"),
        "due": grades.duedate.isoformat() if grades.duedate else None,
        "counts": {"students": len(grades.standings), "graded": len(graded)},
        "points": _points([one.total for one in graded], grades.max_points),
        "exercises": [_exercise(item, titles, graded) for item in grades.items],
        "mistakes": _mistakes([one for one in graded if one.student not in empty], titles),
        "together": _together(graded),
        "stopped": [line for one in graded for line in _stopped(one)],
        "denied": [{"student": one.student, "attempts": list(one.blocked)} for one in graded if one.blocked],
        "alike": _alike(grades),
        "late": _late(graded),
        "waiting": [one.student for one in graded if one.waits],
        "empty": [one.student for one in graded if one.student in empty],
        "no submission": [one.student for one in grades.standings if not one.handed_in],
        "no grade": [one.student for one in grades.standings if one.handed_in and not one.is_graded],
        "students": [_student(one, grades) for one in grades.standings],
    }


def _titles(graded: Iterable[Standing]) -> dict[int, str]:
    return {verdict["exercise"]: verdict["title"] for one in graded for verdict in one.verdicts if verdict["exercise"]}


def _is_empty(one: Standing, given: Mapping[int, Sequence[str]]) -> bool:
    """Nothing was filled in, or nothing can be read. Such a notebook would be in every list of what went wrong.

    Whoever filled in all cells, but with other names or with code that does not run, misses all functions, too. What
    grading makes of a file that cannot be read has no such cells, or blank ones.
    """
    reasons = {verdict["reason"] for verdict in one.verdicts}
    if not reasons or not reasons <= {"to do", "missing"}:
        return False
    return reasons == {"to do"} or all(
        source.split() in [known.split() for known in ("", *given.get(number, ()))]
        for number, source in one.solutions.items()
    )


def _points(totals: Sequence[float], most: float) -> Summary:
    """The distribution. Points above the maximum belong to the last bin."""
    width = charts.step(most, BINS) if most else 1.0
    count = max(1, math.ceil(most / width))
    bins = Counter(min(count - 1, int(total / width)) for total in totals)
    quarters = statistics.quantiles(totals, n=4, method="inclusive") if len(totals) > 1 else [totals[0]] * 3
    return {
        "max": most,
        "mean": round(statistics.mean(totals), 2),
        "median": round(quarters[1], 2),
        "middle half": [round(quarters[0], 2), round(quarters[2], 2)],
        "full marks": sum(total >= most for total in totals),
        "distribution": [
            {"from": index * width, "to": (index + 1) * width, "students": bins[index]} for index in range(count)
        ],
    }


def _exercise(item: Item, titles: Mapping[int, str], graded: Sequence[Standing]) -> Summary:
    points = [one.points.get(item.cell, 0.0) for one in graded if item.cell not in one.waits]
    full = sum(one >= item.max_points for one in points)
    none = sum(one <= 0 < item.max_points for one in points)
    return {
        "exercise": item.label,
        "title": titles.get(item.number, ""),
        "max points": item.max_points,
        "full marks": full,
        "some points": len(points) - full - none,
        "no points": none,
        "waiting": len(graded) - len(points),  # for points by hand, which nobody can know yet
        "share of full marks": round(full / len(points), 4) if points else None,
        "mean points": round(statistics.mean(points), 2) if points else None,
    }


def _mistakes(graded: Sequence[Standing], titles: Mapping[int, str]) -> list[Summary]:
    """What went wrong in each exercise: the misconceptions that have a name, and everything else by its kind."""
    named: dict[int, dict[str, list[str]]] = defaultdict(lambda: defaultdict(list))
    others: dict[int, dict[str, list[str]]] = defaultdict(lambda: defaultdict(list))
    says: dict[tuple[int, str], str] = {}
    for one in graded:
        for verdict in one.verdicts:
            exercise, names = verdict["exercise"], verdict["misconceptions"]
            for name in names:
                named[exercise][name].append(one.student)
            if len(names) == 1 and len(verdict["sentences"]) == 1:
                says[exercise, names[0]] = verdict["sentences"][0]
            if not names and verdict["credit"] < 1:
                others[exercise][verdict["reason"]].append(one.student)
    return [
        {
            "exercise": exercise,
            "title": titles.get(exercise, ""),
            "misconceptions": [
                {**line, "says": says.get((exercise, line["name"]), "")} for line in _ranked(named[exercise])
            ],
            "other mistakes": _ranked(others[exercise]),
        }
        for exercise in sorted({*named, *others})
    ]


def _ranked(found: Mapping[str, Sequence[str]]) -> list[Summary]:
    """The most frequent first."""
    who = {name: list(dict.fromkeys(students)) for name, students in found.items()}
    ranked = sorted(who.items(), key=lambda one: (-len(one[1]), one[0]))
    return [{"name": name, "count": len(students), "students": students} for name, students in ranked]


def _together(graded: Sequence[Standing]) -> list[Summary]:
    """Two misconceptions that more students have both than chance would have it."""
    holders: dict[tuple[int, str], set[str]] = defaultdict(set)
    for one in graded:
        for verdict in one.verdicts:
            for name in verdict["misconceptions"]:
                holders[verdict["exercise"], name].add(one.student)
    found = []
    for (first, has_first), (second, has_second) in itertools.combinations(sorted(holders.items()), 2):
        both = has_first & has_second
        if len(both) < 2:
            continue
        chance = _chance(len(graded), len(has_first), len(has_second), len(both))
        if chance < UNLIKELY:
            found.append({
                "misconceptions": [{"exercise": exercise, "name": name} for exercise, name in (first, second)],
                "count": len(both),
                "expected": round(len(has_first) * len(has_second) / len(graded), 2),
                "students": sorted(both),
                "chance": float(f"{chance:.2g}"),
            })  # fmt: skip
    return sorted(found, key=lambda line: (-line["count"], line["chance"]))


def _chance(everyone: int, one: int, other: int, both: int) -> float:
    """How likely so large an overlap of two groups of these sizes is, or a larger one, if they are drawn by lot."""
    ways = sum(
        math.comb(one, overlap) * math.comb(everyone - one, other - overlap)
        for overlap in range(both, min(one, other) + 1)
    )
    return ways / math.comb(everyone, other)


def _stopped(one: Standing) -> list[Summary]:
    """Code that hung, or took its process down, where an exercise was asked or where a cell was run."""
    found = {(verdict["exercise"], text): None
             for verdict in one.verdicts if verdict["reason"] in ("no answer", "missing")
             for text in verdict["sentences"] if _STOPPED.match(text)}  # fmt: skip
    found |= dict.fromkeys(one.stopped)
    return [
        {
            "student": one.student,
            "exercise": exercise,
            "kind": "timeout" if _TIMED_OUT.match(said) else "crash",
            "said": said,
        }
        for exercise, said in found
    ]


def _alike(grades: ClassGrades) -> list[Summary]:
    wrong = {
        one.student: {verdict["exercise"] for verdict in one.verdicts if verdict["credit"] < 1} for one in grades.graded
    }
    found = groups({one.student: one.solutions for one in grades.graded}, wrong, grades.given)
    return [
        {
            "students": list(group.students),
            "exercises": [
                {"exercise": one.exercise, "students": list(one.students), "wrong": one.wrong} for one in group.shared
            ],
        }
        for group in found
    ]


def _late(graded: Sequence[Standing]) -> list[Summary]:
    late = sorted((one for one in graded if one.seconds_late), key=lambda one: -one.seconds_late)
    return [{"student": one.student, "seconds": round(one.seconds_late), "penalty": one.penalty} for one in late]


def _student(one: Standing, grades: ClassGrades) -> Summary:
    return {
        "student": one.student,
        "last name": one.person.last_name,
        "first name": one.person.first_name,
        "status": "graded" if one.is_graded else "no grade" if one.handed_in else "no submission",
        "points": round(one.total, 2) if one.is_graded else None,
        "penalty": one.penalty,
        "seconds late": round(one.seconds_late),
        "exercises": {item.label: one.points.get(item.cell, 0.0) for item in grades.items} if one.is_graded else {},
        "misconceptions": [
            {"exercise": verdict["exercise"], "name": name}
            for verdict in one.verdicts
            for name in verdict["misconceptions"]
        ],
    }


def table(told: Summary) -> str:
    """A line for each student, for a spreadsheet."""
    exercises = [one["exercise"] for one in told["exercises"]]
    stopped = Counter((line["student"], line["kind"]) for line in told["stopped"])
    denied = {line["student"]: "; ".join(line["attempts"]) for line in told["denied"]}
    groups_of = {name: index for index, group in enumerate(told["alike"], start=1) for name in group["students"]}
    text = io.StringIO()
    writer = csv.writer(text)
    head = ["student", "last name", "first name", "status", "points", "of", "penalty", "hours late"]
    tail = ["misconceptions", "timeouts", "crashes", "denied actions", "similar code: group"]
    writer.writerow(map(defused, [*head, *(f"exercise {label}" for label in exercises), *tail]))
    for one in told["students"]:
        name = one["student"]
        is_graded = one["status"] == "graded"
        numbers = [one["points"], told["points"]["max"], one["penalty"], one["seconds late"] / 3600]
        writer.writerow([
            *map(defused, (name, one["last name"], one["first name"], one["status"])),
            *(number(value) if is_graded else "" for value in numbers),
            *(number(one["exercises"][label]) if is_graded else "" for label in exercises),
            defused("; ".join(f"{line['exercise']}: {line['name']}" for line in one["misconceptions"])),
            *(stopped[name, kind] or "" for kind in ("timeout", "crash")),
            defused(denied.get(name, "")),
            groups_of.get(name, ""),
        ])  # fmt: skip
    return text.getvalue()


def page(told: Summary) -> str:
    """The page. It holds everything that it needs, and no script; what it is told is text and never markup."""
    environment = Environment(
        loader=FileSystemLoader(_TEMPLATES),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters.update(
        text=one_line,
        number=number,
        percent=lambda share: f"{share:.0%}",
        duration=duration,
        students=lambda count: plural(count, "student"),
        code=_code,
    )
    bins = told["points"]["distribution"]
    by_points = charts.histogram([one["from"] for one in bins] + [bins[-1]["to"]], [one["students"] for one in bins])
    kinds = {"full": "full marks", "part": "some points", "none": "no points"}
    by_exercise = charts.shares([
        (one["exercise"] if one["exercise"].isdecimal() else "–",
         [(kind, one[name] / max(1, sum(map(one.get, kinds.values())))) for kind, name in kinds.items()])
        for one in told["exercises"]
    ])  # fmt: skip
    return environment.get_template("report.html").render(
        told=told, by_points=by_points, by_exercise=by_exercise, in_short=in_short(told), to_look_at=to_look_at(told)
    )


def in_short(told: Summary) -> list[str]:
    """The class in a few sentences."""
    points, graded = told["points"], told["counts"]["graded"]
    most = number(points["max"])
    if graded == 1:
        said = [f"One student has a grade: {number(points['median'])} of {most} points."]
    else:
        low, high = map(number, points["middle half"])
        said = [
            f"{graded} students have a grade. The median is {number(points['median'])} of {most} points; "
            f"the middle half lies between {low} and {high}."
        ]
    full = points["full marks"]
    said.append(f"{plural(full, 'student').capitalize()} {'has' if full == 1 else 'have'} full marks.")
    counted = [one for one in told["exercises"] if one["share of full marks"] is not None]
    hardest = min(counted, key=lambda one: one["share of full marks"], default=None)
    if hardest and hardest["share of full marks"] < 1:
        title = f", {hardest['title']}" if hardest["title"] else ""
        said.append(
            f"The fewest full marks are in exercise {hardest['exercise']}{title}: {hardest['share of full marks']:.0%}."
        )
    named = [(one["exercise"], line) for one in told["mistakes"] for line in one["misconceptions"]]
    exercise, line = max(named, key=lambda one: (one[1]["count"], -one[0]), default=(0, {"count": 0}))
    if line["count"] > 1:
        said.append(
            f"The most frequent misconception: “{line['name']}” in exercise {exercise} "
            f"({plural(line['count'], 'student')})."
        )
    return said


def to_look_at(told: Summary) -> list[tuple[str, str]]:
    """What asks for an instructor, and the section that tells more."""
    kinds = Counter(line["kind"] for line in told["stopped"])
    lines = [
        ("waiting", plural(len(told["waiting"]), "submission"), "waiting for points by hand"),
        ("no-grade", plural(len(told["no grade"]), "submission"), "without a grade"),
        ("empty", plural(len(told["empty"]), "notebook"), "with nothing filled in"),
        ("stopped", plural(kinds["timeout"], "timeout"), "") if kinds["timeout"] else None,
        ("stopped", plural(kinds["crash"], "crash", "crashes"), "") if kinds["crash"] else None,
        ("denied", plural(len(told["denied"]), "submission"), "that tried what is not allowed"),
        ("alike", plural(len(told["alike"]), "group"), "of similar code"),
        ("late", plural(len(told["late"]), "submission"), "handed in late"),
        ("no-submission", plural(len(told["no submission"]), "student"), "without a submission"),
    ]
    return [(line[0], f"{line[1]} {line[2]}".strip()) for line in lines if line and not line[1].startswith("no ")]


def plural(count: int, one: str, many: str = "") -> str:
    return f"no {many or one + 's'}" if not count else f"{count} {one if count == 1 else many or one + 's'}"


def duration(seconds: float) -> str:
    """In the two largest units, such as 1 day 6 hours."""
    parts = []
    for unit, size in (("day", 86400), ("hour", 3600), ("minute", 60), ("second", 1)):
        count, seconds = divmod(round(seconds), size)
        if count:
            parts.append(plural(int(count), unit))
    return " ".join(parts[:2])


def _code(sentence: str) -> Markup:
    """A sentence of ours, with `code` in code font."""
    return Markup(re.sub(r"`([^`]*)`", r"<code>\1</code>", str(escape(one_line(sentence, 1000)))))
