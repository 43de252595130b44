"""How to start with an assignment: the README.md and the requirements.txt of the folder that students get."""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator
from importlib.metadata import packages_distributions
from pathlib import Path

import nbformat

from grader.notebooks.modules_beside import LEFT_BEHIND

FIRST_STEPS = ("README.md", "requirements.txt")

_README = """\
# {assignment}

Keep all files of this folder together: the notebook{s} need{not_s} them. You write in {notebooks},
and hand in nothing else.

1. Install what {it} need{not_s}, once. In a terminal, in this folder:

       python -m pip install -r requirements.txt

2. Start JupyterLab: `python -m jupyterlab`. VS Code opens notebooks as well. In Colab, upload all files into the same
   folder.
3. Run cells from the top, each with Shift+Enter. After a restart of the kernel, or on another day, run the first cells
   again: until then, nothing is defined.
4. Before you hand in, restart the kernel, run all cells, and save.
"""


def first_steps(source: Path, release: Path) -> dict[str, str]:
    """These two files by name, for the notebooks of source/ and the modules that lie beside them in release/."""
    names = sorted(path.name for path in source.glob("*.ipynb"))
    is_plural = len(names) != 1
    readme = _README.format(
        assignment=release.name,
        notebooks=" and ".join(f"`{name}`" for name in names),
        s="s" if is_plural else "",
        not_s="" if is_plural else "s",
        it="they" if is_plural else "it",
    )
    return dict(
        zip(FIRST_STEPS, (readme, "".join(f"{name}\n" for name in _requirements(source, release))), strict=True)
    )


def _requirements(source: Path, release: Path) -> list[str]:
    """The packages that notebooks and modules import, and JupyterLab. Grading depends on no version of them."""
    modules = [path for path in sorted(release.rglob("*.py")) if not LEFT_BEHIND & set(path.parts)]
    codes = [path.read_text(encoding="utf-8", errors="replace") for path in modules]
    for path in sorted(source.glob("*.ipynb")):
        notebook = nbformat.read(path, as_version=4)
        codes += [cell.source for cell in notebook.cells if cell.cell_type == "code"]
    imported = {name for code in codes for name in _imports(code)}
    foreign = imported - sys.stdlib_module_names - {path.stem for path in modules} - {"grader"}
    packages = packages_distributions()
    return sorted({min(packages.get(name, [name])).lower() for name in foreign} | {"jupyterlab"})


def _imports(code: str) -> Iterator[str]:
    """The first part of each name that is imported anywhere in it. Lines of IPython are left out."""
    lines = [line for line in code.splitlines() if not line.lstrip().startswith(("%", "!", "?"))]
    try:
        tree = ast.parse("\n".join(lines))
    except SyntaxError:
        return
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name.partition(".")[0] for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            yield node.module.partition(".")[0]
