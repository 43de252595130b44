"""The exercise files of a course as plain data, which travels to each process that grades."""

from __future__ import annotations

import hashlib
import traceback
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any


@dataclass(frozen=True)
class ExerciseFiles:
    """The Python files of a course's exercises."""

    folder: str = ""  # where they are on the machine that read them
    texts: Mapping[str, bytes] = field(default_factory=dict)  # by their places in it
    package: str = ""  # their package, if installed

    @property
    def digest(self) -> str:
        digest = hashlib.sha256()
        for place, text in sorted(self.texts.items()):
            digest.update(f"{place} {len(text)} ".encode() + text)
        return digest.hexdigest()

    @property
    def display_name(self) -> str:
        """What people call the folder."""
        return self.package.replace(".", "/") or Path(self.folder).name


IMPORTED: dict[str, ExerciseFiles] = {}  # by their package's name in this process


def location_of_error(error: BaseException) -> str:
    """The last line of exercise files that an error went through, for people to find; empty if there is none."""
    location = ""
    for frame, line in traceback.walk_tb(error.__traceback__):
        location = _location(frame.f_globals, frame.f_code, line) or location
    return location


def location_of_code(function: Any) -> str:
    """Where a function of exercise files begins; empty if unknown."""
    code = getattr(function, "__code__", None)
    return _location(function.__globals__, code, code.co_firstlineno) if code else ""


def _location(variables: Mapping[str, Any], code: Any, line: int) -> str:
    files = IMPORTED.get(str(variables.get("__name__")).split(".")[0])
    if files is None or not Path(code.co_filename).is_relative_to(files.folder):
        return ""
    return f"{files.display_name}/{Path(code.co_filename).relative_to(files.folder).as_posix()}, line {line}"


def describe_error(error: BaseException) -> str:
    """An error of an author's code in a few words, with its location."""
    description = type(error).__name__
    message = " ".join(str(error).split())[:200].rstrip(".")
    if message:
        description += f": {message}"
    location = location_of_error(error)
    return f"{description} ({location})" if location else description
