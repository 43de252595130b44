"""Wrong code is asked again in other ways, and what makes it right is its mistake. Each code is run by grading."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import pytest

from grader.course import Course
from grader.judging import another_way
from grader.judging.arguments import ANOTHER_ORDER
from grader.judging.rows import FLAT_WORDS, WORDS_AS_ROWS
from grader.judging.sentences import FITS_ROWS, RIGHT_OTHERWISE
from grader.model.verdict import Reason, Verdict
from grader.running import trial
from grader.running.grading import grade_notebook
from grader.running.limits import Limits
from support.our_course import EXERCISES, OURS
from support.solution_cells import from_notebook

Judged = Callable[[int, str], Verdict]


@pytest.fixture
def judged(course: Course, make_notebook: Any) -> Judged:
    """The verdict on an exercise that is solved so, the others of its notebook being right."""

    def verdict(number: int, source: str) -> Verdict:
        assignment = EXERCISES[number].assignment
        earlier = {one: cell for one, cell in from_notebook().items() if one < number}
        notebook = make_notebook(course, {**earlier, number: source}, assignment)
        settings = replace(OURS, limits=Limits(case=0.5))  # where something hangs
        return next(verdict for verdict in grade_notebook(notebook, settings=settings) if verdict.exercise == number)

    return verdict


@pytest.fixture
def ways(monkeypatch: pytest.MonkeyPatch) -> list[another_way.Way]:
    """All in which somebody is asked."""
    asked: list[another_way.Way] = []
    made = another_way.AskedAgain.first_right

    def first_right(self: another_way.AskedAgain, ways: Iterator[another_way.Way]) -> another_way.Way | None:
        return made(self, (asked.append(way) or way for way in ways))  # type: ignore[func-returns-value]

    monkeypatch.setattr(another_way.AskedAgain, "first_right", first_right)
    return asked


ROWS = {
    "rows, with matrices turned": (7, """
def scaled_dot_product_self_attention(X, W_v, W_q, W_k, b_v, b_q, b_k):
    V, Q, K = (X @ W.T + b.T for W, b in ((W_v, b_v), (W_q, b_q), (W_k, b_k)))
    A = torch.softmax(Q @ K.T / K.shape[-1] ** 0.5, dim=-1)
    return A @ V
"""),
    "rows, with matrices on the right": (7, """
def scaled_dot_product_self_attention(X, W_v, W_q, W_k, b_v, b_q, b_k):
    V, Q, K = (X @ W + b.reshape(-1) for W, b in ((W_v, b_v), (W_q, b_q), (W_k, b_k)))
    A = torch.softmax(Q @ K.T / K.shape[-1] ** 0.5, dim=-1)
    return A @ V
"""),
    "rows, with flat biases": (7, """
def scaled_dot_product_self_attention(X, W_v, W_q, W_k, b_v, b_q, b_k):
    V, Q, K = (F.linear(X, W, b) for W, b in ((W_v, b_v), (W_q, b_q), (W_k, b_k)))
    return F.scaled_dot_product_attention(Q[None], K[None], V[None])[0]
""".replace("F.", "torch.nn.functional.")),
    "two heads of rows": (8, """
def multihead_scaled_self_attention(
    X, W_v1, W_q1, W_k1, b_v1, b_q1, b_k1, W_v2, W_q2, W_k2, b_v2, b_q2, b_k2, W_c
):
    def head(*parameters):
        V, Q, K = (X @ W.T + b.T for W, b in zip(parameters[:3], parameters[3:]))
        return torch.softmax(Q @ K.T / K.shape[-1] ** 0.5, dim=-1) @ V

    one = head(W_v1, W_q1, W_k1, b_v1, b_q1, b_k1)
    two = head(W_v2, W_q2, W_k2, b_v2, b_q2, b_k2)
    return torch.cat([one, two], dim=-1) @ W_c.T
"""),
    "a list of rows": (6, """
