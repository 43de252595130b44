"""Put modules of the grader beside a released notebook: its visible checks need them, and students have no grader.

Authors import them from the grader, so a notebook runs in source/ unchanged: `from grader.kit.checking import Checks`.
Students get `from checking import Checks`, and the module as a file. An assignment that imports none gets none.
"""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Iterable, Iterator
from pathlib import Path

from grader.errors import CourseError
from grader.model.submission import Files

MODULES = {
    "grader.kit.call_arguments": "call_arguments",
    "grader.kit.cell_runs": "cell_runs",
    "grader.kit.checking": "checking",
    "grader.kit.diagnosis": "diagnosis",
    "grader.kit.earlier_functions": "earlier_functions",
    "grader.kit.endless": "endless",
    "grader.kit.module_examples": "module_examples",
    "grader.kit.piece_examples": "piece_examples",
    "grader.kit.recognizing": "recognizing",
    "grader.kit.showing": "showing",
    "grader.kit.time_limit": "time_limit",
    "grader.kit.visible_examples": "visible_examples",
    "grader.model.compare": "compare",
    "grader.model.broken_rules": "broken_rules",
    "grader.sandbox.forms.exact": "observed_piece",
    "grader.sandbox.forms.module": "observed_module",
    "grader.sandbox.nested": "nested",
}
FILES = {f"{name}.py" for name in MODULES.values()}

_GRADER = Path(__file__).resolve().parent.parent
LEFT_BEHIND = {".ipynb_checkpoints", "__pycache__"}


def for_students(code: str) -> str:
    """An author's code, with these modules imported from files beside it."""
    for pattern, replacement in _import_patterns(*MODULES):
        code = pattern.sub(replacement, code)
    return code


def imports_name(code: str, name: str, module: str = r"[\w.]+") -> bool:
    """Whether code imports this name from a module that matches this pattern, in one line or in several."""
    return bool(re.search(rf"^[ \t]*from {module} import (?:\([^)]*|.*)\b{name}\b", code, re.MULTILINE))


def modules_for(codes: Iterable[str]) -> dict[str, bytes]:
    """The files that an author's code imports, and those that these import in turn."""
    files: dict[str, bytes] = {}
    waiting = list(codes)
    while waiting:
        code = waiting.pop()
        for module, name in MODULES.items():
            if f"{name}.py" not in files and any(pattern.search(code) for pattern, _ in _import_patterns(module)):
                text = _text_of(module)
                files[f"{name}.py"] = for_students(text).encode()
                waiting.append(text)
    return files


def all_modules() -> dict[str, bytes]:
    """All modules that a notebook may have beside it, as students get them."""
    return {f"{name}.py": for_students(_text_of(module)).encode() for module, name in MODULES.items()}


def given_beside(source: Path) -> Files:
    """The files that students get beside a notebook, by path, if source/ does not have them in the same form."""
    paths = [path for path in sorted(source.rglob("*.py")) if not LEFT_BEHIND & set(path.parts)]
    codes = {str(path.relative_to(source)): path.read_text(encoding="utf-8", errors="replace") for path in paths}
    modules = modules_for([*codes.values(), *_cells(source)])
    for name in modules.keys() & codes.keys():
        raise CourseError(
            f"The notebook needs the grader's {name} next to it, but {source.parent.name}/{source.name} has another "
            "file with that name. Rename it, then release again."
        )
    changed = {place: for_students(code).encode() for place, code in codes.items() if for_students(code) != code}
    return changed | modules


def put_beside(folder: Path, files: Files) -> None:
    """Write these files into the folder of a notebook, where nbgrader has put those from source/."""
    for name, content in files.items():
        path = folder / name
        if name not in FILES and not path.is_file():  # the course ignores this file
            continue
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(path)
        path.unlink(missing_ok=True)  # the copy of a read-only file is read-only, too
        path.write_bytes(content)


def _text_of(module: str) -> str:
    return _GRADER.joinpath(*module.split(".")[1:]).with_suffix(".py").read_text(encoding="utf-8")


def _cells(source: Path) -> Iterator[str]:
    for path in sorted(source.glob("*.ipynb")):
        try:
            cells = json.loads(path.read_bytes())["cells"]
        except (ValueError, KeyError):  # not a notebook, as nbgrader will say
            continue
        yield from ("".join(cell["source"]) for cell in cells if cell["cell_type"] == "code")


def _import_patterns(*modules: str) -> list[tuple[re.Pattern[str], str]]:
    """The ways to import these modules, and what students get instead of each."""
    patterns = []
    for module in modules:
        name, (room, _, last) = MODULES[module], module.rpartition(".")
        for statement, replacement in (
            (rf"from {re.escape(module)} import\b", f"from {name} import"),
            (rf"from {re.escape(room)} import {last}\b(?!\s*,)", f"import {name}"),
            (rf"import {re.escape(module)} as\b", f"import {name} as"),
        ):
            patterns.append((re.compile(rf"^([ \t]*){statement}", re.MULTILINE), rf"\g<1>{replacement}"))
    return patterns
