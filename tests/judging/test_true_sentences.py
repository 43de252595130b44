"""What is said of wrong code is true of it, whatever code it is that gives these numbers."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import pytest
import torch

from grader.course.folder import Course
from grader.host.grading import grade_notebook
from grader.judging import wording
from grader.judging.judge import judge
from grader.judging.with_facts import add_facts
from grader.model.answer import Raised, Returned
from grader.model.fact import Fact, FactKind
from grader.model.findings import Failed
from grader.model.misconception import Misconception, can_combine
from grader.model.verdict import Reason, Verdict
from support.corpus import corpus
from support.our_course import EXERCISES, OURS

Judged = Callable[[int, str], Verdict]


@pytest.fixture
def verdict_on(course: Course, make_notebook: Any, solved: dict[int, str]) -> Judged:
    """The verdict on an exercise that is solved so, the others of the first assignment being right."""

    def verdict(number: int, source: str) -> Verdict:
        assignment = EXERCISES[number].assignment
        others = solved if assignment == "self_attention" else {}
        notebook = make_notebook(course, {**others, number: source}, assignment)
        return next(verdict for verdict in grade_notebook(notebook, settings=OURS) if verdict.exercise == number)

    return verdict


INFINITE = Fact(FactKind.INFINITE, "x = x * torch.inf")
TWO = next(one for one in EXERCISES[2].mistakes if one.or_borrowed)
NAMED = Verdict(2, "Scores", 0.5, Reason.MISCONCEPTION, (TWO.says,), (TWO.name,))


def test_infinite_line_is_mentioned_only_where_nan_came_back() -> None:
    wrong = Verdict(2, "Scores", 0.0, Reason.WRONG, ("It is wrong, and not by NaN.",))
    assert add_facts(EXERCISES[2], wrong, [INFINITE]).sentences == wrong.sentences
    assert "computes with ∞" in add_facts(EXERCISES[2], replace(wrong, holds_nan=True), [INFINITE]).sentences[-1]
    cases = EXERCISES[3].sample()
    answers = [Returned(torch.full((len(case.inputs[0]),), torch.nan), list(case.inputs)) for case in cases]
    verdict = judge(EXERCISES[3], cases, answers)
    assert verdict.holds_nan
    assert "holds_nan" not in verdict.to_json()


def test_add_facts_when_number_is_borrowed_names_the_variable() -> None:
    said = add_facts(EXERCISES[2], NAMED, [Fact(FactKind.BORROWED, "D")])
    assert said.misconceptions == ("the notebook's variables",)
    assert TWO.says not in said.sentences
    assert add_facts(EXERCISES[2], NAMED, []) == NAMED


UNREAD = Fact(FactKind.UNREAD, "attention_scores", ("all_keys",))
RANDOM = Fact(FactKind.RANDOM, "k = torch.randn(4, 1)")
DRAWN = "The line `k = torch.randn(4, 1)` draws random numbers, which do not depend on the arguments."


@pytest.mark.parametrize(
    ("reason", "told"),
    [
        (Reason.WRONG, ["`attention_scores` never uses its argument `all_keys`."]),
        (Reason.ERROR, ["`attention_scores` never uses its argument `all_keys`."]),
        (Reason.CONSTANT, ["`attention_scores` never uses its argument `all_keys`.", DRAWN]),
        (Reason.BESIDE, []),
    ],
)
def test_unread_arguments_are_mentioned_where_nothing_else_explains(reason: Reason, told: list[str]) -> None:
    verdict = Verdict(2, "Scores", 0.0, reason, ("It is wrong.",))
    assert add_facts(EXERCISES[2], verdict, [UNREAD, RANDOM]).sentences == ("It is wrong.", *told)
    assert add_facts(EXERCISES[2], NAMED, [UNREAD, RANDOM]) == NAMED


def test_unread_arguments_when_many_are_shortened() -> None:
    names = tuple("abcdef")
    assert wording.about_facts([Fact(FactKind.UNREAD, "f", names)]) == [
        "`f` never uses its arguments `a`, `b`, `c` and 3 more."
    ]


def test_add_facts_heading_of_two_mistakes_needs_two_sentences() -> None:
    """A number of the notebook's was taken out of the list, and said below it, if at all."""
    other = next(one for one in EXERCISES[2].mistakes if not one.or_borrowed)
    two = wording.several_mistakes(2, 2)
    both = replace(NAMED, sentences=(two, TWO.says, other.says), misconceptions=(TWO.name, other.name), heading=two)
    said = add_facts(EXERCISES[2], both, [Fact(FactKind.BORROWED, "D")])
    assert said.sentences[0] == two
    assert "`D`" in said.sentences[1]
    assert said.sentences[2:] == (other.says,)
    twice = replace(both, sentences=(two, TWO.says), misconceptions=(TWO.name, TWO.name))
    assert two not in add_facts(EXERCISES[2], twice, [Fact(FactKind.BORROWED, "D")]).sentences


