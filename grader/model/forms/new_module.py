"""A class of which a new module counts, too: the parameters that it begins with."""

from __future__ import annotations

from typing import Any

from grader.model.forms.module import Module


class NewModule(Module):
    """A class that is built and looked at as it is, or is given weights and called."""

    name = "new_module"
    at_a_glance = False

    def is_well_formed(self, observed: Any) -> bool:
        """As the sandbox notes it: the parameters of a new module, or what is noted of any class."""
        match observed:
            case {"new": dict(), **more}:
                return not more
        return super().is_well_formed(observed)


NEW_MODULE = NewModule()
