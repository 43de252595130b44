"""What is special about exercises that ask for a class: parameters, buffers, gradients, dropout, hostile modules."""

from __future__ import annotations

import itertools
import random
import textwrap
from typing import Any

import pytest
import torch

from grader.judging.answer_key import AnswerKey
from grader.kit.dropout_rules import finding
from grader.kit.module_readings import wrong_dropout
from grader.model.answer import Raised, Returned
from grader.model.broken_rules import RUINED
from grader.model.exercise import Exercise, Inputs
from grader.model.forms.module import MODULE
from grader.model.misconception import Misconception, can_combine
from grader.model.verdict import Reason
from grader.solutions.modules import ModuleCase, WrittenClass
from support.answer_keys import verdict
from support.corpus import corpus
from support.our_course import EXERCISES
from support.small_notebooks import grade
from support.solution_cells import from_notebook

CLASSES = [number for number, exercise in EXERCISES.items() if exercise.form is MODULE and not exercise.probe]
PAIRS = 40  # of misconceptions at once
SEEDS = 2000  # of right dropout, none of which may be refused


@pytest.mark.parametrize("number", CLASSES)
def test_class_when_it_is_the_notebooks_solution_is_right(number: int) -> None:
    found = verdict(number)
    assert found.right, found.sentences


# --- parameters ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("number", "changes", "words"),
    [
        (12, [("self.W_key", "self.W_k")], ["no parameter W_key", "It has W_k, W_query, W_value"]),
        (12, [("self.W_key = nn.Parameter(torch.rand(d_in, d_out))", "self.W_key = nn.Parameter(torch.rand(d_in, 1))")],
         ["W_key has shape", ", 1), but", "is expected"]),
        (13, [("self.W_value", "self.values")], ["no parameter W_value.weight", "values.weight"]),
        (16, [("self.W_query", "self.query")], ["no parameter W_query.weight", "query.weight"]),
        (17, [("self.heads", "self.all_heads")], ["no parameter heads.0.W_query.weight", "all_heads.0.W_key.weight"]),
        (17, [("nn.ModuleList", "list")], ["no parameter heads.0.W_query.weight", "Modules in a plain list"]),
        (18, [("self.out_proj", "self.output")], ["no parameter out_proj.weight", "output.weight"]),
        (18, [("nn.Linear(d_out, d_out)", "nn.Linear(d_out, d_in)")], ["out_proj.weight has shape", "is expected"]),
        (19, [("self.fc_out", "self.out")], ["no parameter fc_out.weight", "out.weight"]),
        (19, [("self.queries = nn.Linear(embed_size, embed_size, bias=False)",
               "self.queries = nn.Linear(embed_size, embed_size)")], ["queries.bias", "no bias"]),
    ],
)  # fmt: skip
def test_parameter_when_wrong_is_named_with_the_expected_one(
    number: int, changes: list[tuple[str, str]], words: list[str]
) -> None:
    found = verdict(number, *changes)
    assert not found.right
    text = " ".join(found.sentences)
    if not found.misconceptions:  # whose sentences know the cause
        assert all(word in text for word in words), text


def test_missing_parameter_does_not_explain_other_mistakes() -> None:
    without = [("nn.Linear(d_model, d_ff)", "nn.Linear(d_model, d_ff, bias=False)"),
               ("nn.Linear(d_ff, d_model)", "nn.Linear(d_ff, d_model, bias=False)")]  # fmt: skip
    assert verdict(24, *without).misconceptions == ("layers without biases",)
    found = verdict(24, *without, ("x = x + self.dropout(self.ff_out(hidden))", "x = 3 * x.flip(1)"))
    assert (found.credit, found.misconceptions) == (0.0, ())


def test_batch_when_sentences_are_mixed_does_not_accuse_of_the_future() -> None:
    """Where the last words of all sentences change, an earlier word of another sentence may have got one of them."""
    found = verdict(
        16,
        after="""
        class CausalAttention(CausalAttention):
            def forward(self, x):
                words_first = x.reshape(x.shape[1], x.shape[0], x.shape[2])
                return super().forward(words_first.transpose(0, 1))
        """,
    )
    said = " ".join(found.sentences)
    assert not found.right
    assert "The output of a sentence changes with the other sentences of the batch." in said
    assert "future" not in said