def test_can_combine_refuses_two_ways_of_one_misconception() -> None:
    one, same = (one for one in EXERCISES[28].mistakes if one.name == "mask inverted")
    other = next(one for one in EXERCISES[28].mistakes if one.name == "not scaled")
    assert can_combine(one, other)
    assert not can_combine(one, same)


def test_constant_result_is_not_described_by_sizes() -> None:
    exercise = EXERCISES[2]
    name = exercise.cases[0].name
    cases = [case for case in exercise.sample() if case.case.name == name]
    answers = [
        Returned([[torch.tensor(1.5)] * len(case.inputs[1])] * len(case.inputs[0]), list(case.inputs)) for case in cases
    ]
    assert judge(exercise, cases, answers).sentences[0] == wording.constant_for_all("function")
    cases = exercise.sample()
    answers = [
        Returned([[torch.tensor(1.5)] * len(case.inputs[1])] * len(case.inputs[0]), list(case.inputs)) for case in cases
    ]
    assert judge(exercise, cases, answers).sentences[0] == wording.constant("function")


def misconceptions() -> Iterator[Misconception]:
    for exercise in EXERCISES.values():
        for function in exercise.functions:
            yield from function.mistakes


def test_sentences_on_numbers_describe_results_and_not_code() -> None:
    """Another code may give the same numbers."""
    assert [one.says for one in misconceptions() if re.match(r"You (?!return )", one.says)] == []
    assert [one.name for one in misconceptions() if bool(one.in_code) != bool(one.says_of_code)] == []


def test_sentence_of_a_mistake_is_true_beside_any_other_mistake() -> None:
    """“The numbers are right, but …” was said of a wrong shape, although another mistake had made them wrong."""
    all_right = re.compile(r"\b(is|are|be) right\b(?! only| for)|\bright\b[^.]*, but\b|\bright$")
    said = [text for one in misconceptions() for text in (one.name, one.says, one.says_of_code)]
    assert [text for text in said if all_right.search(text)] == []


def test_mistake_names_tell_no_more_than_their_sentences() -> None:
    told = re.compile(r"forgotten|ignored|hard-coded|not used")
    assert [one.name for one in misconceptions() if told.search(one.name)] == []


WHOLE = """
def attention_scores(all_queries, all_keys):
    return [[(q * k).sum() // math.sqrt(q.shape[0]) for k in all_keys] for q in all_queries]
"""


@pytest.mark.slow
def test_whole_numbers_are_described_as_such_and_not_as_repeated_rows(verdict_on: Judged) -> None:
    verdict = verdict_on(2, WHOLE)
    assert (verdict.credit, verdict.sentences) == (0.5, (wording.CUT,))
    assert [text for picture in verdict.pictures for text in picture.wrong] == [
        "All of them are whole numbers, as if from //. A division with / keeps the decimals."
    ]


@pytest.mark.parametrize(
    ("message", "shown"),
    [
        ("SelfAttention_v1.__init__() takes 2 arguments", "SelfAttention_v1.__init__() takes 2 arguments"),
        ("no parameter heads.0.W_query.weight", "no parameter heads.0.W_query.weight"),
        ("module v1.forward is missing", "module v1.forward is missing"),
        ("size 12 must match 7", "size 12 must match 7"),
        ("except in dimension 0. Expected size 2", "except in dimension 0. Expected size 2"),
        ("at dimension 1.  Target sizes: [3, 2]", "at dimension 1. Target sizes: [3, 2]"),
        ("[1. 2.] and 0.5. Not", "[… …] and …. Not"),
        ("the value 0.1234 is wrong", "the value … is wrong"),
        ("x=-3.5e-07,y=.25", "x=…,y=…"),
        ("x1.5 and a_2.75", "x… and a_…"),
        ("1.e5 or 2e7 or 12345", "… or … or …"),
        ("tensor([1., 2.])", "tensor([…, …])"),
        ("seen0.1234seen", "seen…seen"),
    ],
)
def test_about_when_failed_keeps_names_and_hides_numbers(message: str, shown: str) -> None:
    said = wording.about(Failed(Raised("ValueError", message)), "function")
    assert said == f"Your function stopped with ValueError: {shown}."


