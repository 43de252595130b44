"""Questions about a changed line: what would happen if line 8 were another one?"""

from __future__ import annotations

import random
import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from grader.explaining.candidates import OPTIONS, Candidate, SecondLook
from grader.explaining.evidence import evidence
from grader.explaining.line_changes import LineChange
from grader.explaining.observed import Observed, Place, Shape, first_shape, values_alike
from grader.explaining.outcomes import (
    ERROR,
    FACTOR,
    GENERAL,
    NAN,
    NUMBERS,
    SAME,
    Comparison,
    Positions,
    UnitSums,
)
from grader.explaining.question import QuestionKind

# What must hold for all numbers.
ALWAYS = frozenset([SAME, NAN, FACTOR])
# Errors that say more about Python or about types than about the code.
NOT_ASKED_ERRORS = ("TimeoutError", "NameError", "UnboundLocalError", "TypeError", "AttributeError", "MemoryError")
ABOUT_SHAPES = re.compile(r"size|shape|dimension|out of (range|bounds)", re.IGNORECASE)
SHAPE = "The result would have shape"
RESHAPED = re.compile(r"(reshape|view)\([^()]*\)\W*$")  # a line that ends so says the shape
FORMS = (SHAPE, "sum to one", "depend on", "would be")  # of sentences that are of one kind
MAY_GIVE_NAN = re.compile(r"inf|log|/|div|norm")
AXIS = re.compile(r"along axis (\d)")
ADDED_BY_ITSELF = frozenset(["unsqueeze"])  # broadcasting adds axes where they are missing
MOST_ERRORS = 0.85  # of all changes: beyond that, something makes code fail because it was changed
OF_THE_LIBRARY = "scaled_dot_product_attention"  # what it does with an empty row is nobody's knowledge
# Changes after which places may depend on others.
MOVES = frozenset(["diagonal", "comparison", "opposite", "triangle", "masked_fill", "removed", "term", "factor"])


@dataclass(frozen=True)
class ChangedRuns:
    """A change, and its runs on the inputs of the code's own."""

    change: LineChange
    runs: Sequence[Observed]

    @property
    def error(self) -> tuple[str, str] | None:
        """The error with which the first run stopped."""
        return self.runs[0].error