def test_class_that_returns_its_input_earns_nothing() -> None:
    found = verdict(23, ("precise = x.float()", "return x\n        precise = x.float()"))
    assert (found.credit, found.sentences[0]) == (
        0,
        "In every hidden case, your class returns one of its arguments unchanged.",
    )


@pytest.mark.slow
@pytest.mark.parametrize("noise", ["torch.rand_like(x)", "self.out(x + torch.rand(1))"])
def test_random_noise_is_not_taken_for_a_cache(noise: str) -> None:
    assert verdict(29, ("return context, cache", f"return {noise}, cache")).credit == 0


# --- gradients -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("number", CLASSES)
def test_detached_result_earns_half_and_is_named(number: int) -> None:
    entry = EXERCISES[number].entry
    found = verdict(
        number,
        after=f"""
        class {entry}({entry}):
            def forward(self, *inputs):
                return super().forward(*inputs).detach()
        """,
    )
    assert (found.credit, found.misconceptions) == (0.5, ("everything detached",))


def test_detached_step_earns_half_and_names_the_parameter() -> None:
    found = verdict(13, ("k = self.W_key(x)", "k = self.W_key(x).detach()"))
    assert found.credit == 0.5
    assert "W_key.weight" in " ".join(found.sentences)


def test_gradients_when_ruined_in_place_earn_half_and_are_named() -> None:
    found = verdict(24, ("x = x + self.dropout", "x += self.dropout"))
    assert (found.credit, found.reason) == (0.5, Reason.GRADIENT)
    assert RUINED in found.sentences


# --- masks -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "changes",
    [
        [
            (
                "torch.ones(context_length, context_length)",
                "torch.ones(context_length, context_length, dtype=torch.bool)",
            )
        ],
        [("torch.ones(context_length, context_length)", "torch.ones(1, context_length, context_length)")],
        [('"mask"', '"later"'), ("self.mask", "self.later")],
    ],
)
@pytest.mark.parametrize("number", [16, 18])
def test_mask_with_any_dtype_name_or_leading_sizes_is_right(number: int, changes: list[tuple[str, str]]) -> None:
    source = from_notebook()[number]
    if "torch.ones(1" in changes[0][1]:
        changes = [*changes, ("self.mask[:T, :T]", "self.mask[0, :T, :T]")]
    if any(old not in source for old, _ in changes):
        pytest.skip("the notebook writes it in another way")
    assert verdict(number, *changes).right


@pytest.mark.parametrize("number", [16, 18])
def test_mask_that_is_no_buffer_costs_a_quarter(number: int) -> None:
    found = verdict(number, ('self.register_buffer("mask", ', "self.mask = ("))
    assert found.credit == 0.75
    assert "register_buffer" in " ".join(found.sentences)


def test_mask_that_is_a_parameter_still_hides_words() -> None:
    as_parameter = """
        class CausalAttention(CausalAttention):
            def __init__(self, *arguments):
                super().__init__(*arguments)
                hidden = self._buffers.pop("mask")
                self.seen = nn.Parameter(1.0 - hidden.float())
                self.mask = None
            def forward(self, x):
                self.mask = self.seen == 0
                return super().forward(x)
        """
    found = verdict(16, after=as_parameter)
    assert found.credit >= 0.5
    assert "see" not in " ".join(found.sentences)  # words that they should not


@pytest.mark.slow
def test_right_mask_or_changed_input_does_not_excuse_wrong_output() -> None:
    """What is beside the point must not hide that the numbers are wrong."""
    for found in (
        verdict(13, ("q = self.W_query(x)", "x -= x.mean(dim=-1, keepdim=True)\n        q = self.W_query(x)")),
        verdict(18, ('self.register_buffer("mask", mask)', "self.mask = mask"), ("weights @ v", "weights @ v * 1.3")),
    ):
        assert "Your output is right." not in found.sentences
        assert found.credit == 0


