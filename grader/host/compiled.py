"""The grader's own modules beside a notebook, compiled once, and not in every sandbox that imports them."""

from __future__ import annotations

import functools
import importlib.util
import py_compile
import tempfile
from pathlib import Path

from grader.model.submission import Files
from grader.notebooks.beside import all_modules

_FOLDER = "__pycache__"


def with_compiled(files: Files) -> Files:
    """The same, and beside those that are the grader's own what Python would make of them.

    What is handed in as such is left out: it could be a file where a folder must be.
    """
    ours = all_compiled()
    found = {place: ours[place] for place, content in files.items() if place in ours and ours[place][0] == content}
    others = {place: content for place, content in files.items() if place.partition("/")[0] != _FOLDER}
    return {**others, **{importlib.util.cache_from_source(place): made for place, (_, made) in found.items()}}


@functools.cache
def all_compiled() -> dict[str, tuple[bytes, bytes]]:
    """Each as it is and as it is compiled, by its place."""
    return {place: (content, as_compiled(place, content)) for place, content in all_modules().items()}


def as_compiled(place: str, content: bytes) -> bytes:
    with tempfile.TemporaryDirectory() as folder:
        source, target = Path(folder, place), Path(folder, "compiled")
        source.write_bytes(content)
        unchecked = py_compile.PycInvalidationMode.UNCHECKED_HASH  # a time says nothing in a folder made anew
        py_compile.compile(str(source), str(target), place, doraise=True, invalidation_mode=unchecked)
        return target.read_bytes()
