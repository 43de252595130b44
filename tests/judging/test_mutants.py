"""Right solutions, changed in one spot: full marks exactly where the change makes no difference.

An oracle that knows nothing of the grader decides what a difference is. No mutant that it finds wrong may get full
marks, and every mutant that it finds right must get them.
"""

from __future__ import annotations

import functools
import json
import re
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from typing import Any, NamedTuple

import pytest

from grader.judging.answer_key import AnswerKey
from grader.judging.judge import Judge
from grader.model.answer import Answer
from grader.model.exercise import Exercise, Inputs
from oracles.oracle import Oracle
from support.answer_keys import short_cases
from support.corpus import corpus
from support.mutator import mutants
from support.our_course import EXERCISES
from support.places import DATA
from support.solution_cells import from_notebook, functions, notebook, run, undisturbed

pytestmark = pytest.mark.proof

MUTANTS = DATA / "mutants.json"
STEPS = 20_000  # lines, for mutants that never end; others need a hundredth of it

# Solutions that differ in style. The notebook's own comes first.
STYLES = {
    1: "loop_append addmm clone_accumulate einsum_stack linear_layers recursive stacked_matrix",
    2: "double_loop_dot nested_comprehension broadcast_unbind itertools_product one_by_one_tensors python_floats",
    3: "exp_over_sum max_shifted python_loop numpy_inside preallocated_loop log_sum_exp sigmoid_of_differences",
    4: "loop_append hand_written one_matrix_unbind preallocated recursive stack_returned numpy_columns",
    5: "double_loop clone_first bmm einsum_stack matmul_columns python_floats recursive sum_zip",
    6: "steps_together all_in_loops class_inside einsum_stack matrix_form numpy_inside one_liner running_softmax sdpa",
    7: "formula_with_helper einsum numpy_inside queries_scaled_first rows_inside sdpa through_exercise_six vmap",
    8: "two_heads_spelled_out class_inside helper_function einsum_heads sdpa_batched split_output_matrix "
    "stacked_weights_reshape through_exercise_seven",
    9: "column_squeezed double_loop einsum loop_empty_dot query_first vmap",
    10: "clone_in_place log_softmax moved_axis shifted_keepdim slice_loop unsqueezed",
    11: "accumulated broadcast columns_transposed_back double_loop one_line_stable own_softmax rows_with_exercise_9",
    12: "baddbmm loop_over_rows",
    13: "fused_projection helper_beside",
    14: "exp_masked row_loop",
    15: "bernoulli functional_on_ones numpy_mask where",
    16: "additive_mask dropout_by_hand",
    17: "loop_and_append",
    18: "einsum",
    19: "where",
    20: "sliced_table",
    21: "rotate_every_two",
    22: "sentence_by_sentence",
    23: "norm_over_root_d",
    24: "",
    25: "",
    26: "by_cumulative_sums",
    27: "clipped_by_hand",
    28: "five_axes groups_chunked",
    29: "list_cache",
    30: "gathered",
    31: "masked_assignment",
    32: "merged",
    33: "by_the_output",
    34: "ones_appended",
    35: "flat_slots sentence_by_sentence",
    36: "",
    37: "",
    38: "",
    39: "",
    40: "",
    41: "",
    42: "",
    43: "",
}

