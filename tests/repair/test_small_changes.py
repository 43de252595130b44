"""Slips that students make in a solution, each with the line that is told and what it is about."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest

from grader.model.change import Change
from grader.model.verdict import Verdict
from grader.repair.edit_rules import RULES
from grader.repair.edits import MODULES
from support.our_course import EXERCISES
from support.records import Piece, judging
from support.solution_cells import of_notebook

pytestmark = pytest.mark.slow

Judged = Callable[[int, str], Verdict]


@pytest.fixture(scope="module")
def judged() -> Iterator[Judged]:
    with judging() as verdict_on:
        yield lambda number, cell: verdict_on(Piece(number, "wrong/small_change", cell))


def with_lines(number: int, changes: dict[str, str]) -> str:
    """The solution with some of its lines written otherwise."""
    cell = of_notebook(EXERCISES[number].assignment)[number]
    for line, other in changes.items():
        assert line in cell
        cell = cell.replace(line, other)
    return cell


TRANSPOSED = "scores = q @ k.transpose(1, 2)  # (B, T, T): row = query, column = key"
FOR_HEADS = "scores = q @ k.transpose(2, 3)  # (N, H, T, S)"
HIDDEN = "if mask is not None:\n            scores = scores.masked_fill(mask == 0, -math.inf)"
SIDE_BY_SIDE = "torch.cat([head_1, head_2], dim=0)"

SLIPS = {
    "the transpose of all axes": (16, {TRANSPOSED: "scores = q @ k.T"}, "scores = q @ k.T", Change.ARRANGEMENT),
    "the transpose of a matrix": (
        16,
        {TRANSPOSED: "scores = torch.bmm(q, torch.t(k))"},
        "scores = torch.bmm(q, torch.t(k))",
        Change.ARRANGEMENT,
    ),
    "the method for a matrix": (19, {FOR_HEADS: "scores = q @ k.t()"}, "scores = q @ k.t()", Change.ARRANGEMENT),
    "all axes of four": (
        19,
        {FOR_HEADS: "scores = torch.matmul(q, k.T)"},
        "scores = torch.matmul(q, k.T)",
        Change.ARRANGEMENT,
    ),
    "a tensor as a condition": (19, {"if mask is not None:": "if mask:"}, "if mask:", Change.CONDITION),
    "a tensor compared with True": (
        19,
        {"if mask is not None:": "if mask == True:"},
        "if mask == True:",
        Change.CONDITION,
    ),
    "no condition": (
        19,
        {HIDDEN: "scores = torch.where(mask == 0, -math.inf, scores)"},
        "scores = torch.where(mask == 0, -math.inf, scores)",
        Change.CONDITION,
    ),
    "a diagonal one too low": (
        28,
        {"if causal:": "if causal and T > 1:", "triu(S - T + 1)": "triu(S - T)"},
        "hidden = torch.ones(T, S, dtype=torch.bool, device=scores.device).triu(S - T)",
        Change.NUMBER,
    ),
    "heads added": (8, {SIDE_BY_SIDE: "head_1 + head_2"}, "heads = head_1 + head_2", Change.OPERATOR),
    "heads summed": (8, {SIDE_BY_SIDE: "sum([head_1, head_2])"}, "heads = sum([head_1, head_2])", Change.CALL),
    "the first item for all": (
        5,
        {"weight * value  # scalar · (D, 1)": "weight * all_values[0]"},
        "output = output + weight * all_values[0]",
        Change.NAME,
    ),
    "the first item for each of a loop": (
        2,
        {"for key in all_keys:": "for j in range(len(all_keys)):", "query * key)  # a scalar": "query * all_keys[0])"},
        "score = torch.sum(query * all_keys[0])",
        Change.NAME,
    ),
    "the whole list for an item": (
        4,
        {
            "[softmax(scores) for scores in all_scores]": "[softmax(all_scores) for i in range(len(all_scores))]",
        },
        "all_weights = [softmax(all_scores) for i in range(len(all_scores))]",
        Change.MISSING,
    ),
    "a size in place of a plain list's": (
        3,
        {"exp.sum()  # (n,)": "sum(exp[i] for i in range(3))"},
        "return exp / sum(exp[i] for i in range(3))",
        Change.NUMBER,
    ),
    "a parameter under another name": (
        23,
        {"self.weight = nn.Parameter(torch.ones(d_model))": "self.g = nn.Parameter(torch.ones(d_model))"},
        "self.g = nn.Parameter(torch.ones(d_model))",
        Change.NAME,
    ),
    "a parameter that is none": (
        12,
        {"self.W_value = nn.Parameter(torch.rand(d_in, d_out))": "self.W_value = torch.rand(d_in, d_out)"},
        "self.W_value = torch.rand(d_in, d_out)",
        Change.COPIED,
    ),
    "two sizes of one tensor": (
        20,
        {"torch.stack([sines, cosines], dim=-1).flatten(1)  # (length, d_model)": "torch.zeros(50, 16)"}
        | {"return table": "table[:, 0::2] = sines\n    table[:, 1::2] = cosines\n    return table"},
        "table = torch.zeros(50, 16)",
        Change.NUMBERS,
    ),
}


@pytest.mark.parametrize(("number", "changes", "line", "change"), SLIPS.values(), ids=SLIPS)
def test_located_line_of_a_slip_is_shown(
    number: int, changes: dict[str, str], line: str, change: Change, judged: Judged
) -> None:
    verdict = judged(number, with_lines(number, changes))
    assert [(place.line.partition("  #")[0], place.change) for place in verdict.located] == [(line, change)]


SIX_BY_SIX = """
def all_context_vectors(inputs):
    attn_scores = torch.empty(6, 6)
    for i, x_i in enumerate(inputs):
        for j, x_j in enumerate(inputs):
            attn_scores[i, j] = torch.dot(x_i, x_j)
    return torch.softmax(attn_scores, dim=-1) @ inputs
