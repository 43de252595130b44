"""What each grade was given for: our own table in the gradebook, beside nbgrader's."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from nbgrader.api import SubmittedAssignment
from sqlalchemy import Column, MetaData, String, Table, Text, select
from sqlalchemy.orm import Session

from grader.gradebook.hidden_seed import Attempt
from grader.model.verdict import Scored

RECORDS = Table(
    "grader_record",
    MetaData(),
    Column("submission_id", String(32), primary_key=True),
    Column("fingerprint", String(64), nullable=False),
    Column("digest", String(64), nullable=False),
    Column("result", Text, nullable=False),  # JSON
)


@dataclass(frozen=True)
class Record:
    """What a grade was given for, and what grading found."""

    fingerprint: str  # of all that the grade depends on: see fingerprint.py
    digest: str  # of the autograded notebooks
    verdicts: Sequence[Scored]
    blocked: Sequence[str]
    attempt: Attempt | None = None  # unknown in records of earlier versions
    environment: str = ""  # the versions it was graded with; may be unknown, too


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
    verdicts = [scored for data in result["verdicts"] if (scored := Scored.from_json(data))]
    attempt = Attempt(**result["hand_in"]) if result.get("hand_in") else None
    return Record(row.fingerprint, row.digest, verdicts, result["blocked"], attempt, result.get("environment", ""))


def row_of(record: Record) -> dict[str, str]:
    result = {
        "verdicts": [scored.to_json() for scored in record.verdicts],
        "blocked": list(record.blocked),
        "hand_in": asdict(record.attempt) if record.attempt else None,
        "environment": record.environment,
    }
    return {"fingerprint": record.fingerprint, "digest": record.digest, "result": json.dumps(result)}
