"""Show the progress of a run over a class: a bar on a terminal, lines in a log."""

from __future__ import annotations

import contextlib
import itertools
import signal
import threading
import time
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from string import ascii_uppercase
from types import FrameType

from rich.console import Console
from rich.markup import escape
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn
from rich.table import Column, Table

from grader.classroom.terminal_tables import plain_table
from grader.gradebook.published import PublishedPoints
from grader.model.label import Label, as_in
from grader.model.submission import Graded
from grader.model.verdict import Reason, Scored, Verdict
from grader.sandbox.plain_text import one_line

# Ctrl-C, even if Python loses it: an exception that is raised in a destructor is only printed.


class Interrupt:
    """Remembers Ctrl-C until a KeyboardInterrupt has arrived."""

    def __init__(self) -> None:
        self._wanted = False

    @contextlib.contextmanager
    def noted(self) -> Iterator[None]:
        """Remember any Ctrl-C meanwhile; it also does what it usually does."""
        self._wanted = False
        usual = signal.getsignal(signal.SIGINT)
        if not callable(usual) or threading.current_thread() is not threading.main_thread():
            yield  # it is ignored, or ends us at once, or another thread deals with it
            return

        def note(number: int, frame: FrameType | None) -> None:
            self._wanted = True
            usual(number, frame)

        signal.signal(signal.SIGINT, note)
        try:
            yield
        finally:
            signal.signal(signal.SIGINT, usual)

    def look(self) -> None:
        """Raise KeyboardInterrupt if one was lost."""
        if self._wanted:
            self._wanted = False
            raise KeyboardInterrupt


ROOM = 30  # characters for the headings of all exercises, in a table of 80
SHORT = 4  # characters of a heading that is never cut
LINE_SECONDS = 10.0  # between two lines in a log
LONG = 2.0  # seconds after which we say who is being graded


class Onlooker:
    """Shows progress as results come: on a terminal one bar, with submissions that take long beside it."""

    def __init__(self, console: Console, total: int, quiet: bool) -> None:
        self._console = console
        self._total = total
        self._quiet = quiet
        self._done = 0
        self._interrupt = Interrupt()
        self._started = self._last_line = time.monotonic()
        # No thread may draw it: a crew is started while the bar is shown.
        self._bar = Progress(
            TextColumn("Grading"), BarColumn(), MofNCompleteColumn(), TextColumn("{task.fields[rate]}"),
            TimeRemainingColumn(), TextColumn("[yellow]{task.fields[now]}"), console=console, auto_refresh=False,
            disable=quiet or not console.is_terminal,
        )  # fmt: skip
        self._task = self._bar.add_task("", total=total, rate="", now="")

    def follow(self, results: Iterator[Graded]) -> list[Graded]:
        """Collect all results, and show progress as they come."""
        found = []
        with self._interrupt.noted(), self._bar:
            for graded in results:
                found.append(graded)
                self._done += 1
                self._bar.update(self._task, completed=self._done, rate=self._rate())
                self._log(time.monotonic())
        return found

    def look(self, running: Mapping[str, float]) -> None:
        self._interrupt.look()
        slow = [
            f"{one_line(student, 40)} for {seconds:.0f} s" for student, seconds in running.items() if seconds > LONG
        ]
        self._bar.update(self._task, now=escape(f"running: {', '.join(slow[:3])}" if slow else ""))
        self._bar.refresh()
        self._log(time.monotonic(), slow)

    def _log(self, now: float, slow: Sequence[str] = ()) -> None:
        """Print a line now and then, if there is no bar."""
        if self._bar.disable and not self._quiet and now > self._last_line + LINE_SECONDS:
            self._last_line = now
            left = (self._total - self._done) * (now - self._started) / self._done if self._done else 0
            parts = [f"{self._done} of {self._total}", self._rate(), f"{left:.0f} s left" if left else ""]
            self._console.print(escape(", ".join([*filter(None, parts), *slow])), highlight=False)

    def _rate(self) -> str:
        seconds = time.monotonic() - self._started
        return f"{self._done / seconds:.1f} a second" if self._done and seconds > 1 else ""


