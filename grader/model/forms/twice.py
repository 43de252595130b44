"""A function that chance has a part in: it is called twice."""

from __future__ import annotations

from grader.model.forms.parts import InParts


class Twice(InParts):
    """Two calls, of which is read what chance must and must not do."""

    name = "twice"


TWICE = Twice()
