"""What the student may have meant in place of a number or another constant."""

from __future__ import annotations

import ast
import math
from collections.abc import Iterator

from grader.model.change import Change
from grader.repair.edit_rules import rule
from grader.repair.edit_words import FITTED, NUMBERS_NEARBY, exchanged
from grader.repair.sites import ExpressionSite

NO_CONSTANT = object()


def constant(site: ExpressionSite) -> object:
    """The value of a constant. A sign belongs to its number."""
    match site.node:
        case ast.Constant(value=value) if not isinstance(site.parent, ast.UnaryOp):
            return value
        case ast.UnaryOp(op=ast.USub(), operand=ast.Constant(value=int() | float() as value)):
            return -value
    return NO_CONSTANT


def _is_whole(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _axis_or_number(site: ExpressionSite) -> Change:
    return Change.AXIS if site.is_axis else Change.NUMBER


@rule(ast.Constant, change=_axis_or_number, cost=1)
def opposite_truth(site: ExpressionSite) -> Iterator[str]:
    """False for True"""
    value = constant(site)
    if isinstance(value, bool):
        yield str(not value)


@rule(ast.Constant, ast.UnaryOp, change=Change.NAME, cost=1)
def parameter_for_constant(site: ExpressionSite) -> Iterator[str]:
    """n for 3"""
    value = constant(site)
    if _is_whole(value) or (isinstance(value, bool) and not site.is_axis):
        yield from site.around.parameters


# No record needs it yet, but the first item in each step of a loop is a slip that is easily made.
@rule(ast.Constant, change=Change.NAME, cost=1)
def loop_variable_for_index(site: ExpressionSite) -> Iterator[str]:
    """x[i] for x[0]"""
    if _is_whole(constant(site)) and isinstance(site.parent, ast.Subscript):
        yield from site.around.loop_variables


@rule(ast.Constant, ast.UnaryOp, change=_axis_or_number, cost=1)
def nearby_number(site: ExpressionSite) -> Iterator[str]:
    """1 for 0, -1 for 1"""
    value = constant(site)
    if isinstance(value, int) and _is_whole(value):
        yield from (f"({number})" for number in NUMBERS_NEARBY if number != value)
        if not site.is_axis:
            for number in (0.5, -0.5, value + 1, value - 1):
                yield f"({number})"


@rule(ast.Constant, ast.UnaryOp, change=_axis_or_number, cost=1)
def nearby_float(site: ExpressionSite) -> Iterator[str]:
    """0.5 for 0.05, -1e9 for 1e9"""
    value = constant(site)
    if isinstance(value, float):
        for number in (-value, 0.0, 1.0, 0.5, -0.5, 2.0):
            yield f"({number})"
        if value:
            for number in (value / 10, value * 10, value / 2, value * 2):
                yield f"({number})"
        yield "float('-inf')"
        yield from (f"({number})" for number in (value + 1, value - 1))  # mutants need these, in `make proof`


@rule(ast.Constant, ast.UnaryOp, change=_axis_or_number, cost=1)
def exact_e(site: ExpressionSite) -> Iterator[str]:
    """e for 2.72"""
    value = constant(site)
    if isinstance(value, float) and abs(value - math.e) < 0.1:
        yield repr(math.e)


@rule(ast.Constant, ast.UnaryOp, change=Change.NUMBER, cost=2)
def size_for_constant(site: ExpressionSite) -> Iterator[str]:
    """a size of the arguments for 3"""
    value = constant(site)
    if isinstance(value, float) or (_is_whole(value) and not site.is_axis):
        yield FITTED


@rule(ast.Constant, change=Change.ARRANGEMENT, cost=1)
def other_subscripts(site: ExpressionSite) -> Iterator[str]:
    """'ij,kj->ik' for 'ij,jk->ik'"""
    value = constant(site)
    if isinstance(value, str) and "->" in value:
        yield from map(repr, _subscripts_of_einsum(value))


def _subscripts_of_einsum(value: str) -> Iterator[str]:
    """The subscripts with two letters of a term swapped, or one letter replaced."""
    terms = value.replace("->", ",").split(",")
    letters = sorted({letter for letter in value if letter.isalpha()})
    for index, term in enumerate(terms):
        new_terms = ["".join(order) for order in exchanged(list(term))]
        for position in range(len(term)):
            new_terms += [term[:position] + letter + term[position + 1 :] for letter in letters]
        for new_term in new_terms:
            all_terms = [*terms[:index], new_term, *terms[index + 1 :]]
            yield f"{','.join(all_terms[:-1])}->{all_terms[-1]}"