def self_attention(all_queries, all_keys, all_values):
    Q, K, V = (torch.cat(list(words)) for words in (all_queries, all_keys, all_values))
    outputs = torch.softmax(Q @ K.T / Q.shape[1] ** 0.5, dim=-1) @ V
    return [row.reshape(1, -1) for row in outputs]
"""),
    "a list of vectors": (1, """
def compute_qkv(all_x, W_q, W_k, W_v, b_q, b_k, b_v):
    def one(W, b):
        return [W @ x + b.reshape(len(x)) for x in all_x]

    return one(W_q, b_q), one(W_k, b_k), one(W_v, b_v)
"""),
}  # fmt: skip


@pytest.mark.parametrize("what", ROWS)
def test_words_as_rows_are_the_mistake_where_all_is_right_with_them(what: str, judged: Judged) -> None:
    verdict = judged(*ROWS[what])
    assert (verdict.credit, verdict.misconceptions) == (0.5, (FLAT_WORDS if "vectors" in what else WORDS_AS_ROWS,))
    assert verdict.sentences[-1] == RIGHT_OTHERWISE
    assert "column" in verdict.sentences[0]


ORDERS = {
    "a function, by name": (5, """
def weighted_sums(all_values, all_attention_weights):
    V = torch.cat(list(all_values), dim=1)
    return [(V * torch.as_tensor(weights)).sum(1, keepdim=True) for weights in all_attention_weights]
""", "`weighted_sums` takes (all_values, all_attention_weights), but gets (all_attention_weights, all_values), in"),
    "a function, by what it does": (5, """
def weighted_sums(values, weights):
    V = torch.cat(list(values), dim=1)
    return [(V * torch.as_tensor(row)).sum(1, keepdim=True) for row in weights]
""", "Your code takes `all_attention_weights` for `all_values`, and"),
    "a constructor": (17, """
class MultiHeadAttentionWrapper(nn.Module):
    def __init__(self, d_in, d_out, context_length, num_heads, dropout, qkv_bias=False):
        super().__init__()
        self.heads = nn.ModuleList(
            [CausalAttention(d_in, d_out, context_length, dropout, qkv_bias) for _ in range(num_heads)]
        )

    def forward(self, x):
        return torch.cat([head(x) for head in self.heads], dim=-1)
""", "`__init__` takes (d_in, d_out, context_length, num_heads, dropout, qkv_bias), but gets (d_in, d_out, context_"),
}  # fmt: skip


@pytest.mark.parametrize("what", ORDERS)
def test_arguments_in_another_order_are_the_mistake_where_all_is_right_with_them(what: str, judged: Judged) -> None:
    number, source, said = ORDERS[what]
    verdict = judged(number, source)
    assert (verdict.credit, verdict.misconceptions) == (0.5, (ANOTHER_ORDER,))
    assert verdict.sentences[0].startswith(said)
    assert verdict.sentences[1:] == (RIGHT_OTHERWISE,)


ORDERS_OF_FORWARD = """
class SelfAttention(nn.Module):
    def __init__(self, heads, embed_size):
        super().__init__()
        self.heads = heads
        self.values, self.keys, self.queries, self.fc_out = (
            nn.Linear(embed_size, embed_size, bias=False) for _ in range(4)
        )
        if embed_size % heads:
            raise ValueError("heads must divide embed_size")

    def forward(self, keys, query, values, mask=None):
        def split(x):
            return x.reshape(*x.shape[:2], self.heads, -1)

        v, k, q = split(self.values(values)), split(self.keys(keys)), split(self.queries(query))
        scores = torch.einsum("nqhd,nkhd->nhqk", q, k) / q.shape[-1] ** 0.5
        if mask is not None:
            scores = scores.masked_fill(mask == 0, float("-inf"))
        out = torch.einsum("nhqk,nkhd->nqhd", torch.softmax(scores, dim=-1), v)
        return self.fc_out(out.flatten(2))
