"""The tables of docs/how_right.md, from what is on record: `make how-right` writes them."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from enum import StrEnum

from grader.model.verdict import Reason
from support.our_course import ASSIGNMENTS, of_assignment
from support.places import DATA, ROOT
from support.records import Record, records

PAGE = ROOT / "docs" / "how_right.md"
MUTANTS = DATA / "mutants.json"  # written by `pytest tests/judging/test_mutants.py --record`


class Explained(StrEnum):
    """How a verdict explains what is wrong."""

    NAMED = "named"
    LINE = "line shown"
    FACT = "fact"
    NOTHING = "nothing"


def explained(record: Record) -> Explained:
    if record.reason == Reason.MISCONCEPTION:
        return Explained.NAMED
    if record.reason == Reason.LOCATED:
        return Explained.LINE
    # Where Python stopped is shown, and is rarely where the mistake is.
    return Explained.NOTHING if record.reason in (Reason.WRONG, Reason.ERROR) else Explained.FACT


def records_of(assignment: str, right: bool) -> list[Record]:
    """Those of an assignment's right pieces, or of its wrong ones."""
    return [
        record
        for exercise in of_assignment(assignment)
        for name, record in records(exercise.number).items()
        if name.startswith("right/") == right
    ]


def table(head: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    lines = [head, ["---"] + ["---:"] * (len(head) - 1), *rows]
    return "".join(f"| {' | '.join(map(str, line))} |\n" for line in lines)


def of_right_code() -> str:
    rows = []
    for assignment in ASSIGNMENTS:
        right = records_of(assignment, right=True)
        refused = sum(record.credit < 1 for record in right)
        rows.append((f"`{assignment}`", len(right), refused, f"{3 / len(right):.1%}"))
    return table(("assignment", "right pieces", "refused", "upper bound"), rows)


def of_wrong_code() -> str:
    rows = []
    for assignment in ASSIGNMENTS:
        wrong = records_of(assignment, right=False)
        accepted = sum(record.credit == 1 for record in wrong)
        kinds = Counter(map(explained, wrong))
        shares = [f"{kinds[kind] / len(wrong):.0%}" for kind in Explained]
        rows.append((f"`{assignment}`", len(wrong), accepted, f"{3 / len(wrong):.1%}", *shares))
    return table(("assignment", "wrong pieces", "accepted", "upper bound", *Explained), rows)


def of_mutants() -> str:
    counts = json.loads(MUTANTS.read_text(encoding="utf-8"))
    rows = []
    for assignment in ASSIGNMENTS:
        some = [counts[str(exercise.number)] for exercise in of_assignment(assignment)]
        survivors = sum(sum(count["survive"].values()) for count in some)
        rows.append((f"`{assignment}`", sum(count["mutants"] for count in some), survivors))
    return table(("assignment", "mutants", "survive"), rows)


def of_survivors() -> str:
    reasons: Counter[str] = Counter()
    for count in json.loads(MUTANTS.read_text(encoding="utf-8")).values():
        reasons.update(count["survive"])
    return table(("why a mutant is still right", "mutants"), reasons.most_common())


TABLES = {"right": of_right_code, "wrong": of_wrong_code, "mutants": of_mutants, "survivors": of_survivors}


def with_tables(page: str) -> str:
    """The page, with each table in the place of the one after its mark."""
    for name, make in TABLES.items():
        mark = f"<!-- {name} -->\n\n"
        before, _, after = page.partition(mark)
        page = before + mark + make() + "\n" + re.sub(r"^(\|.*\n)*\n*", "", after)
    return page


if __name__ == "__main__":
    PAGE.write_text(with_tables(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
