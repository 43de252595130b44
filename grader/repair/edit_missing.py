"""A line that may be missing: a part of a class that is used and never made, a list that nothing is put into."""

from __future__ import annotations

import ast
import itertools
from collections.abc import Iterator, Sequence

from grader.facts.student_text import StudentText
from grader.repair.edit_words import Surroundings, exchanged

MOST_MODELS = 8
OF_EVERY_MODULE = frozenset(["training", "register_buffer", "register_parameter", "parameters", "modules", "device"])


def parts_to_make(text: StudentText, around: Surroundings) -> Iterator[str]:
    """For each part that is missing, statements that make it as others are made, for `__init__`."""
    made = _made_in(around.function)
    for name in _missing(around):
        likely = sorted(around.parameters, key=lambda parameter: parameter != name)  # it was not kept
        parts = [f"{one} // {other}" for one, other in itertools.permutations(around.parameters, 2)]
        parts += [f"{one} ** 0.5" for one in around.parameters]
        for value in dict.fromkeys([*likely, *_as_others(text, made, around.parameters), *parts]):
            yield f"self.{name} = {value}"


def empty_lists(function: ast.AST) -> list[str]:
    """The names of lists that are made with nothing in them."""
    made = [node for node in ast.walk(function) if isinstance(node, ast.Assign) and _is_empty_list(node.value)]
    return [target.id for node in made for target in node.targets if isinstance(target, ast.Name)]


def never_filled(function: ast.AST) -> list[str]:
    """Those of them that nothing is ever done with but to read them."""
    used = {
        node.value.id
        for node in ast.walk(function)
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name)
    }
    return [name for name in empty_lists(function) if name not in used]


def _is_empty_list(value: ast.expr) -> bool:
    return (isinstance(value, ast.List) and not value.elts) or ast.unparse(value) == "list()"


def _missing(around: Surroundings) -> list[str]:
    """Attributes that are read, and that the class does not have. One that has other parents may have them."""
    owner = around.owner
    if owner is None or around.function.name != "__init__" or len(owner.bases) != 1:
        return []
    if ast.unparse(owner.bases[0]) not in ("nn.Module", "torch.nn.Module", "Module"):
        return []
    read = [
        node.attr
        for node in ast.walk(owner)
        if isinstance(node, ast.Attribute)
        and isinstance(node.ctx, ast.Load)
        and isinstance(node.value, ast.Name)
        and node.value.id == "self"
    ]
    known = {*around.attributes, *OF_EVERY_MODULE, *(part.name for part in owner.body if hasattr(part, "name"))}
    return list(dict.fromkeys(name for name in read if name not in known))


def _made_in(function: ast.AST) -> list[ast.Call]:
    """The values of attributes that are made by a call."""
    calls = [
        node.value
        for node in ast.walk(function)
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Attribute)
    ]
    return [value for value in calls if isinstance(value, ast.Call)][:MOST_MODELS]


def _as_others(text: StudentText, made: Sequence[ast.Call], parameters: Sequence[str]) -> Iterator[str]:
    """What others are made by: as it is, with two arguments exchanged, or with another parameter for one of them."""
    yield from map(text.of, made)
    for call in made:
        function, keywords = text.of(call.func), [text.of(keyword) for keyword in call.keywords]
        arguments = [text.of(argument) for argument in call.args]
        changed = list(exchanged(arguments))
        for index in range(len(arguments)):
            changed += [[*arguments[:index], name, *arguments[index + 1 :]] for name in parameters]
        yield from (f"{function}({', '.join([*order, *keywords])})" for order in changed)
