"""What takes long to load is there when a sandbox starts; and nothing of ours loads it without need."""

from __future__ import annotations

import contextlib
import copy
import errno
import os
import subprocess
import sys
from pathlib import Path

import pytest
from matplotlib import font_manager

from grader.__main__ import may_be_new
from grader.host import zygote_process
from grader.host.grading import worth_loading
from grader.host.limits import Limits
from grader.host.sandbox_process import SandboxProcess
from grader.host.zygote_process import FOLDER, OwnZygote
from support.places import ROOT

COMPILER = "torch._dynamo"
ASKED = f"import sys\nprint({COMPILER!r} in sys.modules)"
CHECKS = ROOT / "source" / "fast_attention"


@pytest.mark.parametrize(
    ("cells", "loaded"),
    [(["x = 1", "o = torch.optim.SGD(p, lr=1)"], [COMPILER]), (["x = 1", "y = torch.ones(2)"], []), ([], [])],
)
def test_worth_loading_returns_modules_that_cells_need(cells: list[str], loaded: list[str]) -> None:
    assert worth_loading(cells) == loaded


def test_preloaded_module_is_there_when_a_sandbox_starts() -> None:
    process = SandboxProcess({}, Limits(cell=60), loaded=[COMPILER])
    try:
        (output,) = process.run_cell(ASKED, 60).outputs
    finally:
        process.close()
    assert output["text"].strip() == "True"


def test_preloaded_module_leaves_temporary_files_usable() -> None:
    process = SandboxProcess({}, Limits(cell=60), loaded=[COMPILER])
    try:
        result = process.run_cell("import tempfile\ntempfile.TemporaryFile().write(b'x')", 60)
        assert (result.error, process.take_denied()) == ("", [])
    finally:
        process.close()


def test_sandbox_collects_garbage() -> None:
    """While the process imports from which it is forked, it is not."""
    ring = "import gc, weakref\nclass Ring: pass\nring = Ring()\nring.own, seen = ring, weakref.ref(ring)\ndel ring"
    many = "kept = [[] for _ in range(200_000)]\nprint(gc.isenabled(), seen() is None)"
    process = SandboxProcess({}, Limits(cell=60))
    try:
        (output,) = process.run_cell(f"{ring}\n{many}", 60).outputs
    finally:
        process.close()
    assert output["text"].strip() == "True True"


@pytest.mark.slow
def test_long_example_check_does_not_load_the_compiler() -> None:
    program = (
        "import sys, torch\nfrom checks import LongExample\n"
        "problem = LongExample(64, (torch.ones(64, 2),)).problem(lambda x: x @ x.mT, 'f')\n"
        f"assert 'a table of T × T' in problem\n{ASKED}"
    )
    done = subprocess.run([sys.executable, "-c", program], cwd=CHECKS, capture_output=True, text=True, check=False)
    assert done.stdout.strip() == "False", done.stderr


@pytest.mark.slow
@pytest.mark.parametrize("kept", [True, False])
def test_zygote_looks_for_fonts_once_on_a_machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kept: bool) -> None:
    """Matplotlib keeps a list of them, where it may; each zygote would look for them again, for up to seconds."""
    if not kept:
        (tmp_path / FOLDER).write_text("no folder can be here")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    with contextlib.closing(OwnZygote()) as zygote:
        monkeypatch.setattr(zygote_process, "the_zygote", zygote)
        SandboxProcess({}, Limits(cell=60)).close()
    assert bool(list(tmp_path.glob("*/matplotlib/fontlist*.json"))) == kept


@pytest.mark.slow
def test_sandbox_does_not_list_fonts_of_the_instructor(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No sandbox may read them, and a student whose plot asks for one by name must get another one, and no error."""
    entry = font_manager.FontEntry(fname=str(tmp_path / "mine.ttf"), name="Mine")
    manager = copy.copy(font_manager.fontManager)
    manager.ttflist = [*manager.ttflist, entry]
    (tmp_path / "matplotlib").mkdir()
    font_manager.json_dump(manager, tmp_path / f"matplotlib/fontlist-v{manager.__version__}.json")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    with contextlib.closing(OwnZygote()) as zygote:
        monkeypatch.setattr(zygote_process, "the_zygote", zygote)
        sandbox = SandboxProcess({}, Limits(cell=60))
        result = sandbox.run_cell("from matplotlib import font_manager as f\n'Mine' in f.get_font_names()", 60)
        sandbox.close()
    assert [output.data["text/plain"] for output in result.outputs] == ["False"]


@pytest.mark.parametrize(
    ("handed_in", "graded", "new"),
    [(None, None, True), (100, None, True), (100, 200, False), (300, 200, True), (None, 200, True)],
)
def test_may_be_new_compares_submissions_with_the_gradebook(
    tmp_path: Path, handed_in: int | None, graded: int | None, new: bool
) -> None:
    for place, time in (("submitted/ada/week1/week1.ipynb", handed_in), ("gradebook.db", graded)):
        if time is not None:
            (tmp_path / place).parent.mkdir(parents=True, exist_ok=True)
            (tmp_path / place).touch()
            os.utime(tmp_path / place, (time, time))
    assert may_be_new(tmp_path) == new


def test_may_be_new_when_a_folder_is_unreadable_is_true(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A student's folder without the right to enter it is told of by who grades, and stops nothing before that."""
    (tmp_path / "gradebook.db").touch()
    path = tmp_path / "submitted/ada/week1/week1.ipynb"
    path.parent.mkdir(parents=True)
    path.touch()
    stat = Path.stat

    def refused(one: Path, **options: bool) -> os.stat_result:
        if one == path:
            raise PermissionError(errno.EACCES, "Permission denied")
        return stat(one, **options)

    monkeypatch.setattr(Path, "stat", refused)
    assert may_be_new(tmp_path)
