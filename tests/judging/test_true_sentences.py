"""What is said of wrong code is true of it, whatever code it is that gives these numbers."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from grader.course import Course
from grader.exercises.ex29_cached_attention import NO_PAIR
from grader.exercises.mistakes.generation import ONLY_NEW
from grader.judging import sentences
from grader.kit.dropout_rules import ROWS_SUM_AGAIN
from grader.model.answer import Raised
from grader.model.exercise import Misconception
from grader.model.fact import Fact, Kind
from grader.model.findings import Failed
from grader.model.located import Change
from grader.model.verdict import Verdict
from grader.running.grading import grade_notebook
from support.our_course import EXERCISES, OURS
from support.solution_cells import corpus, from_notebook

pytestmark = pytest.mark.apart

Judged = Callable[[int, str], Verdict]


@pytest.fixture
def judged(course: Course, make_notebook: Any, solved: dict[int, str]) -> Judged:
    """The verdict on an exercise that is solved so, the others of the first assignment being right."""

    def verdict(number: int, source: str) -> Verdict:
        assignment = EXERCISES[number].assignment
        others = solved if assignment == "self_attention" else {}
        notebook = make_notebook(course, {**others, number: source}, assignment)
        return next(verdict for verdict in grade_notebook(notebook, settings=OURS) if verdict.exercise == number)

    return verdict


def misconceptions() -> Iterator[Misconception]:
    for exercise in EXERCISES.values():
        for function in exercise.functions:
            yield from function.misconceptions


def test_what_numbers_prove_is_what_comes_out_and_not_what_somebody_did() -> None:
    """Another code may give the same numbers."""
    assert [one.says for one in misconceptions() if re.match(r"You (?!return )", one.says)] == []
    assert [one.name for one in misconceptions() if bool(one.in_code) != bool(one.says_of_code)] == []


def test_a_name_is_a_title_and_tells_no_more_than_the_sentence() -> None:
    told = re.compile(r"forgotten|ignored|hard-coded|not used")
    assert [one.name for one in misconceptions() if told.search(one.name)] == []


ROOT = """
class SelfAttention_v1(nn.Module):
    def __init__(self, d_in, d_out):
        super().__init__()
        self.W_query = nn.Parameter(torch.rand(d_in, d_out))
        self.W_key = nn.Parameter(torch.rand(d_in, d_out))
        self.W_value = nn.Parameter(torch.rand(d_in, d_out))

    def forward(self, x):
        queries, keys, values = x @ self.W_query, x @ self.W_key, x @ self.W_value
        scores = queries @ keys.transpose(-1, -2)
        return torch.softmax(SCALED, dim=-1) @ values
"""


@pytest.mark.parametrize(
    ("scaled", "said"),
    [
        ("scores / (keys.shape[-1] ** 1 / 2)", "** 1 / 2 is (… ** 1) / 2, so you divide by half the length of a key."),
        ("2 * scores / keys.shape[-1]", "The scores that you use are divided by half the length of a key."),
        ("scores / keys.shape[-1] ** 1 / 2", "/ … ** 1 / 2 divides by (… ** 1), and then by 2."),
        ("scores * 0.5 / keys.shape[-1]", "The scores that you use are divided by the length of a key, and by 2."),
    ],
)
def test_what_stands_in_the_code_is_told_where_it_stands_there(scaled: str, said: str, judged: Judged) -> None:
    (sentence,) = judged(12, ROOT.replace("SCALED", scaled)).sentences
    assert sentence.startswith(said)


NAN_EVERYWHERE = """
def softmax(items_in):
    x = torch.as_tensor(items_in, dtype=torch.float32)
    return torch.log(-torch.exp(x)) * 0
"""


def test_nan_everywhere_is_told_as_nan_and_not_as_a_result_without_input(judged: Judged) -> None:
    verdict = judged(3, NAN_EVERYWHERE)
    assert verdict.credit == 0
    assert verdict.sentences == (sentences.all_nan("function"),)
    assert "All that your function returned is NaN. NaN comes from 0/0" in verdict.sentences[0]


NEVER_BUILT = """
class MultiHeadAttention(nn.Module):
    def __init__(self, d_in, d_out, context_length, dropout, num_heads, qkv_bias=False):
        super().__init__()
        self.out_proj = nn.Lin(d_out, d_out)
