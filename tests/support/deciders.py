"""What decides verdicts on record: rules of the judge, facts of the code, and rules of the search for a wrong line.

`make records` prints how many verdicts each has a part in, and how many it explains alone. What explains none is idle.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from grader.facts.definitions import Definitions
from grader.judging import wording
from grader.model.exercise import Exercise
from grader.model.fact import Fact, FactKind
from grader.model.verdict import Reason, Verdict
from grader.repair.edit_rules import RULES
from grader.repair.edits import MODULES  # noqa: F401 - enter their rules
from grader.repair.locating import LineSearch
from grader.repair.version import Version

PROPERTY = "decided by"  # of a test: a list for each of its verdicts
GROUPS = {
    "reason": [reason.value for reason in Reason],
    "fact": [kind.value for kind in FactKind],
    "repair": list(dict.fromkeys(rule.name for rules in RULES.values() for rule in rules)),
}
# These reasons say that something is wrong, and explain nothing.
UNEXPLAINED = {f"reason {reason}" for reason in (Reason.WRONG, Reason.ERROR, Reason.LOCATED)}


class Watch:
    """What was noted about code while it was judged."""

    def __init__(self) -> None:
        self._facts: list[tuple[Fact, ...]] = []  # of each function
        self._rules: set[str] = set()

    @contextmanager
    def watching(self) -> Iterator[Watch]:
        read_facts, explain = Definitions.facts, LineSearch.explain

        def facts(definitions: Definitions, exercise: Exercise) -> tuple[Fact, ...]:
            facts = read_facts(definitions, exercise)
            self._facts.append(facts)
            return facts

        def explained(search: LineSearch, source: str) -> Version | Verdict | None:
            explanation = explain(search, source)
            if isinstance(explanation, Version) and explanation.edit:
                self._rules.add(explanation.edit.rule)
            return explanation

        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(Definitions, "facts", facts)
            patch.setattr(LineSearch, "explain", explained)
            yield self

    def deciders(self, verdict: Verdict) -> list[str]:
        """What decided a verdict: each with its group. What was noted is forgotten."""
        facts = [kind for kind in FactKind if self._is_told(kind, verdict)]
        deciders = [f"reason {verdict.reason}", *(f"fact {kind}" for kind in facts)]
        deciders += [f"repair {rule}" for rule in sorted(self._rules)]
        self._facts.clear()
        self._rules.clear()
        return deciders

    def _is_told(self, kind: FactKind, verdict: Verdict) -> bool:
        """Whether one of the sentences is on a fact of this kind. Of several functions, each begins with a name."""
        sentences = [wording.about_facts([fact for fact in facts if fact.kind == kind]) for facts in self._facts]
        ends = tuple(sentence for of_function in sentences for sentence in of_function)
        return bool(ends) and any(sentence.endswith(ends) for sentence in verdict.sentences)


def table(verdicts: Iterable[list[str]]) -> str:
    """How many verdicts each decides, and how many alone; those that decide none come last."""
    shares: Counter[str] = Counter()
    alone: Counter[str] = Counter()
    for deciders in verdicts:
        shares.update(deciders)
        explaining = [decider for decider in deciders if decider not in UNEXPLAINED] or deciders
        alone.update(explaining if len(explaining) == 1 else [])
    rows = [f"{group} {name}" for group, names in GROUPS.items() for name in names]
    rows.sort(key=lambda row: (list(GROUPS).index(row.split()[0]), -shares[row]))
    lines = [f"{'decided by':<44}{'verdicts':>9}{'alone':>9}"]
    return "\n".join([*lines, *(f"{row:<44}{shares[row]:>9}{alone[row]:>9}" for row in rows)])


def decided_in(reports: Iterable[Any]) -> list[list[str]]:
    """What decided each verdict in the tests that these reports are of."""
    properties = [found for report in reports for found in getattr(report, "user_properties", ())]
    return [deciders for name, lists in properties if name == PROPERTY for deciders in lists]