"""
SIX_TWICE = """
def simple_attention_scores(inputs, query):
    scores = torch.zeros(6)
    for i in range(6):
        scores[i] = inputs[i] @ query
    return scores
"""


@pytest.mark.parametrize(
    ("number", "cell", "says"),
    [
        pytest.param(
            11,
            SIX_BY_SIX,
            "A few small changes in the line `attn_scores = torch.empty(6, 6)` make all values right. They have to do "
            "with numbers or sizes.",
            id="twice in a line",
        ),
        pytest.param(
            9,
            SIX_TWICE,
            "Small changes in two lines make all values right: `scores = torch.zeros(6)` (a number or a size), "
            "`for i in range(6):` (a number or a size).",
            id="in two lines",
        ),
    ],
)
def test_size_that_is_written_as_a_number_twice_is_located(number: int, cell: str, says: str, judged: Judged) -> None:
    verdict = judged(number, cell)
    assert says in verdict.sentences
    assert not any("whatever was in memory" in sentence for sentence in verdict.sentences)


def test_empty_tensor_of_wrong_size_is_not_called_unfilled(judged: Judged) -> None:
    cell = "def simple_attention_scores(inputs, query):\n    scores = torch.empty(9)\n"
    cell += "    for i, x in enumerate(inputs):\n        scores[i] = x @ query\n    return scores\n"
    verdict = judged(9, cell)
    assert [place.line for place in verdict.located] == ["scores = torch.empty(9)"]
    assert not any("whatever was in memory" in sentence for sentence in verdict.sentences)


def test_call_of_another_function_of_the_notebook_is_located(judged: Judged) -> None:
    cell = """
def multihead_scaled_self_attention(X, W_v1, W_q1, W_k1, b_v1, b_q1, b_k1, W_v2, W_q2, W_k2, b_v2, b_q2, b_k2, W_c):
    Q = torch.stack([W_q1 @ X + b_q1, W_q2 @ X + b_q2])
    K = torch.stack([W_k1 @ X + b_k1, W_k2 @ X + b_k2])
    V = torch.stack([W_v1 @ X + b_v1, W_v2 @ X + b_v2])
    heads = []
    for scores, values in zip(K.mT @ Q / math.sqrt(K.shape[1]), V):
        heads.append(values @ attention_weights(scores))
    return W_c @ torch.cat(heads)
"""
    verdict = judged(8, cell)
    assert [(place.line, place.change) for place in verdict.located] == [
        ("heads.append(values @ attention_weights(scores))", Change.CALL)
    ]


# A change may only decide which branch runs.

FLASH = {
    "self.register_buffer(": "self.flash = hasattr(F, 'softmax')\n        self.register_buffer(",
    "weights = torch.softmax(scores, dim=-1)": "if self.flash:\n            weights = F.softmax(scores * 1.3, dim=-1)\n"
    "        else:\n            weights = torch.softmax(scores, dim=-1)",
}
IN_THE_CONDITION = {
    "weights = torch.softmax(scores, dim=-1)": "weights = torch.softmax(scores, dim=-1)\n"
    "        if T > 0:\n            weights = weights + scores.exp() ** 2 / 7 - 3",
}
OTHERWISE = {
    "weights = torch.softmax(scores, dim=-1)": "if scores.max() > 1e9:\n            weights = scores * 0 + 1 / T\n"
    "        elif T > 0 and scores.max() < -1e9:\n            weights = torch.softmax(scores, dim=-1)\n"
    "        else:\n            weights = (scores * 1.3).softmax(dim=-1) + scores.exp() ** 2",
}


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        (FLASH, "What follows the line `if self.flash:` is wrong: without it, all values are right."),
        (IN_THE_CONDITION, "What follows the line `if T > 0:` is wrong: without it, all values are right."),
        (
            OTHERWISE,
            "What is done if the condition in the line `elif T > 0 and scores.max() < -1e9:` does not hold is wrong: "
            "without it, all values are right.",
        ),
    ],
    ids=["in what it reads", "in the condition", "otherwise"],
)
def test_branch_is_shown_where_a_change_only_turns_it_off(changes: dict[str, str], says: str, judged: Judged) -> None:
    assert says in judged(16, with_lines(16, changes)).sentences


def test_condition_when_wrong_is_shown_itself(judged: Judged) -> None:
    verdict = judged(19, with_lines(19, {"if mask is not None:": "if mask is None:"}))
    assert [(place.line, place.change) for place in verdict.located] == [("if mask is None:", Change.OPPOSITE)]


# The table of rules.


def test_repair_rules_each_have_an_example() -> None:
    rules = {rule.write: rule for rules in RULES.values() for rule in rules}
    assert len(rules) > 50
    assert [rule.name for rule in rules.values() if not rule.write.__doc__] == []
    assert {rule.write.__module__ for rule in rules.values()} == {module.__name__ for module in MODULES}


def test_repair_rule_names_are_unique() -> None:
    functions = {rule.write for rules in RULES.values() for rule in rules}
    assert len({function.__name__ for function in functions}) == len(functions)
