"""What each grade was given for: our own table in the gradebook, beside nbgrader's."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from datetime import datetime
from typing import Any

from nbgrader.api import SubmittedAssignment
from sqlalchemy import Column, MetaData, String, Table, Text, select
from sqlalchemy.orm import Session

from grader.gradebook.hidden_seed import Attempt
from grader.model.verdict import Scored
from grader.term.times import format_time

RECORDS = Table(
    "grader_record",
    MetaData(),
    Column("submission_id", String(32), primary_key=True),
    Column("fingerprint", String(64), nullable=False),
    Column("digest", String(64), nullable=False),
    Column("result", Text, nullable=False),  # JSON
)


@dataclass(frozen=True)
class Choice:
    """What the best of a student's attempts was chosen from. Attempts and answers are given by digests."""

    rules: str = ""  # a digest of the rules that it was chosen by
    numbers: Mapping[str, int] = field(default_factory=dict)  # of all attempts that were ever graded
    points: Mapping[str, float] = field(default_factory=dict)  # of all that may count, with full marks for what waits
    by_hand: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)  # what people gave for answers


@dataclass(frozen=True)
class Record:
    """What a grade was given for, and what grading found."""

    fingerprint: str  # of all that the grade depends on: see fingerprint.py
    digest: str  # of the autograded notebooks
    verdicts: Sequence[Scored]
    blocked: Sequence[str]
    attempt: Attempt | None = None  # unknown in records of earlier versions
    environment: str = ""  # the versions it was graded with; may be unknown, too
    choice: Choice = Choice()

    @property
    def counting(self) -> str:
        """The digest of the attempt that counts; empty if it is unknown."""
        return self.attempt.digest if self.attempt else ""

    @property
    def attempts(self) -> list[Attempt]:
        """All attempts of the student that were ever graded, as far as they are known."""
        graded = [Attempt(number, digest) for digest, number in self.choice.numbers.items()]
        return [self.attempt, *graded] if self.attempt else graded


def count_attempts(record: Record | None) -> int:
    """How many attempts the one that counts was chosen from; one if that is unknown."""
    return max(1, len(record.choice.points)) if record else 1


def describe_attempt(attempts: int, time: datetime | None, zone: str) -> str:
    """Which of several attempts counts, in words; empty if there is only one."""
    time_in_words = f"submitted {format_time(time, zone)}" if time else "submitted at an unknown time"
    return f"the best of {attempts} attempts, {time_in_words}" if attempts > 1 else ""


def digest_of(notebooks: Mapping[str, bytes]) -> str:
    """A digest of graded notebooks; empty if there are none."""
    digests = {name: hashlib.sha256(content).hexdigest() for name, content in sorted(notebooks.items())}
    return "".join(digests.values()) if len(digests) < 2 else hashlib.sha256(str(digests).encode()).hexdigest()


def read_records(session: Session, assignment_id: str, students: Collection[str] | None = None) -> dict[str, Record]:
    """The records of an assignment, by the id of the submission; only of `students`, if given."""
    query = (
        select(RECORDS)
        .join(SubmittedAssignment, SubmittedAssignment.id == RECORDS.c.submission_id)
        .where(SubmittedAssignment.assignment_id == assignment_id)
    )
    if students is not None:
        query = query.where(SubmittedAssignment.student_id.in_(students))
    return {row.submission_id: read_record(row) for row in session.execute(query)}


def read_record(row: Any) -> Record:
    result = json.loads(row.result)
    verdicts = list(filter(None, map(Scored.from_json, result["verdicts"])))
    attempt = Attempt(**result["hand_in"]) if result.get("hand_in") else None
    environment, choice = result.get("environment", ""), Choice(**result.get("choice", {}))
    return Record(row.fingerprint, row.digest, verdicts, result["blocked"], attempt, environment, choice)


def row_of(record: Record) -> dict[str, str]:
    result = {
        "verdicts": [scored.to_json() for scored in record.verdicts],
        "blocked": list(record.blocked),
        "hand_in": asdict(record.attempt) if record.attempt else None,
        "environment": record.environment,
        **({"choice": asdict(record.choice)} if record.choice != Choice() else {}),
    }
    return {"fingerprint": record.fingerprint, "digest": record.digest, "result": json.dumps(result)}
