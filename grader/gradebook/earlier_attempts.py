"""Earlier versions had a table of graded attempts that do not count. What people gave for them moves to the records.

Their scores are not needed: the attempts themselves are kept beside submitted/, and are graded again.
"""

from __future__ import annotations

import json
import zlib
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from nbgrader.api import SubmittedAssignment
from sqlalchemy import Column, LargeBinary, MetaData, Row, String, Table, Text, delete, inspect, select, update
from sqlalchemy.orm import Session

from grader.gradebook.fingerprint import answers_in
from grader.gradebook.marks import Cell, Marks, marks_by_answer
from grader.gradebook.records import RECORDS, Record, read_records, row_of

_SET_ASIDE = Table(
    "grader_set_aside",
    MetaData(),
    Column("submission_id", String(32), primary_key=True),
    Column("hand_in", String(64), primary_key=True),
    Column("result", Text, nullable=False),  # JSON
    Column("marks", Text, nullable=False),  # JSON
    Column("notebooks", LargeBinary, nullable=False),  # JSON, compressed
)


def move_marks(session: Session, assignment_id: str, cells: Mapping[str, Cell]) -> None:
    """Move what people gave for attempts of an assignment into its records; `cells` has the names by cell id."""
    if not inspect(session.connection()).has_table(_SET_ASIDE.name):
        return
    query = (
        select(_SET_ASIDE)
        .join(SubmittedAssignment, SubmittedAssignment.id == _SET_ASIDE.c.submission_id)
        .where(SubmittedAssignment.assignment_id == assignment_id)
    )
    records = read_records(session, assignment_id)
    for row in session.execute(query).all():
        record = records.get(row.submission_id)
        if record:
            record = _add_marks(record, row, cells)
            records[row.submission_id] = record
            values = row_of(record)
            session.execute(update(RECORDS).where(RECORDS.c.submission_id == row.submission_id).values(values))
            session.execute(delete(_SET_ASIDE).where(_SET_ASIDE.c.submission_id == row.submission_id))
    if session.execute(select(_SET_ASIDE.c.submission_id).limit(1)).first() is None:
        _SET_ASIDE.drop(session.connection())


def _add_marks(record: Record, row: Row[Any], cells: Mapping[str, Cell]) -> Record:
    """A record with what people gave for an attempt in the table, and its number."""
    notebooks = json.loads(zlib.decompress(row.notebooks))
    by_hand = marks_by_answer(Marks(**json.loads(row.marks)), cells, answers_in(notebooks))
    attempt = json.loads(row.result).get("hand_in")
    numbers = {attempt["digest"]: attempt["number"]} if attempt else {}
    choice = record.choice
    return replace(
        record,
        choice=replace(choice, numbers={**choice.numbers, **numbers}, by_hand={**by_hand, **choice.by_hand}),
    )