"""


def test_two_methods_may_have_their_arguments_in_another_order(judged: Judged) -> None:
    verdict = judged(19, ORDERS_OF_FORWARD)
    assert (verdict.credit, verdict.misconceptions) == (0.5, (ANOTHER_ORDER,))
    assert verdict.sentences == (
        "`__init__` takes (heads, embed_size), but gets (embed_size, heads), in this order.",
        "`forward` takes (keys, query, values, mask), but gets (values, keys, query, mask), in this order.",
        RIGHT_OTHERWISE,
    )


RIGHT_IN_ODD_STYLES = [
    (7, ROWS["rows, with matrices turned"][1].replace("X @", "X.T @").replace("A @ V", "(A @ V).T")),
    (5, ORDERS["a function, by what it does"][1].replace("(values, weights)", "(weights, values)")),
    (5, ORDERS["a function, by name"][1].replace("in all_attention_weights", "in all_values")
        .replace("list(all_values)", "list(all_attention_weights)")),
    (19, ORDERS_OF_FORWARD.replace("self, heads, embed_size", "self, embed_size, heads")
         .replace("self, keys, query, values, mask", "self, values, keys, query, mask")),
]  # fmt: skip


@pytest.mark.parametrize(("number", "source"), RIGHT_IN_ODD_STYLES)
def test_who_is_right_is_not_asked_again(number: int, source: str, judged: Judged, ways: list[another_way.Way]) -> None:
    assert judged(number, source).right
    assert ways == []


AVERAGE = """
def weighted_sums(all_attention_weights, all_values):
    return [sum(all_values) / len(all_values) for _ in all_attention_weights]
"""


def test_who_is_named_is_not_asked_again(judged: Judged, ways: list[another_way.Way]) -> None:
    verdict = judged(5, AVERAGE)
    assert (verdict.credit, verdict.misconceptions) == (0.0, ("plain average",))
    assert ways == []


HANGS_WHEN_TURNED = """
def scaled_dot_product_self_attention(X, W_v, W_q, W_k, b_v, b_q, b_k):
    while b_q.shape[1:] != (1,) or X.shape[1] < X.shape[0] < 3:
        pass
    return X * 3.7
"""


def test_code_that_hangs_when_it_is_asked_again_is_not_asked_a_third_time(
    judged: Judged, ways: list[another_way.Way], monkeypatch: pytest.MonkeyPatch
) -> None:
    for most, value in {"MOST_LOST": 0, "SECONDS": 0.5}.items():  # where small changes of it hang as well
        monkeypatch.setattr(trial, most, value)
    verdict = judged(7, HANGS_WHEN_TURNED)
    assert (verdict.credit, verdict.reason) == (0.0, Reason.WRONG)
    assert len(ways) == 1


WITHOUT_FC_OUT = """
class SelfAttention(nn.Module):
    def __init__(self, embed_size, heads):
        super().__init__()
        assert embed_size % heads == 0
        self.heads, self.embed_size = heads, embed_size
        self.values, self.keys, self.queries = (nn.Linear(embed_size, embed_size, bias=False) for _ in range(3))

    def forward(self, values, keys, query, mask=None):
        def split(x):
            return x.reshape(*x.shape[:2], self.heads, -1)

        v, k, q = split(self.values(values)), split(self.keys(keys)), split(self.queries(query))
        scores = torch.einsum("nqhd,nkhd->nhqk", q, k) / SCALE
        if mask is not None:
            scores = scores.masked_fill(mask == 0, float("-inf"))
        return torch.einsum("nhqk,nkhd->nqhd", torch.softmax(scores, dim=-1), v).flatten(2)
"""

LINEAR_LAYERS = """
class SelfAttention_v1(nn.Module):
    def __init__(self, d_in, d_out):
        super().__init__()
        self.W_query = nn.Linear(d_in, d_out, bias=False)
        self.W_key = nn.Linear(d_in, d_out, bias=False)
        self.W_value = nn.Linear(d_in, d_out, bias=False)

    def forward(self, x):
        scores = self.W_query(x) @ self.W_key(x).transpose(-1, -2) / SCALE
        return torch.softmax(scores, dim=-1) @ self.W_value(x)
