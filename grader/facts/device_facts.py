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
    calls = sorted(reader.calls_on_cpu(), key=lambda call: _ORDER.index(call[0]))
    if not calls:
        return verdict
    name, code = calls[0]
    return replace(verdict, misconceptions=(name,), sentences=(*verdict.sentences, _SAYS[name].format(code)))


class _Reader(ast.NodeVisitor):
    """Notes each call that makes a tensor or takes one to the CPU, with what it is assigned to."""

    def __init__(self) -> None:
        self._calls: list[tuple[str, str, str]] = []  # name, code, and the name or attribute that holds the tensor
        self._moved: set[str] = set()  # names and attributes that are taken to a device
        self._target = ""
        self._along = 0  # calls around this one that take the tensor along

    def calls_on_cpu(self) -> list[tuple[str, str]]:
        """Calls whose tensor stays on the CPU."""
        return [(name, code) for name, code, holder in self._calls if holder not in self._moved]

    def visit_Assign(self, node: ast.Assign) -> None:
        self._target = ast.unparse(node.targets[0])
        self.generic_visit(node)
        self._target = ""

    def visit_Call(self, node: ast.Call) -> None:
        name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
        goes_to_cpu = name in ("cpu", "numpy") or (name == "to" and _names_cpu(node))
        takes_along = name in _TAKE_ALONG and not goes_to_cpu
        if takes_along and isinstance(node.func, ast.Attribute):
            self._moved.add(ast.unparse(node.func.value))
        if goes_to_cpu and isinstance(node.func, ast.Attribute):
            self._calls.append((MOVED, _short_text(node), ""))
        elif _makes_tensor(node) and not self._along:
            is_attribute = self._target.startswith("self.")
            code = self._target if is_attribute else _short_text(node)
            self._calls.append((KEPT if is_attribute else MADE, code, self._target))
        self._along += takes_along
        self.generic_visit(node)
        self._along -= takes_along


def _makes_tensor(node: ast.Call) -> bool:
    """Whether a call makes a tensor without a device. A single number may be anywhere."""
    if not (isinstance(node.func, ast.Attribute) and node.func.attr in _MAKERS and node.args):
        return False
    is_of_torch = isinstance(node.func.value, ast.Name) and node.func.value.id == "torch"
    is_number = node.func.attr == "tensor" and isinstance(node.args[0], ast.Constant | ast.BinOp)
    return is_of_torch and not is_number and not any(keyword.arg in (None, "device") for keyword in node.keywords)


def _names_cpu(node: ast.Call) -> bool:
    arguments = [*node.args, *(keyword.value for keyword in node.keywords)]
    return any(isinstance(argument, ast.Constant) and argument.value == "cpu" for argument in arguments)


def _short_text(call: ast.Call) -> str:
    """The text of a call, or its start."""
    text = ast.unparse(call)
    return text if len(text) <= _LONGEST else f"{ast.unparse(call.func)[:_LONGEST]}(…)"
