"""The grader's own modules beside a notebook come into a sandbox compiled, and nobody else's do."""

from __future__ import annotations

from contextlib import closing
from importlib.util import cache_from_source

import pytest

from grader.host import sandbox_process
from grader.host.limits import Limits
from grader.host.sandbox_process import SandboxProcess, compile_module, with_compiled
from grader.model.submission import Files
from grader.notebooks.modules_beside import all_modules


def shown(files: Files, cell: str) -> str:
    with closing(SandboxProcess(files, Limits(cell=20))) as sandbox:
        return str(sandbox.run_cell(cell, 20).outputs[0]["text"])


LOOK = "import showing; print(vars(showing).get('MADE'), showing.show_figure.__code__.co_filename == showing.__file__)"


def test_companion_modules_run_as_compiled_by_the_grader(monkeypatch: pytest.MonkeyPatch) -> None:
    assert shown(all_modules(), LOOK) == "None True\n"
    more = {place: content + b"\nMADE = 1\n" for place, content in all_modules().items()}
    other = {place: (content, compile_module(place, more[place])) for place, content in all_modules().items()}
    monkeypatch.setattr(sandbox_process, "compiled_modules", lambda: other)
    assert shown(all_modules(), LOOK) == "1 True\n"


def test_with_compiled_leaves_the_students_own_modules() -> None:
    theirs = {"showing.py": b"MADE = 2", "folder/checking.py": all_modules()["checking.py"]}
    assert with_compiled(theirs) == theirs
    assert shown(theirs, "import showing; print(showing.MADE)") == "2\n"


def test_with_compiled_adds_each_module() -> None:
    assert len(with_compiled(all_modules())) == 2 * len(all_modules())


@pytest.mark.parametrize("place", ["__pycache__", f"{cache_from_source('showing.py')}/file"])
def test_with_compiled_leaves_out_a_file_named_like_its_folder(place: str) -> None:
    assert with_compiled({**all_modules(), place: b""}) == with_compiled(all_modules())
    assert shown({**all_modules(), place: b""}, LOOK) == "None True\n"