# --- dropout ---------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def case_of_dropout() -> tuple[torch.Tensor, torch.Tensor, float]:
    """Weights of a right module that drops nothing, the numbers beside them, and the rate."""
    exercise = EXERCISES[16]
    arguments, weights, calls, how = next(
        case.inputs for case in exercise.sample() if case.inputs[3].get("extra") is not None
    )
    undropped = exercise.reference(arguments, weights, calls, {"train": False})["outputs"]["output"]
    return undropped, how["extra"], arguments[3]


@pytest.mark.slow
def test_wrong_dropout_never_refuses_right_dropout(case_of_dropout: tuple[torch.Tensor, torch.Tensor, float]) -> None:
    undropped, extra, p = case_of_dropout
    weights = undropped[..., : len(extra)]
    rng = torch.Generator().manual_seed(16)

    def dropped() -> torch.Tensor:
        kept = weights * (torch.rand(weights.shape, generator=rng) >= p) / (1 - p)
        return torch.cat([kept, kept @ extra], dim=-1)

    said = {wrong_dropout([dropped(), dropped()], undropped, extra, p) for _ in range(SEEDS)}
    assert said == {""}


@pytest.mark.parametrize("rate", [0.5, 0.02, 0.4])
def test_dropout_with_another_rate_is_found_for_any_seed(
    rate: float, case_of_dropout: tuple[torch.Tensor, torch.Tensor, float]
) -> None:
    undropped, extra, p = case_of_dropout
    weights = undropped[..., : len(extra)]
    for seed in range(200):
        kept = torch.rand(weights.shape, generator=torch.Generator().manual_seed(seed)) >= rate
        assert finding(weights * kept / (1 - rate), weights, p)


# --- arguments -------------------------------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize(("number", "check"), [(18, "if d_out % num_heads != 0:"), (19, "if embed_size % heads != 0:")])
def test_class_when_arguments_are_impossible_must_raise(number: int, check: str) -> None:
    found = verdict(number, (check, "if False:"))
    assert found.credit == 0.75
    refused = verdict(number, (check, f"{check}\n            print(1 / 0)\n        if False:"))
    assert refused.right, "any error is a refusal"
    ended = verdict(number, (check, f"{check}\n            raise SystemExit('sizes')\n        if False:"))
    assert ended.right, "and so is an end"


# --- what depends on earlier exercises -------------------------------------------------------------------------------


USES_SOFTMAX = """
class SelfAttention_v1(nn.Module):
    def __init__(self, d_in, d_out):
        super().__init__()
        self.W_query = nn.Parameter(torch.rand(d_in, d_out))
        self.W_key = nn.Parameter(torch.rand(d_in, d_out))
        self.W_value = nn.Parameter(torch.rand(d_in, d_out))

    def forward(self, x):
        scores = (x @ self.W_query) @ (x @ self.W_key).T / self.W_key.shape[1] ** 0.5
        return softmax_stable(scores, -1) @ (x @ self.W_value)
"""


@pytest.mark.slow
def test_class_when_an_earlier_function_is_wrong_keeps_its_marks() -> None:
    """Not for wrong numbers, and not for a gradient that an earlier function cuts."""
    imports = "import torch\nfrom torch import nn"
    for wrong in ("return torch.exp(x)", "return torch.softmax(x, dim).detach() + 0.1"):
        verdicts, _ = grade(imports, f"def softmax_stable(x, dim=-1):\n    {wrong}", 10, USES_SOFTMAX, 12)
        assert not verdicts[10].right
        assert verdicts[12].right, verdicts[12].sentences


@pytest.mark.slow
def test_class_when_the_class_inside_is_to_do_earns_its_marks() -> None:
    """Whichever of its cases stop, with the other class's NotImplementedError."""
    to_do = "class TransformerBlock(nn.Module):\n    def __init__(self, *sizes):\n        raise NotImplementedError()"
    one_block_first = from_notebook()[25].replace(
        "        super().__init__()\n",
        "        super().__init__()\n        TransformerBlock(d_model, num_heads, 4 * d_model, dropout)\n",
    )
    imports = "import torch\nfrom torch import nn\nimport torch.nn.functional as F"
    verdicts, _ = grade(imports, to_do, 24, one_block_first, 25)
    assert verdicts[24].reason == "to do"
    assert verdicts[25].right, verdicts[25].sentences


