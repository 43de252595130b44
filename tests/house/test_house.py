"""The rooms of the house: imports only point down, and to what a room exports."""

from __future__ import annotations

import ast
import functools
import re
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import NamedTuple, TypeGuard

import pytest
import torch

import grader
from support import places

HOUSE = Path(grader.__file__).parent
# From the ground up. A room may import from itself and from rooms below it.
FLOORS = (
    "sandbox", "errors", "solutions", "model", "facts", "judging", "again", "kit", "exercises", "repair", "decide",
    "explaining", "notebooks", "term", "course", "host", "notebook", "gradebook", "release", "classroom", "collecting",
    "autograders", "pages", "export", "publishing", "serving", "checks", "authoring", "cli",
    "__main__",
)  # fmt: skip
LONGEST = 500  # lines of a module
ROOMS = tuple(room for room in FLOORS if (HOUSE / room).is_dir())


class Import(NamedTuple):
    """An import of a module, or of a name from it."""

    importer: str
    module: str
    name: str

    @property
    def rooms(self) -> tuple[str, str]:
        return self.importer.split(".")[1], self.module.split(".")[1]


def source_files() -> list[Path]:
    return sorted(HOUSE.rglob("*.py"))


def imports_of(code: str, importer: str) -> Iterator[Import]:
    """All imports of the grader's own modules, anywhere in the code."""
    for node in ast.walk(ast.parse(code)):
        if isinstance(node, ast.Import):
            yield from (Import(importer, alias.name, "") for alias in node.names if alias.name.startswith("grader."))
        elif isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] == "grader":
            for alias in node.names:
                yield _resolved(importer, str(node.module), alias.name)


@functools.cache
def exports() -> dict[str, str]:
    """The module of each name that is exported at the top."""
    stub = ast.parse((HOUSE / "__init__.pyi").read_text())
    imports = [node for node in ast.walk(stub) if isinstance(node, ast.ImportFrom)]
    return {alias.name: f"grader.{node.module}" for node in imports for alias in node.names}


def _resolved(importer: str, module: str, name: str) -> Import:
    """`from grader.room import module` imports a module; `from grader import Case` a name exported at the top."""
    if module == "grader" and name in exports():
        return Import(importer, exports()[name], name)
    below = HOUSE.joinpath(*module.split(".")[1:], name)
    is_module = below.is_dir() or below.with_suffix(".py").is_file()
    return Import(importer, f"{module}.{name}", "") if is_module else Import(importer, module, name)


def all_imports() -> list[Import]:
    return [
        found
        for path in source_files()
        if path != HOUSE / "__init__.py"
        for found in imports_of(path.read_text(), ".".join(["grader", *path.relative_to(HOUSE).with_suffix("").parts]))
    ]


def import_problem(found: Import) -> str:
    """What is wrong with an import; empty if it is right."""
    here, there = found.rooms
    if here == there:
        return ""
    if FLOORS.index(there) > FLOORS.index(here):
        return f"{found.importer} imports {found.module}, which lies above it"
    if here == "sandbox":
        return f"{found.importer} imports {found.module}, and the sandbox must not know of it"
    if there == "exercises":
        return f"{found.importer} imports {found.module}: exercises are loaded, and nobody imports them by name"
    if found.name.startswith("_"):
        return f"{found.importer} imports {found.name}, which is private to {found.module}"
    if there in ROOMS and there != "exercises":
        module = found.module.split(".")[2:3]
        if module and module[0] not in import_module(f"grader.{there}").__all__:
            return f"{found.importer} imports {found.module}, which {there} does not export"
    return ""


def test_imports_point_down_and_stay_at_the_door() -> None:
    found = all_imports()
    assert len(found) > 300
    assert [said for one in found if (said := import_problem(one))] == []