# Why a change can make no difference, and patterns of such changes. Those that begin with ^ are for all of
# "exercise style `line`: change".
SAME = {
    "the ends of the ramp are apart": (r"^39 notebook `ramp = .*`: (max\(|1 → )",),
    "a query that sees nothing gets no weight, however it comes to that": (
        r"^22 notebook `(scores|weights) = .*`: (hidden & ~)?empty → hidden ",
        r"^22 sentence_by_sentence `if n == 0:`: (n → outputs|0 → -1)",
    ),
    "what is looked at beyond a window is hidden": (
        r"^30 notebook `start = ",
        r"^30 gathered `(offsets = .*`: (min\(window, T\) → window|T → window)|places = places.clamp)",
    ),
    "where a running maximum begins has no part in the end": (
        r"^32 notebook `(m = .*`: torch\.full_like|lse = .*`: m → new_m)",
        r"^32 merged `(weights = |return output, total)",
    ),
    "a minus above and below the fraction bar, or on both sides of a product": (r"^34 .* → -(\(F\.elu|torch\.)",),
    "a square has no sign, nor an absolute value": (
        r"→ -torch\.linalg\.vector_norm",
        r"^37 notebook `distance = .*`: i - j → ",
    ),
    "no token has such a number": (r"^25 notebook .*`: (-100 → 100|100 → \d+) in `-100",),
    "the key's bias adds the same number to all scores of a query": (
        r"^[78] .*`: [^→`]*\b(b_?k\d?)\b",
        r"^[78] .*: b → .*\bK\b",
    ),
    "a tensor of one's own may be changed in place": (r"→ .+\.(add|sub|mul|div)_\(",),
    "-1 stands above and below the fraction bar": (
        r"→ -(torch\.exp|math\.exp|np\.exp|\w+\.exp)\(",
        r"^26 by_cumulative_sums `chances = .*→ -torch\.softmax",
    ),
    "softmax does not see a shift": (
        r"\b(max|amax)\b",
        r"^3 max_shifted .*: shifted → items_in",
        r"^6 all_in_loops `s = 0`: 0 →",
        r"^14 exp_masked `e = ",
    ),
    "another thing has the same size": (
        r"^14 triu_indices .*: T → _ in",
        r"^28 five_axes .*: d → _ in",
        r"^32 .*: queries → (keys|values) in `queries(\.new_full|\[)",
        r"^34 ones_appended `ones = .*`: values → ",
        r": [\w.]+ → [\w.]+ in `[\w.]+\.(shape|size|numel|dtype)`",
        r": \w+ → \w+ in `len\(\w+\)`",
        r": \w+ → \w+ in `all_\w+\[0\]`",
        r": -?\d → -?\d in `.+\.(shape\[-?\d\]|size\(-?\d\))`",
        r"(\w+\.shape\[0\](, )?){3}\] →",
    ),
    "all words have the same size": (r"-?\d → -?\d in `all_\w+\[-?\d\]`",),
    "a product does not depend on the order of its factors, nor the larger of two on theirs": (
        r"torch\.maximum\(largest, s\) → ",
        r"^31 .*`: .*torch\.(maximum|logaddexp)\(.* → ",
        r"^10 slice_loop `for s in slices\[1:\]",
        r"^30 .*min\(.* → min\(",
        r"^35 notebook `M, page_size, d = .*`: \(page_table",
        r"^32 merged `new = .*`: torch\.logaddexp",
        r"^4[23] notebook .*`: min\(.* → min\(",
        r"(dot|zip|_sum_from)\(.* → .*(dot|zip|_sum_from)\(",
    ),
    "steps do not need each other": (r"\(\(W_q, b_q, qs\)", r": vs → out"),
    "an axis has another end, and two axes another order": (
        r"transpose\((0, 1|2, 3)\) → ",
        r"-1 → 1 in `(torch\.softmax|w\.sum)\(",
        r"^12 baddbmm `return .*`: 0 → -1",
        r": -?\d → -?\d in `(dim=|axis=|\(|.*squeeze\(|.*attention\()",
        r"transpose\(1, 2\) →",
        r"^28 groups_chunked `scores = torch.matmul",
        r": -2 → 2 in `-2:`",
        r"^34 notebook `products = .*`: \(\.\.\., :, None\)",
        r"^41 notebook `outputs = .*`: \(chose, e, None\)",
        r"^42 notebook `(a, b|key, value, query|decay) = .*`: \(",
        r"^35 flat_slots `flat_k, flat_v = ",
    ),
    "a default or broadcasting does the same": (
        r"topk\((.*), dim=-1\) → .*topk\(\1\) in",
        r"^42 notebook `state = .*key\.mT @ error → .*\* error in",
        r"nn\.Softmax\(dim=-?1\) → nn\.Softmax\(\)",
        r"^9 vmap .*→ x @ query",
        r"^32 merged `output, total = .*`: 1 → 0 in `-1`",
        r"^34 notebook `products = .*`: k\[",
        r", (dim=0|keepdims=True)\) → ",
        r"sum\(dim=0\) → ",
        r"True → False in `keepdims",
    ),
    "lists, tuples and stacks are alike": (
        r": (list|tuple)\(.* → ",
        r"unbind\(\) → ",
        r"stack\(scores\) → ",
        r"^4 notebook .*: all_scores → all_attention_scores",
        r": torch\.(cat|stack) → ",
        r"\.append → ",
    ),
    "numbers may be of any kind and precision": (
        r"^(18|19|29) notebook `self\.head_dim = .*// (num_)?heads → ",
        r"^20 .*: d_model // 2 → d_model / 2 in `torch\.arange",
        r"^23 notebook .*: precise → x in `precise / ",
        r"^35 sentence_by_sentence `length = ",
        r"^39 notebook .*: dim // 2 → dim / 2 in `torch\.arange",
        r"\.(item|numpy|double|float|copy|clone|flatten)\(\) → ",
        r"float\(\w\) → ",
        r"float32\) → ",
        r"w = \[float",
        r"\.tolist\(\) → ",
    ),
    "the start value is zero, or overwritten": (r"zeros", r"^4 preallocated `i = 0`"),
    "what is multiplied or divided by is one": (r"^26 by_cumulative_sums `new = .*`: chances / chances",),
    "who clears all gradients of a model clears those of its optimizer": (r"^27 .*: optimizer → model in",),
    "gradients as long as they may be are kept in either way": (r"^27 .*: norm > max_norm → norm >= max_norm",),
    "the largest logits have the largest probabilities": (r"^41 notebook `ranks = .*`: probabilities → logits",),
    "both methods have the same results": (r"^40 notebook `return self\.attend\(",),
    "the value is not used, or only asked whether it is zero": (
        r"^27 .*→ -nn\.utils\.clip_grad_norm_\(",
        r"→ -(isinstance|len|torch\.is_tensor|\w+\.(exp|add)_)\(",
        r"→ -\(?(d_out|embed_size) % \w+",
        r"^16 .* → -torch\.(ones|triu)\(",
        r"^14 exp_masked `future = ",
        r"^17 loop_and_append `self.num_heads = ",
        r"^28 .*→ -(\(Hq % Hkv\)|torch\.ones)",
    ),
    "what a parameter holds at first is drawn by chance": (r"→ -torch\.rand\(d_in, d_out\)",),
    "what is drawn or made is overwritten": (
        r"→ -torch\.empty(_like)?\(",
        r"^12 baddbmm `scores = .*`: .*beta=0",
        r"^11 accumulated `context = torch.zeros_like",
    ),
    "the same device and dtype all the time": (
        r"device=\w+\.device\) → ",
        r": \w+ → \w+ in `\w+\.device`",
        r"^15 numpy_mask `mask = torch.as_tensor",
        r"^29 list_cache `mask = torch.full",
    ),
    "weights and rows that sum to one see no sign and no factor of a row": (r"^14 .*(→ -|→ torch\.triu)",),
    "scores of words with themselves are symmetric": (r"^11 .* in `(attn_scores\[i, j\]|inputs @ inputs\.transpose)",),
    "queries, keys and values have one size": (r": self\.W_\w+ → self\.W_\w+ in `self\.W_\w+\.out_features`",),
    "multiplied by one, or shaped alike": (
        r"^15 functional_on_ones `return attn_weights \* 1`",
        r": weights → scores in `torch\.full_like",
    ),
    "another condition says the same": (r"^28 groups_chunked `if Hq < Hkv",),
    "any number far below all scores hides": (r"^28 .*1000000000\.0 → ",),
    "what is empty counts as nothing, whatever number stands for it": (r"^31 notebook `(subtracted|o) = ",),
    "what is too much is cut off later": (
        r"^35 sentence_by_sentence `(count|pages) = ",
        r"^37 notebook `finer = ",
        r"^42 notebook `block = .* → first \+ chunk in",
    ),
    "a draw is beyond all tokens by rounding alone": (r"^26 by_cumulative_sums `new = torch.*`: 1 → 0 in",),
    "chance does not see a single number": (r"^15 notebook .*: chances >= p → chances > p",),
}


