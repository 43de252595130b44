"""Find what a student's code leaves on the CPU, if a verdict says that a result is on the wrong device."""

from __future__ import annotations

import ast
from dataclasses import replace

from grader.facts.code_facts import as_far_as_it_can_be_read, tree_of
from grader.model.verdict import Reason, Verdict

KEPT, MOVED, MADE = "attribute stays on the CPU", "moved to the CPU", "tensor made on the CPU"
_ORDER = (KEPT, MOVED, MADE)  # the clearest comes first
_SAYS = {
    KEPT: "`{}` is a plain attribute, so it stays on the CPU when the module moves. Keep it with register_buffer.",
    MOVED: "`{}` moves a tensor from the inputs' device to the CPU. Leave that out.",
    MADE: "`{}` makes its tensor on the CPU, wherever the inputs are. Give it their device, such as device=x.device.",
}
_MAKERS = {"arange", "empty", "eye", "from_numpy", "full", "linspace", "ones", "rand", "randint", "randn", "tensor"}
_MAKERS |= {"tril_indices", "triu_indices", "zeros"}
_TAKE_ALONG = {"to", "cuda", "type_as", "register_buffer", "Parameter"}  # calls that leave nothing on the CPU
_LONGEST = 60  # characters of code in a sentence


def with_device_named(verdict: Verdict, source: str | None) -> Verdict:
    """Add to a verdict what stays on the CPU, if the code shows it."""
    if verdict.reason != Reason.WRONG_DEVICE or source is None:
        return verdict
    reader = _Reader()
    with as_far_as_it_can_be_read():
        reader.visit(tree_of(source))
    found = min(reader.left(), key=lambda one: _ORDER.index(one[0]), default=None)
    if found is None:
        return verdict
    name, code = found
    return replace(verdict, misconceptions=(name,), sentences=(*verdict.sentences, _SAYS[name].format(code)))


class _Reader(ast.NodeVisitor):
    """Notes each call that makes a tensor or takes one to the CPU, with what it is assigned to."""

    def __init__(self) -> None:
        self._found: list[tuple[str, str, str]] = []  # name, code, and the name or attribute that holds the tensor
        self._moved: set[str] = set()  # names and attributes that are taken to a device
        self._target = ""
        self._along = 0  # calls around this one that take the tensor along

    def left(self) -> list[tuple[str, str]]:
        """Calls whose tensor stays on the CPU."""
        return [(name, code) for name, code, holder in self._found if holder not in self._moved]

    def visit_Assign(self, node: ast.Assign) -> None:
        self._target = ast.unparse(node.targets[0])
        self.generic_visit(node)
        self._target = ""

    def visit_Call(self, node: ast.Call) -> None:
        name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
        leaves = name in ("cpu", "numpy") or (name == "to" and _says_cpu(node))
        along = name in _TAKE_ALONG and not leaves
        if along and isinstance(node.func, ast.Attribute):
            self._moved.add(ast.unparse(node.func.value))
        if leaves and isinstance(node.func, ast.Attribute):
            self._found.append((MOVED, _written(node), ""))
        elif _makes(node) and not self._along:
            kept = self._target.startswith("self.")
            self._found.append((KEPT, self._target, self._target) if kept else (MADE, _written(node), self._target))
        self._along += along
        self.generic_visit(node)
        self._along -= along


def _makes(node: ast.Call) -> bool:
    """Whether a call makes a tensor without a device. A single number may be anywhere."""
    if not (isinstance(node.func, ast.Attribute) and node.func.attr in _MAKERS and node.args):
        return False
    of_torch = isinstance(node.func.value, ast.Name) and node.func.value.id == "torch"
    number = node.func.attr == "tensor" and isinstance(node.args[0], ast.Constant | ast.BinOp)
    return of_torch and not number and not any(word.arg in (None, "device") for word in node.keywords)


def _says_cpu(node: ast.Call) -> bool:
    given = [*node.args, *(word.value for word in node.keywords)]
    return any(isinstance(one, ast.Constant) and one.value == "cpu" for one in given)


def _written(call: ast.Call) -> str:
    """The text of a call, or its start."""
    text = ast.unparse(call)
    return text if len(text) <= _LONGEST else f"{ast.unparse(call.func)[:_LONGEST]}(…)"
