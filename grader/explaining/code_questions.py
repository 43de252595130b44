"""Questions about a student's own right code: made, looked at a second time, and chosen."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, Protocol

import torch

from grader.explaining.candidates import Candidate, LaterDraws, SecondLook
from grader.explaining.change_questions import MOVES, ChangedRuns, ChangeQuestions
from grader.explaining.harness import axes_with_unit_sums
from grader.explaining.line_changes import line_changes
from grader.explaining.note_writing import runnable, statements_of, with_notes
from grader.explaining.observed import Draw, Observed, Pair, Place
from grader.explaining.outcomes import AT_THE_END, Positions, UnitSums, pattern_name
from grader.explaining.question import CodeQuestion
from grader.explaining.subject import Subject, sizes_of
from grader.explaining.value_questions import NONE, ValueQuestions
from grader.facts.student_text import StudentText
from grader.sandbox.nested import map_leaves

DRAWS = 3  # to make a question; the others are for the second look
MOST_CHANGES = 40
FEWEST_PLACES = 3  # of an axis whose places make a pattern
BATCH = 12  # versions in one request
OFTEN = 60  # runs of a line
WORTH_OF_SIZES = 0.25  # that differ: an axis in the wrong place shows


class RunVersions(Protocol):
    """Runs versions of a cell on the inputs of a request; None for a version of which nothing came back."""

    def __call__(self, sources: Sequence[str], request: dict[str, Any]) -> Sequence[Sequence[Observed] | None]: ...


def questions_about(subject: Subject, run: RunVersions, seed: object, count: int = 3) -> list[CodeQuestion]:
    """At most `count` questions; none if the code does not compute the same with notes and without."""
    return _Maker(subject, run, random.Random(f"{seed}/{subject.source}")).questions(count)


class _Maker:
    def __init__(self, subject: Subject, run: RunVersions, rng: random.Random) -> None:
        self.subject = subject
        self.rng = rng
        self.positions: Positions | None = None
        self.all_unit_sums: list[UnitSums] = []
        self._run = run

    def questions(self, count: int) -> list[CodeQuestion]:
        draws = self._best_draws() if self.subject.parameters else ()
        first, later = draws[:DRAWS], draws[DRAWS:]
        runs = self._noted(self.subject.source, first) if draws else None
        if not runs or any(run.error for run in runs) or not self._is_as_without_notes(runs, first):
            return []
        self.all_unit_sums = _names_with_unit_sums(runs)
        if all(unit_sums.place[0] < AT_THE_END for unit_sums in self.all_unit_sums):  # else it is about weights
            self.positions = self._find_positions(first, runs[0])
        if self.all_unit_sums:
            runs = self._noted(self.subject.source, first) or ()  # with the numbers of these names
            if not runs:
                return []
        changed = self._changed_runs(runs[0], first)
        on_changes = ChangeQuestions(self.subject.source, runs, self.all_unit_sums, self.positions, changed, self.rng)
        on_values = ValueQuestions(self.subject, first[0], runs, self.rng)
        candidates = [
            *on_changes.candidates(),
            *on_values.shapes(on_changes.wrong_shapes()),
            *on_values.sums(),
            *on_values.times(),
        ]
        of_one_sign = [_changed(draw, change) for change in (abs, _negative) for draw in later]
        of_all_kinds = [_changed(draw, change) for change in (_large, _small) for draw in later[:2]]
        of_all_kinds += [*of_one_sign, *(case[0] for case in self.subject.cases)]
        draws_to_look_at = LaterDraws(later, of_one_sign, of_all_kinds)
        look = SecondLook(self._watched, self.subject.source, draws_to_look_at, list(runs[0].expressions))
        return [self._question(candidate, first[0]) for candidate in self._choose(candidates, look, count)]

    def _best_draws(self) -> Sequence[Draw]:
        """Those of the case in which most lines run, and loops more than once; empty if the code stops in all."""
        cases = self.subject.cases
        runs = self._noted(self.subject.source, [case[0] for case in cases]) or ()

        def worth(number: int) -> float:
            counts = list(runs[number].lines.values())
            loops = sum(1 < count <= OFTEN for count in counts)
            first = sizes_of(next(iter(cases[number][0].arguments), ()))
            return len(counts) + 0.5 * loops - WORTH_OF_SIZES * (len(first) - len(set(first)) + 2 * first.count(1))

        usable = [number for number, run in enumerate(runs) if run.error is None]
        return cases[max(usable, key=worth)] if usable else ()

    def _noted(self, source: str, draws: Sequence[Draw], pair: Pair | None = None) -> Sequence[Observed] | None:
        return self._run([runnable(with_notes(source))], self._request(draws, pair))[0]

    def _watched(
        self, source: str, draws: Sequence[Draw], expressions: Sequence[Place] = (), with_positions: bool = False
    ) -> Sequence[Observed] | None:
        """Runs of code without notes, seen from outside."""
        statements = [list(statement) for statement in statements_of(StudentText(source))]
        request = self._request(draws, self.positions.pair if with_positions and self.positions else None)
        request["watched"] = {"statements": statements, "expressions": [list(place) for place in expressions]}
        return self._run([runnable(source)], request)[0]

    def _request(self, draws: Sequence[Draw], pair: Pair | None = None) -> dict[str, Any]:
        return {
            "entry": self.subject.entry,
            "draws": [draw.to_request() for draw in draws],
            "pair": pair and list(pair),
            "wanted": [list(unit_sums.place) for unit_sums in self.all_unit_sums],
            "watched": None,
            "seed": 0,
        }

    def _is_as_without_notes(self, runs: Sequence[Observed], draws: Sequence[Draw]) -> bool:
        """Whether what comes out does not depend on the notes."""
        request = self._request(draws) | {"seed": 1}  # nor on chance
        plain = self._run([runnable(self.subject.source)], request)[0]
        return plain is not None and all(map(Observed.is_like, runs, plain))

    def _changed_runs(self, run: Observed, draws: Sequence[Draw]) -> list[ChangedRuns]:
        """The most promising changes, with their runs."""
        changes = line_changes(self.subject.text, run)
        self.rng.shuffle(changes)
        changes.sort(key=lambda change: -change.weight)
        pair = self.positions.pair if self.positions else None
        changed: list[ChangedRuns] = []
        for moves in (True, False):
            alike = [change for change in changes[:MOST_CHANGES] if (change.about in MOVES) == moves]
            request = self._request(draws, pair if moves else None)
            for start in range(0, len(alike), BATCH):
                batch = alike[start : start + BATCH]
                all_runs = self._run(
                    [runnable(with_notes(change.source, expressions=False)) for change in batch], request
                )
                changed += [ChangedRuns(change, runs) for change, runs in zip(batch, all_runs, strict=True) if runs]
        return changed

    def _find_positions(self, draws: Sequence[Draw], run: Observed) -> Positions | None:
        """An axis of an argument and one of the result that are places in a text, of which each sees the past alone."""
        result = run.tensor
        is_first = isinstance(run.result, tuple) and isinstance(run.result[0], torch.Tensor)
        if result is None or not (isinstance(run.result, torch.Tensor) or is_first):
            return None
        pairs: list[Pair] = []
        for number, argument in enumerate(draws[0].arguments[: len(self.subject.parameters)]):
            sizes = sizes_of(argument)[: None if isinstance(argument, torch.Tensor) else 1]
            for axis, size in enumerate(sizes):
                axes = [other for other in range(result.dim()) if result.shape[other] == size >= FEWEST_PLACES]
                pairs += [Pair(number, axis, other) for other in axes]
        for pair in pairs:
            patterns = {pattern_name(run.pattern) for run in self._noted(self.subject.source, draws[:2], pair) or ()}
            if patterns == {"earlier"}:
                name = "result[0]" if is_first else "result"
                return Positions(pair, self.subject.parameters[pair.argument], name)
        return None

    def _choose(self, candidates: Sequence[Candidate], look: SecondLook, count: int) -> list[Candidate]:
        """Those that a second look confirms, of different kinds and lines, the best first, with a little chance."""
        visible = [candidate for candidate in candidates if candidate.line not in self.subject.lines_of_others]
        pool = sorted(visible, key=lambda candidate: -(candidate.weight + self.rng.random()))
        chosen: list[Candidate] = []
        for most_of_a_kind in (1, 2, count):
            for candidate in list(pool):
                of_this_kind = Counter(other.kind for other in chosen)[candidate.kind]
                if len(chosen) == count or of_this_kind >= most_of_a_kind or any(map(candidate.is_like, chosen)):
                    continue
                pool.remove(candidate)
                if candidate.is_confirmed(look):
                    chosen.append(candidate)
        return chosen

    def _question(self, candidate: Candidate, draw: Draw) -> CodeQuestion:
        options = list(candidate.options)
        self.rng.shuffle(options)
        options.sort(key=lambda option: option == NONE)
        right = options.index(candidate.options[0])
        inputs = self.subject.words(draw)
        return CodeQuestion(
            candidate.kind, candidate.line, candidate.text, inputs, tuple(options), right, candidate.explanation
        )


def _names_with_unit_sums(runs: Sequence[Observed]) -> list[UnitSums]:
    """The names, and perhaps the result, that sum to one along one axis in all runs."""
    all_unit_sums: list[UnitSums] = []
    assigned = Counter(name for _, name in runs[0].names)
    for place, values in runs[0].names.items():
        axes = {value.axes_with_unit_sums if value else None for run in runs for value in run.names.get(place, ())}
        if len(axes) == 1 and values and values[0] and values[0].shape:
            (unit_sums,) = axes
            if unit_sums and len(unit_sums) == 1:
                several = assigned[place[1]] > 1
                all_unit_sums.append(UnitSums(place, unit_sums[0], len(values[0].shape), several))
    results = [run.result for run in runs if isinstance(run.result, torch.Tensor)]
    all_axes = {tuple(axes_with_unit_sums(result) or ()) for result in results}
    if len(results) == len(runs) and len(all_axes) == 1:
        (axes_of_result,) = all_axes
        if len(axes_of_result) == 1:
            all_unit_sums.append(UnitSums((AT_THE_END, "result"), axes_of_result[0], results[0].dim()))
    return all_unit_sums


def _negative(number: Any) -> Any:
    return -abs(number)


def _large(number: Any) -> Any:
    return 100 * number


def _small(number: Any) -> Any:
    return number / 100


def _changed(draw: Draw, change: Callable[[Any], Any]) -> Draw:
    """The same inputs, with all their numbers changed that have decimals."""

    def changed(value: Any) -> Any:
        has_decimals = value.is_floating_point() if isinstance(value, torch.Tensor) else isinstance(value, float)
        return change(value) if has_decimals else value

    return replace(draw, arguments=map_leaves(changed, list(draw.arguments)))