def results_table(
    results: Sequence[Graded],
    told: Mapping[str, PublishedPoints] | None = None,
    most: float | None = None,
) -> Table:
    """A table with a line for each student: points for each exercise, what went wrong, and other remarks.

    With `told`, what counts in the gradebook, and `most`, the maximum points, it shows those: points from a person or
    exercises that wait for them, and penalties.
    """
    labels = _labels(results, {one.student: counts for one in results if (counts := (told or {}).get(one.student))})
    besides = {result.student: _besides(result, _counts(result, told)) for result in results}
    headings = _headings(labels)
    table = plain_table(title="Points")
    if headings != labels:
        key = ", ".join(f"{heading}: {one_line(label, 60)}" for heading, label in zip(headings, labels, strict=True))
        table.caption, table.caption_justify = escape(key), "left"
    table.add_column("student", no_wrap=True)
    for heading in headings:
        table.add_column(escape(heading), justify="right")
    table.add_column("total", justify="right")
    table.add_column("what went wrong")
    if any(besides.values()):
        table.add_column("also")
    for result in sorted(results, key=lambda graded: graded.student):
        row = [escape(one_line(result.student))]
        counts = _counts(result, told)
        row += [_counting(label, counts, result) for label in labels]
        if result.error or most is None:
            row.append(f"{result.points:g}/{result.max_points:g}" if result.max_points else "–")
        else:
            row.append(f"{counts.total:g}/{most:g}")
        row.append(escape("\n".join(_mistakes(result, told))))
        if any(besides.values()):
            row.append(escape("\n".join(besides[result.student])))
        table.add_row(*row)
    return table


def _headings(labels: Sequence[str]) -> list[str]:
    """The labels as they are, or letters if names are so long that a terminal would cut them."""
    if sum(len(label) + 1 for label in labels) <= ROOM or max(map(len, labels)) <= SHORT:
        return [*labels]
    letters = itertools.chain(ascii_uppercase, map("".join, itertools.product(ascii_uppercase, repeat=2)))
    return list(itertools.islice(letters, len(labels)))


def _counts(result: Graded, told: Mapping[str, PublishedPoints] | None) -> PublishedPoints:
    """The points that count; if those are unknown, the points by tests."""
    by_tests = {scored.verdict.label: scored.points for scored in result.verdicts}
    return (told or {}).get(result.student) or PublishedPoints(by_tests, result.points)


def _counting(label: str, counts: PublishedPoints, result: Graded) -> str:
    is_known = label in counts.points and not (result.error and not result.verdicts)
    return counts.describe(label) if is_known else "–"


def _besides(result: Graded, counts: PublishedPoints) -> list[str]:
    """Other remarks: points from a person, a late penalty, and which attempt counts."""
    late = [f"late: {counts.penalty:g} taken off"] if counts.penalty else []
    which = [counts.hand_in] if counts.hand_in else []
    return [*_by_hand(result, counts), *late, *which]


def _by_hand(result: Graded, counts: PublishedPoints) -> list[str]:
    """The points from a person, and those that they replace."""
    by_tests = {scored.verdict.label: f" instead of {scored.points:g}" for scored in result.verdicts}
    return [
        f"{label}: set manually to {counts.describe_points(label)}{by_tests.get(label, '')}" for label in counts.by_hand
    ]


def _labels(results: Iterable[Graded], told: Mapping[str, PublishedPoints]) -> list[str]:
    """The labels of the assignment's exercises, those without a test last."""
    tested = [scored.verdict.label for scored in _longest(results)]
    return list(dict.fromkeys([*tested, *(label for one in told.values() for label in one.points)]))


def _longest(results: Iterable[Graded]) -> Sequence[Scored]:
    """The longest list of verdicts: all exercises, in the order of the notebook."""
    return max((result.verdicts for result in results), key=len, default=())


def _went_wrong(result: Graded, told: Mapping[str, PublishedPoints] | None) -> list[Verdict]:
    """The verdicts of mistakes, except where a person gave full points or still has to look."""
    counts = _counts(result, told)
    return [
        scored.verdict
        for scored in result.verdicts
        if not scored.verdict.right
        and (label := scored.verdict.label) not in counts.waits
        and not (label in counts.by_hand and counts.points[label] >= scored.max_points)
    ]


def _mistakes(result: Graded, told: Mapping[str, PublishedPoints] | None) -> list[str]:
    """The named misconceptions, and the kind of every other mistake."""
    if result.error:
        return [result.error]
    wrong = _went_wrong(result, told)
    found = [(verdict.label, " + ".join(verdict.misconceptions) or _kind(verdict)) for verdict in wrong]
    mistakes = {mistake for _, mistake in found}
    if len(mistakes) == 1 and len(found) == len(result.verdicts):
        found = [("all", mistakes.pop())]
    return [f"{label}: {mistake}" for label, mistake in found] + [f"⚑ tried to {attempt}" for attempt in result.blocked]


