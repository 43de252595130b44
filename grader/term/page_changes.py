"""What instructors decide on the class page of the server: extensions, and which assignments are closed.

It is kept in a file beside course.toml, which only people write. Where both extend a due date, the later date counts.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from pathlib import Path

from grader.errors import CourseError
from grader.term.rules import AssignmentRules

CHANGES_FILE = "class_page.json"


@dataclass(frozen=True)
class PageChanges:
    """What was decided for one assignment."""

    until: Mapping[str, datetime] = field(default_factory=dict)  # new due dates in UTC, by student
    closed: bool = False

    def to_json(self) -> dict[str, object]:
        return {"until": {name: until.isoformat() for name, until in self.until.items()}, "closed": self.closed}

    def applied_to(self, rules: AssignmentRules) -> AssignmentRules:
        """The rules with these changes. Without a due date in them, there is nothing to extend."""
        extensions = dict(rules.extensions)
        if rules.due:
            for student, until in self.until.items():
                extensions[student] = max(until - rules.due, extensions.get(student, timedelta()))
        serving = replace(rules.serving, closed=rules.serving.closed or self.closed)
        return replace(rules, extensions=extensions, serving=serving)


def read_changes(root: Path) -> dict[str, PageChanges]:
    """What was decided in this course, by assignment."""
    path = root / CHANGES_FILE
    try:
        values = json.loads(path.read_text(encoding="utf-8"))
        changes = {}
        for assignment, value in values.items():
            until = {student: datetime.fromisoformat(time) for student, time in value["until"].items()}
            changes[str(assignment)] = PageChanges(until, bool(value["closed"]))
        return changes
    except FileNotFoundError:
        return {}
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError):
        raise CourseError(f"{path} cannot be read. Restore a copy, or delete it and extend again.") from None