"""


def test_what_must_fail_is_no_merit_of_a_class_that_cannot_be_built(judged: Judged) -> None:
    verdict = judged(18, NEVER_BUILT)
    assert verdict.cases_right == 0
    assert not any("hidden cases are right" in text for text in verdict.sentences)
    assert "AttributeError" in verdict.sentences[0]


SOMETIMES_NONE = ROOT.replace("SCALED", "scores / keys.shape[-1] ** 0.5").replace(
    "        return torch", "        if x.sum() == 0:\n            return x\n        result = torch"
)


def test_none_is_told_as_none(judged: Judged) -> None:
    verdict = judged(12, SOMETIMES_NONE)
    assert verdict.sentences[0] == "Your forward returned None: does every path through it end with a return statement?"


WHOLE = """
def attention_scores(all_queries, all_keys):
    return [[(q * k).sum() // math.sqrt(q.shape[0]) for k in all_keys] for q in all_queries]
"""


def test_whole_numbers_are_told_as_such_and_not_as_rows_that_repeat(judged: Judged) -> None:
    verdict = judged(2, WHOLE)
    assert (verdict.credit, verdict.sentences) == (0.5, (sentences.CUT,))
    assert [text for picture in verdict.pictures for text in picture.wrong] == [
        "All are whole numbers, as from //. A division with / keeps the decimals."
    ]


LARGEST_ONE = """
def softmax(items_in):
    t = torch.as_tensor(items_in, dtype=torch.float32)
    return torch.exp(t - t.max())
"""


def test_a_shift_without_a_sum_is_not_called_a_division(judged: Judged) -> None:
    verdict = judged(3, LARGEST_ONE)
    assert verdict.misconceptions == ("largest weight 1",)
    assert verdict.sentences == (
        "Your largest weight is 1, and the weights do not sum to one. Divide the exponentials by their sum.",
    )


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
def test_an_error_keeps_its_names_and_loses_its_numbers(message: str, shown: str) -> None:
    said = sentences.about(Failed(Raised("ValueError", message)), "function")
    assert said == f"Your function stopped with ValueError: {shown}."


LONG = """
def softmax(items_in):
    e = torch.exp(torch.as_tensor(items_in, dtype=torch.float32))
    return e // e.sum()
"""


CALLED_LIST = """
class MultiHeadAttentionWrapper(nn.Module):
    def __init__(self, d_in, d_out, context_length, dropout, num_heads, qkv_bias=False):
        super().__init__()
        heads = [CausalAttention(d_in, d_out, context_length, dropout, qkv_bias) for _ in range(num_heads)]
        self.heads = nn.ModuleList(heads)

    def forward(self, x):
        return self.heads(x)
"""
NOT_FOR_FLOATS = """
def sliding_window_attention(queries, keys, values, window):
    scores = queries @ keys.mT / queries.shape[-1] ** 0.5
    hidden = torch.ones_like(scores).triu(1) | torch.ones_like(scores).tril(-window)
    return scores.masked_fill(hidden, -torch.inf).softmax(-1) @ values
"""


@pytest.mark.parametrize(("number", "source"), [(17, CALLED_LIST), (30, NOT_FOR_FLOATS)])
def test_what_pytorch_has_not_implemented_is_not_called_to_do(number: int, source: str, judged: Judged) -> None:
    verdict = judged(number, source)
    assert verdict.reason == "error"
    assert "stopped with NotImplementedError: " in verdict.sentences[0]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("taken", "handed_on"), [("cache['k'], cache['v']", "{'k': k, 'v': v}"), ("cache[0]", "[(k, v)]")]
)
def test_what_is_no_pair_is_not_called_a_cache_of_no_numbers(taken: str, handed_on: str, judged: Judged) -> None:
    source = corpus(29)["cat"].replace("= cache\n", f"= {taken}\n").replace("(k, v)", handed_on)
    assert handed_on in source
    assert taken in source
    assert judged(29, source).sentences[0] == NO_PAIR


@pytest.mark.parametrize(
    ("number", "name", "misspelt"), [(25, "position_embedding", "zz_positions"), (24, "ff_out", "zz_out")]
)
def test_a_name_that_nobody_asked_for_is_told_among_many(number: int, name: str, misspelt: str, judged: Judged) -> None:
    said = " ".join(judged(number, from_notebook()[number].replace(name, misspelt)).sentences)
    assert f"Your module has no parameter {name}.weight. It has {misspelt}." in said


@pytest.mark.parametrize(
    ("called", "said"),
    [
        (
            "softmax(torch.stack(list(scores)), dim=0)",
            "softmax(): got an unexpected keyword argument 'dim', at the line",
        ),
        ("softmax(torch.stack(list(scores)), 0)", "softmax(): too many positional arguments, at the line"),
        ("softmax({'a': scores})", "the arguments do not fit softmax(), at the line"),
    ],
)
def test_an_earlier_function_that_is_called_otherwise_is_named(called: str, said: str, judged: Judged) -> None:
    source = f"def attention_weights(all_attention_scores):\n    return [{called} for scores in all_attention_scores]"
    assert said in judged(4, source).sentences[0]


def test_a_message_that_ends_with_a_full_stop_has_one_less_within_a_sentence(judged: Judged) -> None:
    source = "def softmax(items_in):\n    raise RuntimeError('Sizes do not match.')"
    said = judged(3, source).sentences[0]
    assert said.startswith("Your function stopped with RuntimeError: Sizes do not match, at the line `raise Run")


@pytest.mark.parametrize(
    ("source", "said"),
    [
        ("def softmax(items_in)\n    return items_in", "SyntaxError: expected ':', in line 1: def softmax(items_in)"),
        ("def softmax(items_in):\nreturn 1", "IndentationError: expected an indented block after function definition"),
    ],
)
def test_what_python_cannot_read_is_shown_and_no_file_that_nobody_knows(source: str, said: str, judged: Judged) -> None:
    sentence = judged(3, source).sentences[1]
    assert said in sentence
    assert ".py" not in sentence


@pytest.mark.parametrize("number", [16, 18])
def test_beside_wrong_weights_there_is_no_telling_that_outputs_are_dropped(number: int, judged: Judged) -> None:
    verdict = judged(number, corpus(number, "wrong")["two_dropout_on_values_and_not_scaled"])
    assert set(verdict.misconceptions) == {"dropout elsewhere", "not scaled"}


OTHER_MASKS = """
def grouped_query_attention(queries, keys, values, causal=False):
    raise KeyError("mask")
"""
WITH_GROUPED_QUERIES = """        y = grouped_query_attention(q, k, v, causal=True).transpose(1, 2).reshape(B, T, D)
        return self.out(y), (k, v)
"""


def test_attention_of_an_earlier_exercise_may_be_used_though_it_is_wrong(course: Course, make_notebook: Any) -> None:
    begin = corpus(29)["cat"].partition("        S = k.shape[2]")[0]
    codes = {28: OTHER_MASKS, 29: begin + WITH_GROUPED_QUERIES}
    notebook = make_notebook(course, codes, EXERCISES[29].assignment)
    verdicts = {verdict.exercise: verdict for verdict in grade_notebook(notebook, settings=OURS)}
    assert (verdicts[28].right, verdicts[29].right) == (False, True), verdicts[29].sentences


def test_a_long_text_that_a_lent_function_does_not_reach_costs_as_much_as_a_table(
    course: Course, make_notebook: Any
) -> None:
    codes = {31: "def merge(m1, l1, o1, m2, l2, o2):\n    raise KeyError", 32: corpus(32)["by_merge"]}
    notebook = make_notebook(course, codes, EXERCISES[32].assignment)
    verdict = next(one for one in grade_notebook(notebook, settings=OURS) if one.exercise == 32)
    assert (verdict.credit, verdict.sentences) == (0.5, (sentences.RIGHT_IN_SHORT, sentences.LONG_UNTRIED))


SAYS_SO = """
def tiled_attention(queries, keys, values, block_size, causal=False):
    if queries.shape[-2] > 1000:
        raise RuntimeError("the right merge() that stands in for yours is for short inputs only")
    scores = queries @ keys.mT / queries.shape[-1] ** 0.5
    if causal:
        scores = scores.masked_fill(torch.ones_like(scores).triu(1) > 0, -torch.inf)
    return scores.softmax(-1) @ values, scores.logsumexp(-1)
"""


@pytest.mark.slow
def test_that_a_lent_function_does_not_reach_is_not_said_by_the_code(judged: Judged) -> None:
    verdict = judged(32, SAYS_SO)
    assert sentences.LONG_UNTRIED not in verdict.sentences
    assert not verdict.right


DROPPED_IN_PLACE = """
def inverted_dropout(attn_weights, p, training):
    if not training:
        return attn_weights
    dropped = torch.rand(attn_weights.shape) < p
    attn_weights[dropped] = 0
    return attn_weights / (1 - p)
"""


def test_what_a_call_makes_of_its_input_is_not_put_down_to_the_rate_of_the_next(judged: Judged) -> None:
    verdict = judged(15, DROPPED_IN_PLACE)
    assert (verdict.reason, verdict.sentences) == ("input modified", (sentences.INPUT_MODIFIED,))


def test_what_is_the_same_for_inputs_of_a_size_is_not_said_of_all_inputs(judged: Judged) -> None:
    assert judged(3, LONG).sentences[1:] == (sentences.constant("function"),)


def test_numbers_below_one_are_not_right_without_their_decimals(judged: Judged) -> None:
    assert judged(3, LONG).credit == 0


CUT = """
def compute_qkv(all_x, W_q, W_k, W_v, b_q, b_k, b_v):
    return [[(W @ x + b).long() for x in all_x] for W, b in ((W_q, b_q), (W_k, b_k), (W_v, b_v))]
"""


def test_a_result_of_integers_is_told_as_such(judged: Judged) -> None:
    assert judged(1, CUT).sentences == (sentences.CUT,)


@pytest.mark.parametrize("style", ["pair_exchanged", "zeros_for_cached_values"])
def test_what_goes_wrong_between_chunks_is_not_called_a_look_into_the_future(style: str, judged: Judged) -> None:
    verdict = judged(29, corpus(29, "wrong")[style])
    assert not verdict.right
    assert "future" not in " ".join(verdict.sentences)
    assert "later word" not in " ".join(text for picture in verdict.pictures for text in picture.wrong)


def test_where_one_sentence_is_empty_it_may_be_others_that_are_wrong(judged: Judged) -> None:
    said = " ".join(judged(22, corpus(22, "wrong")["first_empty_ends_the_loop"]).sentences)
    assert "for batches with a sentence of length 0" in said
    assert "The numbers are right" not in said


def test_a_norm_that_knows_no_eps_is_not_told_where_its_eps_stands(judged: Judged) -> None:
    assert judged(23, corpus(23, "wrong")["normalize"]).misconceptions == ("eps without effect",)


def test_a_text_that_begins_as_it_was_given_is_not_called_the_new_tokens_alone(judged: Judged) -> None:
    assert ONLY_NEW not in judged(26, corpus(26, "wrong")["count_of_all"]).sentences


def test_rates_of_16_bits_are_too_few_where_positions_have_more(judged: Judged) -> None:
    verdict = judged(21, corpus(21, "wrong")["rates_in_16_bits"])
    assert (verdict.right, verdict.reason) == (False, "beside")


def test_gradients_that_are_left_off_are_told(judged: Judged) -> None:
    assert judged(26, corpus(26, "wrong")["gradients_left_off"]).misconceptions == ("gradients left off",)


DROPPED_BY_TWO = """
def inverted_dropout(attn_weights, p, training):
    if not training:
        return attn_weights
    keep = (torch.rand_like(attn_weights) > RATE).to(attn_weights.dtype)
    return DROPPED
"""


@pytest.mark.parametrize(
    ("rate", "dropped"),
    [
        ("p", "F.dropout(attn_weights * keep, p)"),
        ("p", "F.dropout(attn_weights * keep / (1 - p), p)"),
        ("p ** 0.5", "attn_weights * keep / (1 - p)"),
    ],
)
def test_a_rate_that_comes_near_a_half_is_not_told_as_a_half_for_every_rate(
    rate: str, dropped: str, judged: Judged
) -> None:
    said = " ".join(judged(15, DROPPED_BY_TWO.replace("RATE", rate).replace("DROPPED", dropped)).sentences)
    assert "About half of the entries are dropped here, which is not the given rate." in said
    assert "at a rate of 0.5" not in said


ONE_DROPOUT_MORE = {
    16: ("return self.dropout(attn_weights) @ values", "return F.dropout(self.dropout(attn_weights) @ values, RATE)"),
    17: ("[head(x) for", "[F.dropout(head(x), RATE) for"),
    18: ("return self.out_proj(context.contiguous().view(B, T, -1))", "return F.dropout(HERE, RATE)"),
}


@pytest.mark.parametrize("number", ONE_DROPOUT_MORE)
def test_a_dropout_with_a_rate_of_its_own_is_not_told_as_the_only_one(number: int, judged: Judged) -> None:
    right, wrong = ONE_DROPOUT_MORE[number]
    solution = from_notebook()[number]
    assert right in solution
    more = wrong.replace("HERE", right.removeprefix("return ")).replace("RATE", "0.1, self.training")
    verdict = judged(number, solution.replace(right, more))
    assert verdict.credit == 0.25
    assert "Even with a dropout of 0" in verdict.sentences[1]
    assert "0.5" not in " ".join(verdict.sentences)


DIVIDED_AGAIN = {
    16: ("return self.dropout(attn_weights) @ values", "w = self.dropout(attn_weights); return w / TOTAL @ values"),
    18: (
        "weights = self.dropout(torch.softmax(scores, dim=-1))",
        "w = self.dropout(scores.softmax(-1)); weights = w / TOTAL",
    ),
}


@pytest.mark.parametrize("number", DIVIDED_AGAIN)
def test_nan_of_rows_without_anything_left_is_told_as_a_division_by_what_is_left(number: int, judged: Judged) -> None:
    right, wrong = DIVIDED_AGAIN[number]
    solution = from_notebook()[number]
    assert right in solution
    verdict = judged(number, solution.replace(right, wrong.replace("TOTAL", "w.sum(-1, keepdim=True)")))
    assert (verdict.credit, verdict.sentences) == (0.5, (sentences.COMPUTED_RIGHT, ROWS_SUM_AGAIN))


@pytest.mark.parametrize("number", [16, 18])
def test_a_softmax_after_dropout_does_not_mean_that_nothing_is_dropped(number: int, judged: Judged) -> None:
    right, wrong = DIVIDED_AGAIN[number]
    again = wrong.replace("w / TOTAL", "torch.softmax(w, dim=-1)")
    verdict = judged(number, from_notebook()[number].replace(right, again))
    assert (verdict.credit, verdict.misconceptions) == (0.125, ("softmax twice", "dropout before softmax"))
    assert "nothing is dropped" not in " ".join(verdict.sentences)
    assert "With dropout as without, your weights sum to one" in verdict.sentences[2]


DROPPED_SCORES = {
    "attn_scores = queries @ keys.transpose(1, 2)": "attn_scores = self.dropout(queries @ keys.transpose(1, 2))",
    "self.dropout(attn_weights)": "attn_weights",
}


def test_dropout_on_scores_before_the_mask_is_told_without_any_nan(judged: Judged) -> None:
    source = from_notebook()[16]
    for right, wrong in DROPPED_SCORES.items():
        assert right in source
        source = source.replace(right, wrong)
    assert judged(16, source).misconceptions == ("dropout before softmax",)


SUMMED_UP = """
def self_attention(all_queries, all_keys, all_values):
    weights = attention_weights(attention_scores(all_queries, all_keys))
    return sum(weighted_sums(weights, all_values))
"""


def test_the_sum_of_all_outputs_is_not_told_as_the_last_of_them(judged: Judged) -> None:
    verdict = judged(6, SUMMED_UP)
    assert (verdict.credit, verdict.misconceptions) == (0.25, ("everything summed up",))


PROJECTED_AGAIN = """
def self_attention(all_queries, all_keys, all_values):
    q, k, v = compute_qkv(all_x, W_q, W_k, W_v, b_q, b_k, b_v)
    return weighted_sums(attention_weights(attention_scores(q, k)), v)
"""


def test_what_is_read_from_the_notebook_is_not_to_be_taken_from_arguments_that_are_not_there(judged: Judged) -> None:
    (borrowed,) = (text for text in judged(6, PROJECTED_AGAIN).sentences if "from the notebook" in text)
    assert "from the arguments" not in borrowed


@pytest.mark.parametrize("made", ["t ** 2", "t.abs()", "torch.relu(t)"])
def test_what_is_not_normalised_is_not_called_normalised_beside(made: str, judged: Judged) -> None:
    source = f"def softmax(items_in):\n    t = torch.as_tensor(items_in, dtype=torch.float32)\n    return {made}"
    verdict = judged(3, source)
    assert (verdict.credit, verdict.misconceptions[0]) == (0.125, "not normalised")
    said = " ".join(verdict.sentences)
    assert "do not sum to one" in said
    assert "normalised" not in said
    assert "positive but" not in said


SCALED_IN_PLACE = """
def weighted_sums(all_attention_weights, all_values):
    outputs = []
    for weights in all_attention_weights:
        output = all_values[0]
        output *= weights[0]
        for i in range(1, len(all_values)):
            output += weights[i] * all_values[i]
        outputs.append(output)
    return outputs
"""


def test_a_copy_that_is_missing_is_not_called_an_order_of_axes(judged: Judged) -> None:
    verdict = judged(5, SCALED_IN_PLACE)
    assert (verdict.credit, [place.change for place in verdict.located]) == (0.5, [Change.ALIAS])


NOT_WRITTEN = """
def padded_attention(queries, keys, values, lengths, causal=False):
    out = torch.empty(*queries.shape[:3], values.shape[-1])
    out.fill_(math.nan)  # as what was in memory may be
    out[..., 0] = queries.sum(-1)
    return out
"""


def test_nan_that_was_in_memory_is_not_said_to_be_computed(judged: Judged) -> None:
    (line,) = (line.strip() for line in NOT_WRITTEN.splitlines() if "empty" in line)
    said = judged(22, NOT_WRITTEN).sentences
    assert sentences.WHERE_NAN_COMES_FROM not in said
    assert said[-1] == sentences.of_facts([Fact(Kind.EMPTY, line)])[0]


MADE_IN_FORWARD = """
class SelfAttention_v2(nn.Module):
    def __init__(self, d_in, d_out, qkv_bias=False):
        super().__init__()
        self.W_query = nn.Linear(d_in, d_out, bias=qkv_bias)
        self.W_key = nn.Linear(d_in, d_out, bias=qkv_bias)
        self.d_in, self.d_out = d_in, d_out

    def forward(self, x):
        self.W_value = nn.Linear(self.d_in, self.d_out, bias=False)
        scores = self.W_query(x) @ self.W_key(x).T
        return torch.softmax(scores / scores.shape[-1] ** 0.5, dim=-1) @ self.W_value(x)
"""


def test_a_layer_that_forward_makes_comes_first(judged: Judged) -> None:
    line = "self.W_value = nn.Linear(self.d_in, self.d_out, bias=False)"
    assert judged(13, MADE_IN_FORWARD).sentences[0] == sentences.of_facts([Fact(Kind.MADE_ANEW, line)])[0]