def _kind(verdict: Verdict) -> str:
    """The place of a mistake that has no name, or else its reason."""
    return f"in `{one_line(verdict.located[0].line, 60)}`" if verdict.located else verdict.reason


def summary_table(results: Sequence[Graded], told: Mapping[str, PublishedPoints] | None = None) -> Table:
    """A table of a few lines about a class: how many students, whom to look at, and what was misunderstood."""
    table = plain_table(Column(no_wrap=True), Column(justify="right"), "", show_header=False)
    new = [result for result in results if not result.unchanged and not result.error]
    table.add_row("graded", str(len(new)))
    table.add_row("unchanged", str(sum(result.unchanged for result in results)))
    problems = [line for result in results if (line := _problem(result))]
    table.add_row("with problems", str(len(problems)), escape("\n".join(problems)))
    by_hand = [
        f"{one_line(result.student)}: {'; '.join(given)}"
        for result in results
        if (counts := (told or {}).get(result.student)) and (given := _by_hand(result, counts))
    ]
    if by_hand:
        table.add_row("manual points", str(len(by_hand)), escape("\n".join(by_hand)))
    if waiting := [
        f"{one_line(result.student)}: {', '.join(waits)}"
        for result in results
        if (waits := _counts(result, told).waits)
    ]:
        table.add_row("to grade manually", str(len(waiting)), escape("\n".join(waiting)))
    for label, names in misconceptions(results, told).items():
        counted = ", ".join(f"{name} ({count})" for name, count in names.most_common())
        table.add_row(f"exercise {label}", str(names.total()), escape(counted))
    return table


def misconceptions(results: Iterable[Graded], told: Mapping[str, PublishedPoints] | None) -> dict[Label, Counter[str]]:
    """How often each misconception was named, by exercise."""
    results = list(results)
    found: dict[Label, Counter[str]] = {}
    order = [scored.verdict.exercise for scored in _longest(results)]
    for result in results:
        for verdict in _went_wrong(result, told):
            if verdict.misconceptions and verdict.exercise is not None:
                found.setdefault(verdict.exercise, Counter()).update(verdict.misconceptions)
    return {label: found[label] for label in as_in(order, found)}


def _problem(result: Graded) -> str:
    """One line of problems that an instructor should know of; empty if there are none."""
    verdicts = [scored.verdict for scored in result.verdicts]
    stopped = [f"{verdict.label}: {verdict.sentences[0]}" for verdict in verdicts if _has_no_answer(verdict)]
    problems = [result.error] if result.error else [*stopped, *(f"⚑ tried to {attempt}" for attempt in result.blocked)]
    together = "; ".join(problem.removesuffix(".") for problem in problems)
    return f"{one_line(result.student)}: {together}" if problems else ""


def _has_no_answer(verdict: Verdict) -> bool:
    """Whether the code hung, took its process down, or was never asked."""
    return verdict.reason == Reason.NO_ANSWER and bool(verdict.sentences)


def as_json(results: Sequence[Graded], told: Mapping[str, PublishedPoints] | None = None) -> dict[str, object]:
    """The results of a run, for programs to read."""
    told = told or {}
    return {
        "graded": sum(not result.unchanged and not result.error for result in results),
        "unchanged": sum(result.unchanged for result in results),
        "failed": {result.student: result.error for result in results if result.error},
        "misconceptions": {label: dict(names) for label, names in misconceptions(results, told).items()},
        "students": {
            result.student: {
                "points": result.points,
                "max_points": result.max_points,
                "blocked": list(result.blocked),
                "exercises": {scored.verdict.label: _short(scored) for scored in result.verdicts},
                **_counted(told.get(result.student)),
            }
            for result in results
            if not result.error
        },
    }


def _counted(counts: PublishedPoints | None) -> dict[str, object]:
    """What counts in the gradebook, beside the points by tests."""
    if counts is None:
        return {}
    by_hand = {label: counts.points[label] for label in counts.by_hand}
    which = {"hand_in": counts.hand_in} if counts.hand_in else {}
    own = {"by_hand": by_hand, "waits": list(counts.waits), "penalty": counts.penalty, "total": counts.total}
    return {**own, **which}


def _short(scored: Scored) -> dict[str, object]:
    return {
        "points": scored.points,
        "max_points": scored.max_points,
        "reason": scored.verdict.reason,
        "misconceptions": list(scored.verdict.misconceptions),
    }
