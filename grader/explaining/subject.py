"""A student's code and what it is called with: whose questions these are, and how inputs are said in words."""

from __future__ import annotations

import ast
import builtins
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from grader.explaining.observed import Draw, Tensor
from grader.explaining.outcomes import shape_text
from grader.facts.names import arguments_in, names_stored
from grader.facts.student_text import Function, StudentText

MOST_SHOWN = 16  # whole numbers or truth values of an input


@dataclass(frozen=True)
class Subject:
    """A cell of a student's that is right, and draws of the inputs of some cases, six of each."""

    source: str
    entry: str
    cases: Sequence[Sequence[Draw]]  # the best to ask about first

    @cached_property
    def text(self) -> StudentText:
        return StudentText(self.source)

    @cached_property
    def parameters(self) -> tuple[str, ...]:
        """The names of the arguments of a call, as the student wrote them."""
        return _parameters(self._definition("forward"))

    @cached_property
    def parameters_of_class(self) -> tuple[str, ...]:
        """The names of the arguments with which a class is made."""
        return _parameters(self._definition("__init__"))

    def _definition(self, method: str) -> ast.stmt | None:
        """The function, or a method of the class or of one that it derives from in this cell."""
        definitions = {node.name: node for node in self.text.definitions if isinstance(node, Function | ast.ClassDef)}
        waiting, names_seen = [self.entry], set[str]()
        while waiting:
            name = waiting.pop(0)
            node = None if name in names_seen else definitions.get(name)
            names_seen.add(name)
            if isinstance(node, Function):
                return node
            for member in node.body if node else ():
                if isinstance(member, Function) and member.name == method:
                    return member
            waiting += [base.id for base in node.bases if isinstance(base, ast.Name)] if node else []
        return None

    @cached_property
    def lines_of_others(self) -> set[int]:
        """Lines that call functions which are not in this cell: nobody can see what they do."""
        defined = set(dir(builtins)) | set(names_stored(self.text.tree)) | set(arguments_in(self.text.tree))
        defined |= {node.name for node in ast.walk(self.text.tree) if isinstance(node, Function | ast.ClassDef)}
        lines: set[int] = set()
        for node in ast.walk(self.text.tree):
            match node:
                case ast.Call(func=ast.Name(id=name), lineno=line) if name not in defined:
                    lines.add(line)
        return lines

    def value_text(self, line: int) -> str:
        """What is assigned by the statement that ends in a line."""
        for node in ast.walk(self.text.tree):
            if isinstance(node, ast.Assign | ast.AugAssign) and node.end_lineno == line:
                return self.text.of(node.value)
        return ""

    def line(self, number: int) -> str:
        """A line without its comment and the space around it."""
        return self.text.line(number).split("#")[0].strip()

    def words(self, draw: Draw) -> str:
        """The inputs of a call, such as "`x` of shape (2, 5, 4)"."""
        names_by_words: dict[str, list[str]] = {}
        for name, value in zip(self.parameters, draw.arguments, strict=False):
            if value is not None:
                names_by_words.setdefault(_value_words(value), []).append(f"`{name}`")
        phrases = []
        for words, names in names_by_words.items():
            several = len(names) > 1
            listed = f"{', '.join(names[:-1])} and {names[-1]} each" if several else names[0]
            phrases.append(f"{listed} {words}")
        inputs = ", ".join(phrases)
        if draw.weights is None:
            return inputs
        pairs = zip(self.parameters_of_class, draw.built, strict=False)
        arguments = ", ".join(f"{name}={value}" for name, value in pairs)
        mode = ", in evaluation mode," if "ropout" in self.source else ""
        return f"`{self.entry}({arguments})`{mode} called with {inputs}"


def _parameters(definition: ast.stmt | None) -> tuple[str, ...]:
    if not isinstance(definition, Function):
        return ()
    names = [argument.arg for argument in (*definition.args.posonlyargs, *definition.args.args)]
    return tuple(names[1:] if names[:1] == ["self"] else names)


def _value_words(value: Any) -> str:
    if isinstance(value, Tensor) and not value.is_floating_point() and value.numel() <= MOST_SHOWN:
        return f"= `tensor({value.tolist()})`"
    if isinstance(value, Tensor):
        return f"of shape {shape_text(tuple(value.shape))}" if value.dim() else "a number"
    if isinstance(value, list | tuple):
        return f"a list of {len(value)} {_items_words(value)}"
    return f"= {value}"


def _items_words(value: Sequence[Any]) -> str:
    first = value[0] if value else None
    if isinstance(first, Tensor) and first.dim():
        return f"tensors of shape {shape_text(tuple(first.shape))}"
    if isinstance(first, list | tuple):
        return f"lists of {len(first)} {_items_words(first)}"
    return "numbers"


def sizes_of(value: Any) -> tuple[int, ...]:
    """The sizes of a tensor, or of nested lists."""
    if isinstance(value, Tensor):
        return tuple(value.shape)
    if isinstance(value, list | tuple) and value:
        return len(value), *sizes_of(value[0])
    return ()


def is_hidden(value: Any) -> bool:
    """Whether an input decides what happens, but is too long to be shown."""
    return isinstance(value, Tensor) and not value.is_floating_point() and value.numel() > MOST_SHOWN


def all_sizes(draw: Draw) -> set[int]:
    """The sizes and whole numbers of a call."""
    values = [*draw.arguments, *draw.built]
    sizes = {size for value in values for size in sizes_of(value)}
    return sizes | {value for value in values if type(value) is int}