class Outcome(NamedTuple):
    exercise: int
    style: str
    line: str
    change: str
    right: bool  # says the oracle
    full_marks: bool  # says the judge


def implementations(number: int) -> dict[str, str]:
    """Right solutions of an exercise by style."""
    found = corpus(number)
    return {"notebook": from_notebook()[number]} | {style: found[style] for style in STYLES[number].split()}


@functools.cache
def judged(number: int) -> list[Outcome]:
    """Every mutant of an exercise, put to the oracle and to the judge."""
    exercises = functions(number)
    oracles, given = {name: Oracle(name) for name in exercises}, notebook(number)
    full_marks = grader_of(number)

    def is_right(source: str, steps: int) -> bool:
        return all(oracles[name].accepts(run(source, one, given, steps)) for name, one in exercises.items())

    found = []
    with undisturbed():
        for style, source in implementations(number).items():
            assert is_right(source, 50 * STEPS), f"the solution {style} itself"
            lines = source.splitlines()
            for at, change, mutant in mutants(source):
                line, right = lines[at - 1].strip(), is_right(mutant, STEPS)
                found.append(Outcome(number, style, line, change, right, full_marks(mutant)))
    return found


@functools.cache
def grader_of(number: int) -> Callable[[str], bool]:
    """What says whether a source gets full marks in all functions of an exercise."""
    exercises, given = EXERCISES[number].functions, notebook(number)
    keys = [keys_of(exercise) for exercise in exercises]

    def full_marks(source: str) -> bool:
        pairs = zip(exercises, keys, strict=True)
        return all(gets_full_marks(key, run(source, one, given, STEPS)) for one, key in pairs)

    return full_marks


