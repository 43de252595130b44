"""Import the modules of one package from texts, wherever those came from."""

from __future__ import annotations

from importlib.abc import SourceLoader
from importlib.machinery import ModuleSpec
from importlib.util import spec_from_file_location
from pathlib import Path
from types import ModuleType

from grader.model.exercise_files import IMPORTED, ExerciseFiles

INIT = "__init__.py"


class FromTexts(SourceLoader):
    """Finds and loads what belongs to `package`. Errors tell the places where the texts were read."""

    def __init__(self, package: str, files: ExerciseFiles) -> None:
        self._package = package
        self._files = files
        IMPORTED[package] = files  # which tells where an error lies

    def find_spec(self, fullname: str, path: object, target: ModuleType | None = None) -> ModuleSpec | None:  # noqa: ARG002
        if fullname.split(".")[0] != self._package or self._place(fullname) is None:
            return None
        return spec_from_file_location(fullname, self.get_filename(fullname), loader=self)

    def get_filename(self, fullname: str) -> str:
        return str(Path(self._files.folder, self._place(fullname) or ""))

    def get_data(self, path: str) -> bytes:
        return self._files.texts.get(Path(path).relative_to(self._files.folder).as_posix(), b"")

    def _place(self, fullname: str) -> str | None:
        """Where the text of a module lies. A folder needs no __init__.py."""
        place = "/".join(fullname.split(".")[1:])
        if f"{place}.py" in self._files.texts:
            return f"{place}.py"
        inside = f"{place}/" if place else ""
        return inside + INIT if any(text.startswith(inside) for text in self._files.texts) else None