@pytest.mark.slow
@pytest.mark.parametrize("style", ["earlier_functions", "softmax_stable_used"])
def test_standin_dropout_drops_other_weights_in_each_call(style: str) -> None:
    imports = "import torch\nfrom torch import nn\nimport torch.nn.functional as F"
    wrong = "def inverted_dropout(attn_weights, p, training):\n    return attn_weights"
    cells = (from_notebook()[10], from_notebook()[14], wrong, 15, corpus(16)[style], 16)
    verdicts, _ = grade(f"import math\n{imports}", *cells)
    assert not verdicts[15].right
    assert verdicts[16].right, verdicts[16].sentences


def test_class_with_its_own_mistake_loses_marks_beside_earlier_one() -> None:
    cells = ("from torch import nn", "def softmax_stable(x, dim=-1):\n    return torch.exp(x)", 10)
    verdicts, _ = grade(*cells, USES_SOFTMAX.replace(" / self.W_key.shape[1] ** 0.5", ""), 12)
    assert verdicts[12].misconceptions == ("not scaled",)


# --- modules that mean no good ---------------------------------------------------------------------------------------


HOSTILE = {
    "parameters_lie": "def named_parameters(self, *a, **k): return iter([('W_query', 1), ('W_key', None)])",
    "parameters_are_endless": """
    def named_parameters(self, *a, **k):
        while True:
            yield "W_query", self.W_query
    """,
    "parameters_raise": "def named_parameters(self, *a, **k): raise SystemExit",
    "a_string": "def forward(self, x): return 'Right.'",
    "a_dict": "def forward(self, x): return {'output': x}",
    "a_tensor_of_its_own_kind": """
    def forward(self, x):
        class Right(torch.Tensor):
            def __eq__(self, other): return True
        return torch.zeros(len(x), self.W_key.shape[1]).as_subclass(Right)
    """,
    "state_dict_raises": """
    @property
    def state_dict(self): raise RuntimeError("no")
    def forward(self, x): return x
    """,
    "thousands_of_parameters": """
    def __init__(self, d_in, d_out):
        super().__init__(d_in, d_out)
        self.more = nn.ParameterList(torch.zeros(1) for _ in range(20000))
    def forward(self, x): return x
    """,
    "a_huge_name": "def named_parameters(self, *a, **k): return iter([('W' * 10**7, self.W_key)])",
    "a_hidden_exit": "def train(self, mode=True): import os; os._exit(0)",
    "never_ends": """
    def forward(self, x):
        while True: pass
    """,
}  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_class_gets_a_clear_verdict(name: str) -> None:
    body = textwrap.indent(textwrap.dedent(HOSTILE[name]).strip(), "    ")
    source = USES_SOFTMAX.replace("softmax_stable", "torch.softmax")
    verdicts, _ = grade("from torch import nn", f"{source}\n\nclass SelfAttention_v1(SelfAttention_v1):\n{body}", 12)
    assert verdicts[12].credit <= 0.5
    assert verdicts[12].sentences
    assert all(0 < len(one) < 400 for one in verdicts[12].sentences)


def test_class_when_state_dict_raises_is_right() -> None:
    """The grader does not need it."""
    found = verdict(12, after="""
        class SelfAttention_v1(SelfAttention_v1):
            @property
            def state_dict(self): raise RuntimeError("no")
        """)  # fmt: skip
    assert found.right


# --- a glance --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("number", CLASSES)
def test_quick_output_equals_the_output_in_the_case(number: int) -> None:
    """On modules that are built once and shared: nothing that a misconception does to one may stay there."""
    exercise = EXERCISES[number]
    if exercise.glance is None:
        pytest.skip("looking saves no time")
    held: list[tuple[Misconception, ...]] = [(), *((one,) for one in exercise.mistakes)]
    pairs = [pair for pair in itertools.combinations(exercise.mistakes, 2) if can_combine(*pair)]
    held += random.Random(number).sample(pairs, PAIRS)
    arguments, weights, calls, how = exercise.sample()[0].inputs
    inputs = (arguments, weights, {"output": calls["output"]}, {"train": how["train"]})
    key = AnswerKey(exercise, exercise.sample()[:1])
    for chosen in held:
        try:
            seen = exercise.wrong_answer(chosen, inputs).get("outputs", {}).get("output")
        except Exception:
            seen = None
        output = key[0].output(chosen)
        assert type(output) is type(seen), chosen
        if isinstance(output, torch.Tensor):
            assert torch.allclose(output, seen, rtol=0, atol=0, equal_nan=True), chosen