def keys_of(exercise: Exercise) -> list[list[AnswerKey]]:
    """For each form that inputs may have, an answer key for each case. Misconceptions and pictures are left out: they
    explain what is wrong, and never make it right."""
    exercise = replace(exercise, mistakes=(), picture=None)
    drawn = short_cases(exercise)
    forms = (lambda inputs: inputs, *exercise.other_forms)
    return [[AnswerKey(exercise, [replace(case, inputs=form(case.inputs))]) for case in drawn] for form in forms]


@pytest.mark.parametrize("number", STYLES)
def test_mutants_get_full_marks_only_when_right(number: int) -> None:
    accepted = [mutant for mutant in judged(number) if mutant.full_marks and not mutant.right]
    assert not accepted, "\n".join(map(str, accepted))
    refused = [mutant for mutant in judged(number) if mutant.right and not mutant.full_marks]
    assert not refused, "\n".join(map(str, refused))
    unknown = [mutant for mutant in judged(number) if mutant.full_marks and not why_the_same(mutant)]
    assert not unknown, "\n".join(map(str, unknown))


def test_surviving_mutants_are_on_record_and_every_reason_is_needed(request: pytest.FixtureRequest) -> None:
    counts: dict[str, dict[str, Any]] = {}
    for number in STYLES:
        reasons = Counter(why_the_same(mutant) for mutant in judged(number) if mutant.full_marks)
        counts[str(number)] = {"mutants": len(judged(number)), "survive": dict(sorted(reasons.items()))}
    if request.config.getoption("record"):
        MUTANTS.write_text(json.dumps(counts, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    assert counts == json.loads(MUTANTS.read_text(encoding="utf-8"))
    assert {reason for count in counts.values() for reason in count["survive"]} == set(SAME)


def why_the_same(mutant: Outcome) -> str:
    """The first reason that fits, or nothing."""
    anywhere = f": {mutant.change}"
    there = f"{mutant.exercise} {mutant.style} `{mutant.line}`{anywhere}"
    for reason, patterns in SAME.items():
        if any(re.search(one, there if one.startswith("^") else anywhere) for one in patterns):
            return reason
    return ""


def gets_full_marks(forms: list[list[AnswerKey]], ask: Callable[[Inputs], Answer]) -> bool:
    """Case by case, so that the first wrong one is the last one asked. Full marks need all cases to be right."""
    return any(all_right(keys, ask) for keys in forms)


def all_right(keys: list[AnswerKey], ask: Callable[[Inputs], Answer]) -> bool:
    for index, key in enumerate(keys):
        if not Judge().verdict(key, [ask(key.cases[0].inputs)]).right:
            keys.insert(0, keys.pop(index))  # what shows one mutant wrong often shows the next one, too
            return False
    return True