@dataclass(frozen=True)
class ChangeQuestions:
    """The questions about one code, of which these are runs."""

    source: str
    runs: Sequence[Observed]
    all_unit_sums: Sequence[UnitSums]
    positions: Positions | None
    changed: Sequence[ChangedRuns]
    rng: random.Random

    def wrong_shapes(self) -> Mapping[Place, Sequence[Shape]]:
        """Other shapes of names, which changed lines gave."""
        shapes: defaultdict[Place, list[Shape]] = defaultdict(list)
        for changed in self.changed:
            for place, values in changed.runs[0].names.items():
                before, after = first_shape(self.runs[0].names.get(place, ())), first_shape(values)
                if place[0] == changed.change.line and before and after and before != after:
                    shapes[place].append(after)
        return shapes

    def candidates(self) -> Iterator[Candidate]:
        """All that can be asked about changed lines; nothing if nearly all changes stop with an error."""
        failed = [changed for changed in self.changed if changed.error]
        if len(failed) > MOST_ERRORS * len(self.changed):
            return
        shapes = self._result_shapes()
        for changed in self.changed:
            candidate = self._candidate(changed, shapes)
            if candidate:
                yield candidate

    def _candidate(self, changed: ChangedRuns, shapes: Sequence[Shape]) -> Candidate | None:
        change = changed.change
        if any(run.changes_inputs for run in changed.runs) != any(run.changes_inputs for run in self.runs):
            return None  # no option would say so
        comparison = self.comparison(change, self.runs, changed.runs)
        claims = comparison.claims(shapes)
        right = self._right(claims)
        if right is None or not self._may_be_asked(changed, right):
            return None
        wrong = self._wrong(right, [sentence for sentence, truth in claims.items() if truth is False])
        if not _is_hidden_among(right, wrong):
            return None
        options = [right, *wrong]
        text = f"If line {change.line} were `{change.new_line}`, what would happen?"
        if not change.new_line:
            text = f"If line {change.line} were removed, what would happen?"

        def is_confirmed(look: SecondLook) -> bool:
            runs = look.changed_runs(change.source, with_positions=change.about in MOVES)
            if not runs or not look.runs:
                return False
            again = self.comparison(change, look.runs, runs).claims(shapes)
            is_right = again.get(right) is True and all(again.get(sentence) is False for sentence in wrong)
            return is_right and self._is_always_so(look, change, right, wrong)

        return Candidate(
            QuestionKind.CHANGE,
            change.line,
            text,
            options,
            evidence(comparison, right),
            self._weight(changed, right),
            is_confirmed,
            alike=right.split("`")[0] if right not in GENERAL else right,
        )

    def _is_always_so(self, look: SecondLook, change: LineChange, right: str, wrong: Sequence[str]) -> bool:
        """Whether what depends on the numbers alone holds for numbers of all kinds."""
        if right not in ALWAYS and NAN not in wrong:
            return True
        before, after = look.wide_runs, look.wide_changed_runs(change.source)
        pairs = [pair for pair in zip(before, after, strict=False) if pair[0].error is None]
        for pair in pairs:
            claims = Comparison(pair[:1], pair[1:], False, None, None).claims(())
            if (right in ALWAYS and claims.get(right) is not True) or (NAN in wrong and claims.get(NAN) is True):
                return False
        return bool(pairs)

    def comparison(self, change: LineChange, before: Sequence[Observed], after: Sequence[Observed]) -> Comparison:
        """The runs of a change beside those of the code as it is."""
        later = [unit_sums for unit_sums in self.all_unit_sums if unit_sums.place[0] >= change.line]
        first = min(later, key=lambda unit_sums: unit_sums.place[0], default=None)
        return Comparison(before, after, change.about == "scale", first, self.positions)

    def _right(self, claims: Mapping[str, bool | None]) -> str | None:
        """A sentence that is true: a specific one, if there is any."""
        true = [sentence for sentence, truth in claims.items() if truth]
        specific = [sentence for sentence in true if sentence not in GENERAL]
        if specific:
            return self.rng.choice(sorted(specific))
        general = [sentence for sentence in true if sentence != NUMBERS]
        return general[0] if general else None

    def _may_be_asked(self, changed: ChangedRuns, right: str) -> bool:
        change = changed.change
        if right == ERROR:
            assert changed.error
            is_about_shapes = changed.error[0] not in NOT_ASKED_ERRORS and ABOUT_SHAPES.search(changed.error[1])
            return bool(is_about_shapes) and changed.runs[0].lines.get(change.line, 0) <= 1
        if right == SAME:
            return change.about not in ADDED_BY_ITSELF and self._is_same_on_the_way(changed)
        if right == FACTOR and change.about == "scale":  # it stands there
            return False
        if right.startswith(SHAPE) and RESHAPED.search(change.new_line):
            return False
        axis = AXIS.search(right)
        if axis and f"dim={axis[1]}" in change.new_line:
            return False
        return right != NAN or OF_THE_LIBRARY not in change.source

    def _is_same_on_the_way(self, changed: ChangedRuns) -> bool:
        """Whether all names have the same values, too, and nobody has to know that a later step hides a difference."""
        for before, after in zip(self.runs, changed.runs, strict=True):
            for (line, name), values in before.names.items():
                values_after = after.names.get((line, name))
                if values_after is None and line == changed.change.line:  # it was removed: what was there before stays
                    earlier = [place for place in before.names if place[1] == name and place[0] < line]
                    values_after = before.names[max(earlier)] if earlier else ()
                if not values_alike(values, values_after or ()):
                    return False
        return True

    def _wrong(self, right: str, false: Sequence[str]) -> list[str]:
        """Sentences that are false. How many are specific, and of one kind, must not tell which one is right."""
        general = [sentence for sentence in (ERROR, SAME, NAN, NUMBERS, FACTOR) if sentence in false]
        if right in (SAME, ERROR):  # the factor may be 1, and does not come to mind where shapes differ
            general = [sentence for sentence in general if sentence != FACTOR]
        if not MAY_GIVE_NAN.search(self.source):
            general = [sentence for sentence in general if sentence != NAN]
        self.rng.shuffle(general)
        general.sort(key=lambda sentence: sentence != ERROR)
        wanted_effects = self.rng.choice((2, 3)) - (right not in GENERAL)
        effects = self._wrong_effects(right, [sentence for sentence in false if sentence not in GENERAL])
        effects = effects[:wanted_effects]
        return [*effects, *general[: OPTIONS - 1 - len(effects)]]

    def _wrong_effects(self, right: str, false: Sequence[str]) -> list[str]:
        """Effects that are false, in an order in which each is as likely of a kind that is there as of another one."""
        waiting = self.rng.sample(false, len(false))
        forms = set() if right in GENERAL else {_form(right)}
        effects: list[str] = []
        while waiting:
            is_like_one = self.rng.random() < 1 / 2
            fitting = [sentence for sentence in waiting if (_form(sentence) in forms) == is_like_one]
            effect = (fitting or waiting)[0]
            waiting.remove(effect)
            effects.append(effect)
            forms.add(_form(effect))
        return effects

    def _weight(self, changed: ChangedRuns, right: str) -> float:
        weight = changed.change.weight
        factors = {ERROR: 0.4, SAME: 0.9}
        return weight * factors[right] if right in factors else weight + 1

    def _result_shapes(self) -> list[Shape]:
        """Shapes that the result might have: those after changes, and with the last two axes exchanged."""
        result_shape = self.runs[0].shape
        if result_shape is None or not result_shape:
            return []
        shapes = [run.shape for changed in self.changed for run in changed.runs[:1] if run.shape]
        if len(result_shape) > 1:
            shapes.append((*result_shape[:-2], result_shape[-1], result_shape[-2]))
        return [shape for shape in dict.fromkeys(shapes) if shape != result_shape]


def _form(sentence: str) -> str:
    """What sentences of one kind have in common."""
    return next((form for form in FORMS if form in sentence), sentence)


def _is_hidden_among(right: str, wrong: Sequence[str]) -> bool:
    """Whether there are enough options, and two of them are specific."""
    specific = [sentence for sentence in (right, *wrong) if sentence not in GENERAL]
    return len(wrong) == OPTIONS - 1 and len(specific) > 1
