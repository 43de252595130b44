"""How a case is put to a student's code, by the form of what an exercise asks for: a file for each form.

The same code looks at the student's code, in the sandbox, and at our own, outside. It judges nothing. A file has
`put(entry, inputs)`, which returns what came back or was observed, and `WORDS`: whether that holds text, truth values
and names, which are no numbers. `KINDS` says that values of all kinds may cross. All files are loaded with this folder,
since a sandbox can read none of them.
"""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Sequence
from types import ModuleType
from typing import Any


def load(folders: Sequence[str]) -> dict[str, ModuleType]:
    """The forms in these folders, by name: the submodules of this one."""
    names = [module.name for module in pkgutil.iter_modules(folders)]
    return {name: importlib.import_module(f"{__name__}.{name}") for name in names}


FORMS = load(__path__)


def put(form: str, entry: Any, inputs: Sequence[Any]) -> Any:
    """Put a case to a student's function or class, in the form that its exercise asks for."""
    return FORMS[form].put(entry, inputs)


def has_words(form: str) -> bool:
    """Whether what comes back holds more than numbers."""
    return bool(FORMS[form].WORDS)


def has_kinds(form: str) -> bool:
    """Whether what is given and what comes back may be of all kinds."""
    return bool(getattr(FORMS[form], "KINDS", False))