OTHER_MASKS = """
def grouped_query_attention(queries, keys, values, causal=False):
    raise KeyError("mask")
"""
WITH_GROUPED_QUERIES = """        y = grouped_query_attention(q, k, v, causal=True).transpose(1, 2).reshape(B, T, D)
        return self.out(y), (k, v)
"""


@pytest.mark.slow
def test_earlier_function_when_wrong_may_be_used_by_a_class(course: Course, make_notebook: Any) -> None:
    begin = corpus(29)["cat"].partition("        S = k.shape[2]")[0]
    codes = {28: OTHER_MASKS, 29: begin + WITH_GROUPED_QUERIES}
    notebook = make_notebook(course, codes, EXERCISES[29].assignment)
    verdicts = {verdict.exercise: verdict for verdict in grade_notebook(notebook, settings=OURS)}
    assert (verdicts[28].right, verdicts[29].right) == (False, True), verdicts[29].sentences


@pytest.mark.slow
def test_long_case_that_exceeds_a_standin_costs_as_much_as_a_table(course: Course, make_notebook: Any) -> None:
    codes = {31: "def merge(m1, l1, o1, m2, l2, o2):\n    raise KeyError", 32: corpus(32)["by_merge"]}
    notebook = make_notebook(course, codes, EXERCISES[32].assignment)
    verdict = next(one for one in grade_notebook(notebook, settings=OURS) if one.exercise == 32)
    assert (verdict.credit, verdict.sentences) == (0.5, (wording.RIGHT_IN_SHORT, wording.LONG_UNTRIED))


@pytest.mark.slow
@pytest.mark.parametrize("style", ["pair_exchanged", "zeros_for_cached_values"])
def test_mistake_between_chunks_is_not_called_a_look_into_the_future(style: str, verdict_on: Judged) -> None:
    verdict = verdict_on(29, corpus(29, "wrong")[style])
    assert not verdict.right
    assert "future" not in " ".join(verdict.sentences)
    assert "later word" not in " ".join(text for picture in verdict.pictures for text in picture.wrong)


JOINED_ALONG_WORDS = """
class MultiHeadAttentionWrapper(nn.Module):
    def __init__(self, d_in, d_out, context_length, dropout, num_heads, qkv_bias=False):
        super().__init__()
        self.heads = nn.ModuleList(
            CausalAttention(d_in, d_out, context_length, dropout, qkv_bias) for _ in range(num_heads)
        )
        self.proj = nn.Linear(num_heads * d_out, num_heads * d_out)

    def forward(self, x):
        return self.proj(torch.cat([head(x) for head in self.heads], dim=1))
"""


def test_error_names_no_misconception_that_raises_nothing(verdict_on: Judged) -> None:
    verdict = verdict_on(17, JOINED_ALONG_WORDS)
    assert not verdict.right
    assert verdict.misconceptions == ()
    assert "mat1 and mat2 shapes cannot be multiplied" in verdict.sentences[0]


ONE_DRAW = """
def inverted_dropout(attn_weights, p, training):
    if not training:
        return attn_weights
    keep = 1 - p
    if torch.rand(1).item() < keep:
        return attn_weights / keep
    return torch.zeros_like(attn_weights)
"""
KEPT_ABOVE = """
def inverted_dropout(attn_weights, p, training):
    if not training:
        return attn_weights
    keep = 1 - p
    mask = torch.rand(attn_weights.shape) > keep
    return attn_weights * mask / SCALE
"""


def test_dropout_with_one_draw_for_all_entries_is_described(verdict_on: Judged) -> None:
    said = " ".join(verdict_on(15, ONE_DRAW).sentences)
    assert "all of its entries or none" in said
    assert "is dropped, but" not in said


def test_dropout_wrong_at_rate_0_alone_is_described_with_that_rate(verdict_on: Judged) -> None:
    said = " ".join(verdict_on(15, KEPT_ABOVE.replace("SCALE", "keep ** 3")).sentences)
    assert "At a rate of 0, everything is dropped." in said