@pytest.mark.parametrize(
    ("importer", "line"),
    [
        ("grader.judging.judge", "from grader.host.grading import grade_notebook"),
        ("grader.sandbox.child", "from grader.model.compare import difference"),
        ("grader.sandbox.child", "import grader.errors"),
        ("grader.host.grading", "from grader.exercises.ex03_softmax import exercise"),
        ("grader.host.grading", "def f():\n    from grader.exercises import ex03_softmax"),
        ("grader.kit.pictures", "from grader.notebook import hidden_tests"),
        ("grader.course.folder", "from grader.cli.app import app"),
        ("grader.cli.app", "from grader.course.folder import _those"),
        ("grader.cli.app", "from grader.sandbox.child import serve"),
    ],
)
def test_import_problem_when_import_is_wrong_says_so(importer: str, line: str) -> None:
    (found,) = imports_of(line, importer)
    assert import_problem(found)


def test_package_exports_exist() -> None:
    assert sorted(exports()) == dir(grader)
    for name, module in exports().items():
        assert getattr(grader, name) is getattr(import_module(module), name)


def test_import_problem_when_import_is_right_is_empty() -> None:
    (found,) = imports_of("from grader import Case", "grader.exercises.ex03_softmax")
    assert not import_problem(found)


def test_exercises_import_only_what_is_exported_for_authors() -> None:
    """Exercises import only from `grader` itself and from the kit."""
    texts = [path.read_text() for path in source_files() if "exercises" in path.parts]
    nodes = [node for text in texts for node in ast.walk(ast.parse(text)) if isinstance(node, ast.ImportFrom)]
    ours = {str(node.module) for node in nodes if not node.level and str(node.module).split(".")[0] == "grader"}
    assert {module for module in ours if not module.startswith("grader.kit.")} == {"grader"}


@pytest.mark.parametrize("room", ROOMS)
def test_rooms_each_have_a_docstring(room: str) -> None:
    said = import_module(f"grader.{room}").__doc__
    assert said
    assert said.strip().endswith(".")


@pytest.mark.parametrize("room", ROOMS)
def test_room_exports_exist(room: str) -> None:
    if room == "exercises":
        return
    names = import_module(f"grader.{room}").__all__
    assert names == sorted(set(names))
    assert all((HOUSE / room / f"{name}.py").is_file() or (HOUSE / room / name).is_dir() for name in names)


def test_modules_are_short_enough_to_read() -> None:
    """Exempt are exercises, which are mostly lists of mistakes."""
    files = [path for path in source_files() if path.parent.name != "exercises"]
    lengths = {str(path.relative_to(HOUSE)): len(path.read_text().splitlines()) for path in files}
    assert {place for place, lines in lengths.items() if lines > LONGEST} == set()


def test_names_of_files_and_classes_are_unique() -> None:
    """No files or public classes share a name, except forms, with a file on either side of the sandbox's wall."""
    files = [path for path in source_files() if path.name != "__init__.py" and path.parent.name != "forms"]
    classes = [node.name for path in source_files() for node in ast.parse(path.read_text()).body if is_public(node)]
    assert [name for name, times in Counter(path.stem for path in files).items() if times > 1] == []
    assert [name for name, times in Counter(classes).items() if times > 1] == []


def is_public(node: ast.stmt) -> TypeGuard[ast.ClassDef]:
    return isinstance(node, ast.ClassDef) and not node.name.startswith("_")


# --- the engine knows no course --------------------------------------------------------------------------------------

# Words of the course on attention. "Query", "key", "value" and "head" are also words of databases, dicts and HTML.
OF_THE_COURSE = re.compile(
    r"attention|attn|softmax|logsumexp|causal|multi_?head|n(um)?_heads|d_k\b|\brope\b|rms_?norm"
    r"|\bW_?[qkvoc]\b|W_(query|key|value)|fc_out|out_proj|embed_size|context_length|\([1A-Z], [1A-Z]\)",
    re.IGNORECASE,
)
MAY_KNOW_IT = (
    "exercises", "authoring", "checks/demo",  # the course, its made-up class, and files that `grader new` writes
    "kit",  # parts for this course's exercise files
    "model/forms/tensors.py", "__init__.py",
)  # fmt: skip


