"""A function that chance has a part in: it is called twice."""

from __future__ import annotations

from typing import Any

from grader.model.forms.parts import InParts


class Twice(InParts):
    """Two calls, of which is read what chance must and must not do."""

    name = "twice"

    def is_well_formed(self, observed: Any) -> bool:
        """Two outputs, of whatever kind."""
        outputs = observed.get("outputs") if isinstance(observed, dict) else None
        return isinstance(outputs, dict) and set(outputs) == {"first", "second"}


TWICE = Twice()
