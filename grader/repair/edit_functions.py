"""What may be missing in a function, and what may be wrong in several of its lines."""

from __future__ import annotations

import ast
import itertools
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence

from grader.facts.student_text import Splice
from grader.model.change import Change
from grader.repair.edit_rules import rule
from grader.repair.edit_words import FITTED, exchanged
from grader.repair.sites import FunctionSite, Rewrite, expressions_in, missing_attributes

MOST_MODELS = 8
MOST_EXCHANGED = 12
MOST_NUMBERS = 8  # places of the same number


@rule(ast.FunctionDef, change=Change.NAME, cost=2)
def swap_names(site: FunctionSite) -> Iterator[Rewrite]:
    """W_q @ X + b_q, W_v @ X + b_v for W_q @ X + b_v, W_v @ X + b_q: two names, each of which is read once"""
    names = [node for node in ast.walk(site.node) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load)]
    counts = Counter(name.id for name in names)
    read_once = [name for name in names if counts[name.id] == 1]
    for first, second in itertools.combinations(read_once[:MOST_EXCHANGED], 2):
        span, other_span = site.text.span(first), site.text.span(second)
        yield Rewrite((Splice(*span, second.id), Splice(*other_span, first.id)), (first.lineno, second.lineno))


# A size that is written as a number more than once.


@rule(ast.FunctionDef, change=Change.NUMBERS, cost=2)
def size_for_numbers_of_a_line(site: FunctionSite) -> Iterator[Rewrite]:
    """torch.empty(n, n) for torch.empty(6, 6)"""
    for numbers in _equal_numbers(site):
        by_line: dict[int, list[ast.Constant]] = defaultdict(list)
        for number in numbers:
            by_line[number.lineno].append(number)
        for group in by_line.values():
            if 1 < len(group) <= MOST_NUMBERS:
                yield _fitted(site, group)


@rule(ast.FunctionDef, change=Change.NUMBER, cost=2)
def size_for_equal_numbers(site: FunctionSite) -> Iterator[Rewrite]:
    """torch.empty(n) and range(n) for torch.empty(6) and range(6)"""
    for numbers in _equal_numbers(site):
        if 1 < len(numbers) <= MOST_NUMBERS and len({number.lineno for number in numbers}) > 1:
            yield _fitted(site, numbers)


def _equal_numbers(site: FunctionSite) -> Iterator[list[ast.Constant]]:
    by_value: dict[int, list[ast.Constant]] = defaultdict(list)
    for inner in expressions_in(site.text, site.node, site.around):
        match inner.node:
            case ast.Constant(value=int() as value) if value > 1 and not inner.is_axis:
                by_value[value].append(inner.node)
    yield from by_value.values()


def _fitted(site: FunctionSite, numbers: Sequence[ast.Constant]) -> Rewrite:
    splices = tuple(Splice(*site.text.span(number), FITTED) for number in numbers)
    return Rewrite(splices, tuple(dict.fromkeys(number.lineno for number in numbers)))


# A line that is missing.


@rule(ast.FunctionDef, change=Change.MISSING, cost=1)
def call_super(site: FunctionSite) -> Iterator[Rewrite]:
    """super().__init__() at the start of __init__"""
    if site.node.name == "__init__" and "super" not in site.of(site.node):
        yield Rewrite((site.before(site.node.body[0], "super().__init__()"),))


@rule(ast.FunctionDef, change=Change.RETURNED, cost=1)
def return_name(site: FunctionSite) -> Iterator[Rewrite]:
    """return outputs at the end, where nothing is returned"""
    if _returns_nothing(site) and site.node.name != "__init__":
        parameters = {argument.arg for argument in site.node.args.args}
        assigned = [name for name in site.around.names if name not in parameters]
        for name in reversed(assigned):
            yield site.at_the_end(site.node.body, f"return {name}")


def _returns_nothing(site: FunctionSite) -> bool:
    """Whether it has no `return`, or ends with the `pass` that stood in its place."""
    body = site.node.body
    returns = [node for node in ast.walk(site.node) if isinstance(node, ast.Return | ast.Yield | ast.Lambda)]
    return not returns or (isinstance(body[-1], ast.Pass) and len(body) > 1)


@rule(ast.FunctionDef, change=Change.MISSING, cost=2)
def make_missing_attribute(site: FunctionSite) -> Iterator[Rewrite]:
    """self.W_key = nn.Linear(d_in, d_out) in __init__, the way self.W_query is made; self.scale = d ** 0.5"""
    if site.node.name != "__init__":
        return
    parameters = site.around.parameters
    for name in missing_attributes(site.around):
        values = sorted(parameters, key=lambda parameter: parameter != name)  # it was not kept
        values += _calls_like_others(site)
        values += [f"{size} // {divisor}" for size, divisor in itertools.permutations(parameters, 2)]
        values += [f"{size} ** 0.5" for size in parameters]
        for value in dict.fromkeys(values):
            yield site.at_the_end(site.node.body, f"self.{name} = {value}")


def _calls_like_others(site: FunctionSite) -> Iterator[str]:
    """The calls that make other attributes: unchanged, with two arguments swapped, or with another parameter in one."""
    calls = _calls_that_make_attributes(site)
    yield from map(site.of, calls)
    for call in calls:
        function, keywords = site.of(call.func), [site.of(keyword) for keyword in call.keywords]
        arguments = [site.of(argument) for argument in call.args]
        orders = list(exchanged(arguments))
        for index in range(len(arguments)):
            orders += [[*arguments[:index], name, *arguments[index + 1 :]] for name in site.around.parameters]
        for order in orders:
            yield f"{function}({', '.join([*order, *keywords])})"


def _calls_that_make_attributes(site: FunctionSite) -> list[ast.Call]:
    calls: list[ast.Call] = []
    for node in ast.walk(site.node):
        match node:
            case ast.Assign(targets=[ast.Attribute(), *_], value=ast.Call() as call):
                calls.append(call)
    return calls[:MOST_MODELS]