def course_words(code: str) -> list[str]:
    """Words of the course in names and strings of code, without comments, docstrings, and PyTorch's own names."""
    tree = ast.parse(code)
    shown = {id(one.value) for one in ast.walk(tree) if isinstance(one, ast.Expr)}  # docstrings, also of fields
    nodes = [node for node in ast.walk(tree) if id(node) not in shown]
    texts = [str(node.value) for node in nodes if isinstance(node, ast.Constant)]
    fields = [value for node in nodes for _, value in ast.iter_fields(node) if not isinstance(node, ast.Constant)]
    texts += [value for value in fields if isinstance(value, str)]
    words = [word for text in texts for word in re.findall(r"\([1A-Z], [1A-Z]\)|[\w-]+", text)]
    return [word for word in words if OF_THE_COURSE.search(word) and not _is_of_torch(word)]


def _is_of_torch(word: str) -> bool:
    return word == "attention-grader" or any(
        callable(getattr(part, word, None)) for part in (torch, torch.nn, torch.nn.functional)
    )


def test_engine_knows_no_word_of_the_course() -> None:
    places = {str(path.relative_to(HOUSE)): path for path in source_files()}
    assert all(any(place.startswith(known) for place in places) for known in MAY_KNOW_IT)
    engine = {place: path for place, path in places.items() if not place.startswith(MAY_KNOW_IT)}
    assert {place: words for place, path in engine.items() if (words := course_words(path.read_text()))} == {}


@pytest.mark.parametrize(
    ("code", "words"),
    [
        ('SAID = "In this notebook they are columns: X has shape (D, N)."', ["(D, N)"]),
        ('_KEPT = {"dropout", "fc_out", "softmax"}', ["fc_out"]),
        ("def softmax_cols(d_k): ...", ["softmax_cols", "d_k"]),
        ("x = given.attention", ["attention"]),
        ('"""Attention."""\n# softmax_cols\nclass A:\n    n: int\n    """How many heads, as W_query has them."""', []),
        ("weights = torch.nn.functional.softmax(scores, dim=-1)", []),
    ],
)
def test_course_words_finds_words_of_the_course(code: str, words: list[str]) -> None:
    assert sorted(course_words(code)) == sorted(words)


def test_package_import_loads_nothing_else() -> None:
    code = "import sys, grader; print([name for name in sys.modules if name.startswith('grader.') or name == 'torch'])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_command_line_import_loads_no_heavy_package() -> None:
    heavy = ("torch", "nbgrader", "nbconvert", "matplotlib", "IPython", "sqlalchemy", "distributed")
    code = f"import sys, grader.cli.app; print([name for name in {heavy} if name in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


# --- the tests' own house --------------------------------------------------------------------------------------------


TESTS = {path.stem: path for path in sorted([*places.TESTS.glob("*/*.py"), *places.TESTS.glob("*.py")])}
PROOFS = ("raises", "warns", "validate", "wait")  # each raises an error if something is wrong


@functools.cache
def code_of(module: str) -> ast.Module:
    return ast.parse(TESTS[module].read_text())


def is_test(function: ast.FunctionDef) -> bool:
    """A function that returns something is a helper, such as one that makes a test cell."""
    return function.returns is not None and ast.unparse(function.returns) == "None"


def proves_something(function: ast.FunctionDef, beside: dict[str, ast.FunctionDef]) -> bool:
    """Whether a function, or one that it calls in the same module, asserts anything."""
    calls = [node.func for node in ast.walk(function) if isinstance(node, ast.Call)]
    names = {call.id for call in calls if isinstance(call, ast.Name)}
    names |= {call.attr for call in calls if isinstance(call, ast.Attribute)}
    return (
        any(isinstance(node, ast.Assert) for node in ast.walk(function))
        or any(name in PROOFS or name.startswith("assert_") for name in names)
        or any(
            proves_something(beside[name], {other: beside[other] for other in beside.keys() - {name}})
            for name in names & beside.keys()
        )
    )


@pytest.mark.parametrize("module", [name for name in TESTS if name.startswith("test_")])
def test_tests_each_prove_something(module: str) -> None:
    functions = {node.name: node for node in code_of(module).body if isinstance(node, ast.FunctionDef)}
    tests = [one for name, one in functions.items() if name.startswith("test_") and is_test(one)]
    assert [one.name for one in tests if not proves_something(one, functions)] == []
