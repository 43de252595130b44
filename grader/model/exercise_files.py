"""The exercise files of a course as plain data, which travels to whoever grades."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path


@dataclass(frozen=True)
class ExerciseFiles:
    """The Python files of a course's exercises."""

    folder: str = ""  # where they lie on the machine that has read them
    texts: Mapping[str, bytes] = field(default_factory=dict)  # by their places in it
    package: str = ""  # whose they are, if they are installed

    @property
    def digest(self) -> str:
        digest = hashlib.sha256()
        for place, text in sorted(self.texts.items()):
            digest.update(f"{place} {len(text)} ".encode() + text)
        return digest.hexdigest()

    @property
    def shown(self) -> str:
        """What people call the folder."""
        return self.package.replace(".", "/") or Path(self.folder).name