"""


@pytest.mark.parametrize(
    ("number", "source", "scale", "names"),
    [
        (19, WITHOUT_FC_OUT, "q.shape[-1] ** 0.5", ("fc_out missing",)),
        (19, WITHOUT_FC_OUT, "self.embed_size ** 0.5", ("scaled by √embed_size", "fc_out missing")),
        (12, LINEAR_LAYERS, "self.W_key.out_features ** 0.5", ("linear layers",)),
        (12, LINEAR_LAYERS, "x.shape[-1] ** 0.5", ("scaled by √d_in", "linear layers")),
        (12, LINEAR_LAYERS, "1", ("not scaled", "linear layers")),
    ],
)
def test_parameters_that_do_not_fit_hide_nothing_else(
    number: int, source: str, scale: str, names: tuple[str, ...], judged: Judged
) -> None:
    verdict = judged(number, source.replace("SCALE", scale))
    assert verdict.misconceptions == names
    credits = {one.name: one.credit for one in EXERCISES[number].misconceptions}
    assert verdict.credit == pytest.approx(credits[names[0]] * (credits[names[1]] if len(names) > 1 else 1))


ROWS_AND_MORE = """
def scaled_dot_product_self_attention(X, W_v, W_q, W_k, b_v, b_q, b_k):
    V, Q, K = (X @ W.T + b.T for W, b in ((W_v, b_v), (W_q, b_q), (W_k, b_k)))
    A = torch.softmax(Q @ K.T, dim=-1)
    return A @ V
"""


def test_what_is_wrong_besides_words_as_rows_is_named_with_them(judged: Judged) -> None:
    verdict = judged(7, ROWS_AND_MORE)
    assert (verdict.misconceptions, verdict.credit) == ((WORDS_AS_ROWS, "not scaled"), 0.25)
    assert verdict.sentences[:2] == ("Two things at once:", FITS_ROWS)


def test_where_more_than_has_a_name_is_wrong_nothing_is_said_of_rows(judged: Judged) -> None:
    verdict = judged(7, ROWS_AND_MORE.replace("A @ V", "torch.tanh(A @ V + 1)"))
    assert (verdict.misconceptions, FITS_ROWS in verdict.sentences) == ((), False)


IN_TRAINING = """
def generate(model, tokens, count, temperature=1.0, top_k=None, generator=None):
    for _ in range(count):
        with torch.no_grad():
            logits = model(tokens[:, -model.context_length:])[:, -1, :]
        if top_k is not None:
            smallest = torch.topk(logits, top_k).values[:, -1]
            logits = torch.where(logits < smallest, torch.tensor(float("-inf")), logits)
        if temperature > 0:
            new = torch.multinomial(torch.softmax(logits / temperature, dim=-1), 1)
        else:
            new = logits.argmax(dim=-1, keepdim=True)
        tokens = torch.cat((tokens, new), dim=1)
    return tokens
"""


def test_what_is_wrong_besides_a_mode_that_is_not_set_is_named_with_it(judged: Judged) -> None:
    verdict = judged(26, IN_TRAINING)
    assert verdict.misconceptions == (
        "generator without effect",
        "smallest of the best without its axis",
        "not in evaluation mode",
    )
    assert verdict.sentences[0] == "Three things at once:"


def test_a_mode_is_not_blamed_where_the_rest_has_no_name(judged: Judged) -> None:
    assert judged(26, IN_TRAINING.replace("logits / temperature", "logits.square() / temperature")).misconceptions == ()


@pytest.mark.parametrize(
    "score",
    [
        pytest.param("(query * key).sum() / D ** 1 / 2", id="of a row, / 1 / 2 is a division by 2"),
        pytest.param("(query * key).sum(dim=1) / D ** 0.5", id="of a row, a division by 1 is none"),
    ],
)
def test_code_that_reads_how_long_columns_are_is_not_said_to_fit_rows(score: str, judged: Judged) -> None:
    line = f"return [[{score} for key in all_keys] for query in all_queries]"
    verdict = judged(2, f"def attention_scores(all_queries, all_keys):\n    D = all_queries[0].shape[0]\n    {line}")
    assert (verdict.misconceptions, [place.line for place in verdict.located]) == ((), [line])