@pytest.mark.slow
@pytest.mark.parametrize("number", CLASSES)
def test_quick_answers_equal_the_answers_in_the_case(number: int) -> None:
    """In each kind of case, on shared modules: all of it, and what is soon computed."""
    exercise = EXERCISES[number]
    if exercise.glance is None:
        pytest.skip("looking saves no time")
    pairs = [pair for pair in itertools.combinations(exercise.mistakes, 2) if can_combine(*pair)]
    cases = list({case.case.name: case for case in exercise.sample()}.values())
    chance = random.Random(number)
    key = AnswerKey(exercise, cases)
    for index, case in enumerate(cases):
        for one in chance.sample(exercise.mistakes, 10):
            assert_same(key, index, key[index].compared_answer((one,)), answered(exercise, (one,), case.inputs))
        soon_computed = exercise.glance(*case.inputs).inputs
        for pair in chance.sample(pairs, 10):
            assert_same(key, index, key[index].quick_answer(pair), answered(exercise, pair, soon_computed))


def assert_same(key: AnswerKey, index: int, seen: Returned | Raised, wanted: Returned | Raised) -> None:
    if isinstance(wanted, Raised):
        assert seen == wanted
    else:
        assert isinstance(seen, Returned)
        assert list(seen.value) == list(wanted.value)
        assert key.exercise.form.agrees(seen.value, wanted.value, key.expected[index], 1e-12)


def answered(exercise: Exercise, held: tuple[Misconception, ...], inputs: Inputs) -> Returned | Raised:
    try:
        return Returned(exercise.compared(exercise.wrong_answer(held, inputs), inputs), [])
    except Exception as error:
        return Raised(type(error).__name__)


class Counting(torch.nn.Module):
    def __init__(self, rate: float) -> None:
        super().__init__()
        self.rate = rate  #: rate
        self.weight = torch.nn.Parameter(torch.ones(2))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        first = add_one_and_note(x)  #: first
        second = first * self.weight  #: second
        return second.clone()  #: result


executed: list[str] = []


def add_one_and_note(x: torch.Tensor) -> torch.Tensor:
    """What is the same each time, by all that can be seen."""
    executed.append("first")
    return x + 1


def sums(*changes: dict[str, Any], once: bool = False) -> list[float]:
    """Those of outputs with each of these changes."""
    executed.clear()
    weights = {"weight": torch.full((2,), 3.0)}
    case = ModuleCase(WrittenClass(Counting), None, [0.5], weights, {"output": [torch.ones(2)]}, {})
    return [float(case.output(change, once=once).sum()) for change in changes]


def test_module_case_runs_shared_first_steps_once() -> None:
    changes: Any = {}, {"second": "second = first"}, {"result": "return -second"}
    assert sums(*changes) == [12.0, 4.0, -12.0]
    assert len(executed) == 1
    assert sums(*changes, once=True) == [12.0, 4.0, -12.0]
    assert len(executed) == 3


def test_module_case_when_lines_draw_or_mutate_runs_them_again() -> None:
    drawn = {"second": "second = first * torch.rand(2)"}
    one, other = sums(drawn, drawn)
    assert one == other > 0  # each call begins with the same chance
    in_place = {"second": "first += 1\nsecond = first"}
    assert sums(in_place, {}, in_place, {}) == [6.0, 12.0, 6.0, 12.0]


def test_module_case_when_init_lines_change_builds_another_module() -> None:
    assert sums({"rate": "self.rate = 7.0", "second": "second = first * self.rate"}, {}) == [28.0, 12.0]
