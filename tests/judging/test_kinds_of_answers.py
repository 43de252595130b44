"""Answers of all kinds: words, truth values, dicts, sets, arrays and tables, in a real sandbox and before the judge."""

from __future__ import annotations

import json
import math
import random
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
import pandas as pd
import pytest
import torch
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from grader import EXACT, Case, Exercise, Misconception
from grader.errors import CourseError
from grader.host import stand_ins
from grader.host.limits import Limits
from grader.host.sandbox_process import SandboxProcess
from grader.judging.answer_key import AnswerKey
from grader.judging.identical import identical
from grader.judging.judge import judge
from grader.kit import pictures
from grader.model.answer import Answer, Raised, Returned
from grader.model.compare import Kind
from grader.model.exercise import fresh
from grader.model.forms.function import FUNCTION
from grader.model.plain_parts import is_plain
from grader.model.plain_values import difference
from grader.model.verdict import Reason, Verdict
from grader.repair.locating import LineSearch
from grader.sandbox import values, wire
from grader.sandbox.decoder import decode, devices
from grader.sandbox.tables import Table
from grader.sandbox.values import Unusable
from support.our_course import EXERCISES
from support.unwritten import UnwrittenExercise, mistake

TOLERANCE = 1e-5


def encoded_and_decoded(value: Any) -> Any:
    """What is left of a value on the other side of the channel."""
    tree, tensors = values.encode(value)
    return decode(json.loads(json.dumps(tree)), tensors)


def difference_sentence(got: Any, want: Any) -> str:
    """What a student reads of an answer; empty if it is right."""
    found = difference(encoded_and_decoded(got), encoded_and_decoded(want), TOLERANCE)
    return found.sentence() if found else ""


# --- comparison ------------------------------------------------------------------------------------------------------


FRAME = pd.DataFrame({"name": ["Ada", "Bo"], "age": [36, 41], "score": [1.5, math.nan]})
SERIES = pd.Series([1.5, 2.5], index=["a", "b"])

# What is expected, and what is right as well, however it is written.
RIGHT: dict[str, tuple[Any, list[Any]]] = {
    "a whole number": (3, [3, 3.0, np.int64(3), np.float32(3), np.array(3), np.array([3]), torch.tensor(3)]),
    "a huge one": (10**300, [10**300]),
    "a number": (0.3, [0.1 + 0.2, np.float32(0.3), torch.tensor(0.3), np.array([[0.3]])]),
    "a number that is whole": (2.0, [2, np.uint8(2)]),
    "truth": (True, [True, np.bool_(True), np.array(True), torch.tensor(True)]),
    "a text": ("Zoë\n", ["Zoë\n", np.str_("Zoë\n")]),
    "bytes": (b"ab", [b"ab"]),
    "nothing": (None, [None]),
    "a list": ([1, "a", None], [(1, "a", None), [1.0, "a", None]]),
    "a list of numbers": (
        [1.5, 2.5],
        [np.array([1.5, 2.5]), torch.tensor([1.5, 2.5]), (1.5, 2.5), pd.Series([1.5, 2.5])],
    ),
    "a list of texts": (["a", "b"], [np.array(["a", "b"]), pd.Series(["a", "b"])]),
    "an empty list": ([], [[], ()]),
    "NaN": ([math.nan, 1.0], [[math.nan, 1.0]]),
    "a dict": ({"a": 1, 2: [0.5], (1, None): True}, [{(1, None): True, "a": 1.0, 2: (0.5,)}]),
    "a dict of numpy": ({"a": 1.0}, [{np.str_("a"): np.float64(1)}]),
    "a set": ({1, "a", (1, 2)}, [{(1, 2), "a", 1}, frozenset({1, "a", (1, 2)})]),
    "a set of numbers": ({0.3, 1.5}, [{0.1 + 0.2, 1.5}]),
    "a set of NaN": ({math.nan}, [{float("nan")}]),
    "an array": (
        np.array([[1.0, 2], [3, 4]]),
        [torch.tensor([[1.0, 2], [3, 4]]), [[1, 2], [3, 4]], np.array([[1, 2], [3, 4]])],
    ),
    "an array of whole numbers": (
        np.array([1, 2]),
        [np.array([1.0, 2.0]), [1, 2], np.array([[1], [2]]), pd.Series([1, 2])],
    ),
    "an array of truth": (np.array([True, False]), [[True, False], torch.tensor([True, False])]),
    "an array of texts": (np.array(["a", "bc"]), [["a", "bc"], np.array(["a", "bc"], dtype=object)]),
    "an array of dates": (np.array(["2020-01-01"], dtype="M8[D]"), [np.array(["2020-01-01"], dtype="M8[s]")]),
    "a number in an array": (np.array(1.5), [1.5, np.array([1.5])]),
    "a tensor in a dict": ({"w": torch.tensor([1.0, 2.0])}, [{"w": np.array([1, 2])}, {"w": torch.tensor([1, 2])}]),
    "a frame": (
        FRAME,
        [FRAME[["age", "score", "name"]], FRAME.astype({"age": float}), FRAME.astype({"name": "category"})],
    ),
    "an empty frame": (FRAME[:0], [FRAME[:0]]),
    "a grouped frame": (FRAME.groupby(["name", "age"]).sum(), [FRAME.groupby(["name", "age"]).sum()]),
    "a series": (SERIES, [SERIES.rename("other"), SERIES.astype("float32")]),
}


@pytest.mark.parametrize(
    ("want", "got"), [pytest.param(want, got, id=name) for name, (want, all_got) in RIGHT.items() for got in all_got]
)
def test_difference_accepts_right_answer_in_other_types(want: Any, got: Any) -> None:
    assert difference_sentence(got, want) == ""


WRONG = {
    "truth for a number": (True, 1, "the result is a truth value, but a whole number was expected."),
    "truth for a real number": (True, 1.0, "the result is a truth value, but a number was expected."),
    "a number for truth": (1, True, "the result is a number, but a truth value (True or False) was expected."),
    "the other truth": (False, True, "the result is not right."),
    "a text for a number": ("3", 3, "the result is a text of 1 character, but a whole number was expected."),
    "nothing for a text": (None, "a", "the result is None, but a text was expected."),
    "something for nothing": ([], None, "the result is an empty list, but None was expected."),
    "one more": (1_000_001, 1_000_000, "the result is not the right number."),
    "one more of a huge number": (10**300 + 1, 10**300, "the result is not the right number."),
    "a huge number as a float": (1e300, 10**300, "the result is not the right number."),
    "a real number": (1.25, 1.5, "the result is off by about 0.2."),
    "a huge number for a real one": (
        10**4000,
        1.5,
        "the result is infinity where a number was expected.",
    ),
    "NaN": ([1.0, math.nan], [1.0, 2.0], "result[1] is NaN where a number was expected."),
    "capital letters": ("ada", "Ada", "the result has the right letters, but wrong upper or lower case."),
    "a line break": ("Ada\n", "Ada", "the result is right except for spaces or line breaks at its beginning or end."),
    "spaces": ("A da", "Ada", "the result is right except for spaces or line breaks."),
    "another letter": ("Adb", "Ada", "the result is a text of 3 characters, and character 3 is the first wrong one."),
    "too short": ("Ad", "Ada", "the result is a text of 2 characters: it begins right, but ends too early."),
    "too long": ("Adam", "Ada", "the result is a text of 4 characters: it begins right, but goes on for too long."),
    "bytes": (b"ab", b"ac", "the result is not right."),
    "text for bytes": ("ab", b"ab", "the result is a text of 2 characters, but a bytes object was expected."),
    "too few": (
        ["a"],
        ["a", "b"],
        "the result is a list of 1 item (a text), but a list of 2 items (each a text) was expected.",
    ),
    "a wrong item": (
        ["a", ["b"]],
        ["a", ["c"]],
        "result[1][0] is a text of 1 character, and character 1 is the first wrong one.",
    ),
    "another order": ([2, 1, 3], [1, 2, 3], "the result has the right items, but in another order."),
    "a set for a list": ({1, 2}, [1, 2], "the result is a set of 2, but a list was expected."),
    "a list for a set": ([1, 2], {1, 2}, "the result is a list of 2 items (each a number), but a set was expected."),
    "a missing key": ({"a": 1}, {"a": 1, "b": 2}, "the result lacks 1 key that it should have."),
    "another key": (
        {"a": 1, "c": 2},
        {"a": 1, "b": 2},
        "the result lacks 1 key that it should have, and has 1 key that it should not have: 'c'.",
    ),
    "truth as a key": (
        {True: 1},
        {1: 1},
        "the result lacks 1 key that it should have, and has 1 key that it should not have: True.",
    ),
    "a wrong value": ({"a": [1, 2]}, {"a": [1, 3]}, "result['a'][1] is not the right number."),
    "a wrong number in a dict": (
        {"a": 1.0, "b": 2.0},
        {"a": 1.0, "b": 2.5},
        "result['b'] is the first wrong number. The largest error is about 0.5.",
    ),
    "a list for a dict": ([], {}, "the result is an empty list, but a dict was expected."),
    "a set": (
        {1, 2, 3},
        {1, 4},
        "the result lacks 1 item that it should have and has 2 items that it should not have.",
    ),
    "truth in a set": (
        {True},
        {1},
        "the result lacks 1 item that it should have and has 1 item that it should not have.",
    ),
    "shape": (np.zeros((2, 3)), np.zeros((3, 2, 1)), "the result has shape (2, 3), but (3, 2, 1) was expected."),
    "transposed": (
        np.zeros((2, 3)),
        np.zeros((3, 2)),
        "the result has shape (2, 3), but (3, 2) was expected. It looks transposed.",
    ),
    "a number in an array": (
        np.array([1.0, 2.5]),
        np.array([1.0, 2.0]),
        "result[1] is the first wrong number. The largest error is about 0.5.",
    ),
    "a whole number in an array": (
        np.array([1, 10**6]),
        np.array([1, 10**6 + 1]),
        "result[1] is the first wrong number.",
    ),
    "a large one in an array": (np.array([2**60]), np.array([2**60 + 1]), "result[0] is the first wrong number."),
    "truth in an array": (np.array([True]), np.array([1]), "the result holds truth values, but numbers were expected."),
    "numbers for texts": (np.array([1]), np.array(["1"]), "the result holds numbers, but texts were expected."),
    "a text in an array": (np.array(["a", "b"]), np.array(["a", "c"]), "result[1] is the first wrong entry."),
    "a dict for an array": ({}, np.zeros(3), "the result is a dict with 0 keys, but a numpy array was expected."),
    "a number for an array": (1.0, np.zeros(3), "the result is a number, but a numpy array was expected."),
    "a missing column": (FRAME[["name", "age"]], FRAME, "the result lacks 1 column that it should have."),
    "another column": (
        FRAME.rename(columns={"age": "AGE"}),
        FRAME,
        "the result lacks 1 column that it should have, and has 1 column that it should not have: 'AGE'.",
    ),
    "a missing row": (
        FRAME[:1],
        FRAME,
        "the result is a DataFrame of 1 row and 3 columns, but a DataFrame of 2 rows and 3 columns was expected.",
    ),
    "the index": (FRAME.set_index(pd.Index([1, 2])), FRAME, "result.index[0] is the first wrong number."),
    "a wrong cell": (FRAME.assign(age=[36, 42]), FRAME, "result['age'][1] is the first wrong number."),
    "a wrong word": (FRAME.assign(name=["Ada", None]), FRAME, "result['name'][1] is None, but a text was expected."),
    "a series for a frame": (
        FRAME["age"],
        FRAME,
        "the result is a Series of 2 rows, but a pandas DataFrame was expected.",
    ),
    "a list for a frame": (
        [1],
        FRAME,
        "the result is a list of 1 item (a number), but a pandas DataFrame was expected.",
    ),
    "a wrong series": (SERIES + 1, SERIES, "result[0] is the first wrong number. The largest error is about 1."),
    "a list for a series": (
        [1.5, 2.5],
        SERIES,
        "the result is a list of 2 items (each a number), but a pandas Series was expected.",
    ),
}


@pytest.mark.parametrize(("got", "want", "sentence"), WRONG.values(), ids=WRONG.keys())
def test_difference_describes_wrong_answer(got: Any, want: Any, sentence: str) -> None:
    assert difference_sentence(got, want) == sentence


def test_difference_never_tells_the_expected_answer() -> None:
    secret = "tomorrow"
    for got in ("today", "tomorroW", "tomorrow ", 3, [secret[:3]], {"a": 1}, None):
        for want in (secret, [secret, secret], {secret: secret}, {secret}, np.array([secret]), pd.Series([secret])):
            found = difference(encoded_and_decoded(got), encoded_and_decoded(want), TOLERANCE)
            assert found
            assert secret not in repr(found)


def test_strict_comparison_tells_arrays_from_lists() -> None:
    want = np.array([1.0, 2.0])
    assert difference([1.0, 2.0], want, TOLERANCE, strict=True)
    assert difference(np.array([1.0, 2.0]), want, TOLERANCE, strict=True) is None
    found = difference(want, [1.0, 2.0], TOLERANCE, strict=True)
    assert found
    assert found.kind == Kind.TYPE


def test_results_of_the_course_are_not_compared_in_kind() -> None:
    """Nothing that the course expects is compared in kind."""
    functions = [one for exercise in EXERCISES.values() for one in exercise.functions if one.form is FUNCTION]
    assert len(functions) > 5
    for function in functions:
        assert not any(map(is_plain, AnswerKey(function, function.sample()[:2]).expected)), function.entry


@pytest.mark.parametrize("value", ["NaN", True, {"a": 1.0}, {1}, frozenset(), b"a", FRAME, SERIES, np.array("a")])
def test_judge_when_tensor_is_expected_names_another_type(value: Any) -> None:
    exercise = EXERCISES[3]
    cases = exercise.sample()[:2]
    verdict = judge(exercise, cases, [Returned(encoded_and_decoded(value), list(case.inputs)) for case in cases])
    assert verdict.credit == 0
    kind = "str" if isinstance(value, np.ndarray) else type(value).__name__
    assert f"Your function returned a value of type {kind}." in verdict.sentences


# --- the channel -----------------------------------------------------------------------------------------------------


KEYS = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=9) | st.binary(max_size=5),
    lambda keys: st.lists(keys, max_size=3).map(tuple),
    max_leaves=4,
)
LEAVES = KEYS | st.floats() | st.sets(KEYS, max_size=4) | st.frozensets(KEYS, max_size=4)
VALUES = st.recursive(
    LEAVES,
    lambda inner: (
        st.lists(inner, max_size=4) | st.lists(inner, max_size=4).map(tuple) | st.dictionaries(KEYS, inner, max_size=4)
    ),
    max_leaves=12,
)
DTYPES = st.sampled_from([*values.NUMBERS, *values.TIMES])


@pytest.mark.slow
@settings(max_examples=300, deadline=None, suppress_health_check=list(HealthCheck), derandomize=True)
@given(VALUES)
def test_values_cross_the_channel_unchanged(value: Any) -> None:
    back = encoded_and_decoded(value)
    if isinstance(back, Unusable) or "Unusable" in repr(back):
        assert "without end" in repr(back)  # too deep
    else:
        assert repr(back) == repr(value) or identical(back, value)
        assert difference(back, encoded_and_decoded(value), TOLERANCE) is None


@pytest.mark.slow
@settings(max_examples=100, deadline=None, derandomize=True)
@given(dtype=DTYPES, shape=st.lists(st.integers(0, 3), max_size=3), content=st.binary(min_size=216, max_size=216))
def test_channel_returns_arrays_bit_for_bit(dtype: str, shape: list[int], content: bytes) -> None:
    count = math.prod(shape)
    flat = np.frombuffer(content, dtype=np.uint8)
    array = (flat > 99)[:count] if dtype == "|b1" else flat.view(dtype)[:count]
    array = array.reshape(shape)
    back = encoded_and_decoded(array)
    assert back.dtype == array.dtype
    assert back.shape == array.shape
    assert back.tobytes() == array.tobytes()


FRAMES = {
    "words and numbers": FRAME,
    "dates": pd.DataFrame({"d": pd.to_datetime(["2020-01-01", None])}),
    "categories": pd.DataFrame({"c": pd.Categorical(["a", "b", "a"])}),
    "missing whole numbers": pd.DataFrame({"n": pd.array([1, None], dtype="Int64")}),
    "several levels": FRAME.groupby(["name", "age"]).agg({"score": ["sum", "max"]}),
    "no columns": pd.DataFrame(index=[1, 2, 5]),
    "an index with a name": FRAME.set_index("name"),
    "the same name twice": pd.concat([FRAME["age"], FRAME["age"]], axis=1),
}


@pytest.mark.parametrize("frame", FRAMES.values(), ids=FRAMES.keys())
def test_decode_with_pandas_returns_the_frame_of_the_author(frame: pd.DataFrame) -> None:
    tree, tensors = values.encode([frame, frame.iloc[:, 0] if len(frame.columns) else None])
    got, column = decode(json.loads(json.dumps(tree)), tensors, pandas=True)
    pd.testing.assert_frame_equal(got, frame, check_column_type=False)
    if column is not None:
        pd.testing.assert_series_equal(column, frame.iloc[:, 0])
    assert isinstance(encoded_and_decoded(frame), Table)


@pytest.mark.slow
def test_judge_and_decoder_do_not_import_pandas() -> None:
    code = (
        "import sys; from grader.sandbox import decoder as r; import grader.judging.judge;"
        "r.plain([{'a': 1}, {2}]); r.decode({'table': [['a', {'list': [1]}, 'int64']], 'index': [None, {'list': [0]},"
        " 'int64']}, {}); print('pandas' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"


def test_inputs_that_crossed_the_channel_are_identical() -> None:
    for value in (FRAME, SERIES, {1: {2}}, np.array(["a", "bc"]), np.float32(1.5), 10**99, "é" * 999, b"a", FRAME[:0]):
        assert identical([encoded_and_decoded(value)], [value])
    assert not identical(encoded_and_decoded(FRAME), FRAME.assign(age=0))
    assert not identical({1}, {True})
    assert not identical({1}, {1.0})
    assert not identical(np.array([1]), np.array([1.0]))
    assert not identical({"a": [1]}, {"a": [2]})


def test_devices_finds_tensors_in_dicts() -> None:
    tree, _ = values.encode({"a": [{"b": torch.zeros(1)}]})
    assert devices(tree) == {"cpu"}


# --- a sandbox that sends whatever it likes --------------------------------------------------------------------------


def table(columns: Any, index: Any) -> dict[str, Any]:
    return {"table": columns, "index": index}


CELLS = {"list": [1, 2]}
FORGED: dict[str, tuple[Any, dict[str, torch.Tensor]]] = {
    "a whole number beyond the bound": (2**53, {}),
    "digits without end": ({"large": "f" * 4000}, {}),
    "no digits": ({"large": "xyz"}, {}),
    "digits with an underscore": ({"large": "_"}, {}),
    "a text without end": ("x" * 200_000, {}),
    "bytes that are none": ({"bytes": "0g"}, {}),
    "a dict that is none": ({"dict": [[1]]}, {}),
    "a list as a key": ({"dict": [[{"list": []}, 1]]}, {}),
    "a dict as a key": ({"dict": [[{"tuple": [{"dict": []}]}, 1]]}, {}),
    "an array as a key": (
        {"set": [{"array": "<f8", "shape": [], "bytes": "0"}]},
        {"0": torch.zeros(8, dtype=torch.uint8)},
    ),
    "an array of objects": ({"array": "|O", "shape": [1], "bytes": "0"}, {"0": torch.zeros(8, dtype=torch.uint8)}),
    "an array of records": ({"array": "<f8,O", "shape": [1], "bytes": "0"}, {"0": torch.zeros(8, dtype=torch.uint8)}),
    "a shape that does not fit": (
        {"array": "<f8", "shape": [2**40, 0], "bytes": "0"},
        {"0": torch.zeros(0, dtype=torch.uint8)},
    ),
    "a shape of truth": ({"array": "<f8", "shape": [True], "bytes": "0"}, {"0": torch.zeros(8, dtype=torch.uint8)}),
    "a shape below zero": ({"array": "<f8", "shape": [-1], "bytes": "0"}, {"0": torch.zeros(8, dtype=torch.uint8)}),
    "half a number": ({"array": "<f8", "shape": [1], "bytes": "0"}, {"0": torch.zeros(7, dtype=torch.uint8)}),
    "floats for bytes": ({"array": "<f8", "shape": [1], "bytes": "0"}, {"0": torch.zeros(1)}),
    "no such tensor": ({"array": "<f8", "shape": [1], "bytes": "9"}, {}),
    "a scalar that does not fit": ({"scalar": "|u1", "is": 300}, {}),
    "a scalar of objects": ({"scalar": "|O", "is": 1}, {}),
    "texts that are numbers": ({"texts": [1], "shape": [1]}, {}),
    "texts that make all others long": ({"texts": ["x" * 90_000, *[""] * 900], "shape": [901]}, {}),
    "a table of other lengths": (table([["a", {"list": [1]}, ""]], [None, CELLS, ""]), {}),
    "a table with lists in it": (table([["a", {"list": [{"list": []}]}, ""]], [None, {"list": [1]}, ""]), {}),
    "a table without labels": (table([["a", CELLS, ""]], []), {}),
    "a table with a list as a name": (table([[{"list": []}, CELLS, ""]], [None, CELLS, ""]), {}),
    "a table with a number of columns": ({"table": 3, "index": [None, CELLS, ""]}, {}),
    "a matrix in a table": (table([["a", {"texts": ["a"], "shape": [1, 1]}, ""]], [None, {"list": [1]}, ""]), {}),
    "a series of two columns": ({"series": [["a", CELLS, ""]] * 2, "index": [None, CELLS, ""]}, {}),
    "nothing known": ({"pickle": "gASVKA=="}, {}),
    "a list": ([1, 2], {}),
}


@pytest.mark.parametrize(("tree", "tensors"), FORGED.values(), ids=FORGED.keys())
def test_values_that_our_code_never_sends_are_unusable(tree: Any, tensors: dict[str, torch.Tensor]) -> None:
    assert isinstance(decode(tree, tensors), Unusable)


def test_byte_that_is_no_truth_value_is_read_as_true() -> None:
    tree = {"array": "|b1", "shape": [3], "bytes": "0"}
    read = decode(tree, {"0": torch.tensor([0, 1, 255], dtype=torch.uint8)})
    assert read.tobytes() == b"\x00\x01\x01"


def odd_tree(chance: random.Random, depth: int = 3) -> Any:
    """A tree as a sandbox might make it, with something odd in it."""
    if depth == 0 or chance.random() < 0.3:
        return chance.choice([None, True, 0, -1, 2**53, 1e999, math.nan, "", "0", "\ud800", "<f8", [], {}, [[]]])
    kinds = [
        "list",
        "tuple",
        "dict",
        "set",
        "frozenset",
        "large",
        "bytes",
        "array",
        "texts",
        "table",
        "series",
        "index",
        "scalar",
        "is",
        "shape",
        "tensor",
        "unusable",
    ]
    if chance.random() < 0.5:
        return [odd_tree(chance, depth - 1) for _ in range(chance.randrange(4))]
    return {chance.choice(kinds): odd_tree(chance, depth - 1) for _ in range(chance.randrange(1, 4))}


@pytest.mark.slow
@settings(max_examples=10, deadline=None, derandomize=True)
@given(seed=st.integers(0, 2**32))
def test_decode_and_judge_when_tree_is_random_do_not_fail(seed: int) -> None:
    chance = random.Random(seed)
    keys = [key_of(want) for want in (3, 1.5, False, "a", [7], {"a": 1}, {7}, np.array([7, 8]), FRAME, SERIES)]
    for _ in range(50):
        value = decode(odd_tree(chance, 4), {"0": torch.zeros(8, dtype=torch.uint8)})
        for key in keys:
            verdict = judge(key.exercise, key.cases[:1], [Returned(value, [])])
            assert verdict.credit < 1
            json.dumps(verdict.to_json()).encode()


def key_of(want: Any) -> AnswerKey:
    exercise = exercise_of(lambda: want, [()])
    return AnswerKey(exercise, exercise.sample())


# --- exercises -------------------------------------------------------------------------------------------------------


def exercise_of(
    reference: Callable[..., Any], inputs: Sequence[tuple[Any, ...]], *misconceptions: Misconception, **more: Any
) -> Exercise:
    """An exercise with a case for each of these inputs."""
    cases = [Case(f"case {number}", "", lambda _, it=it: it) for number, it in enumerate(inputs)]  # type: ignore[misc]
    about: dict[str, Any] = {"number": 99, "assignment": "plain", "title": "Plain", "entry": "f"}
    return UnwrittenExercise(**about, solution=reference, cases=cases, mistakes=misconceptions, **more)


def judged(exercise: Exercise, student: Callable[..., Any]) -> Verdict:
    """As a sandbox would answer."""
    cases = exercise.sample()

    def answer(inputs: tuple[Any, ...]) -> Answer:
        given = list(fresh(inputs))
        try:
            return Returned(encoded_and_decoded(student(*given)), encoded_and_decoded(given))
        except Exception as error:
            return Raised(type(error).__name__)

    return judge(exercise, cases, [answer(case.inputs) for case in cases])


def counts(text: str, *, prepare: Callable[[str], str] = str.lower) -> dict[str, int]:
    found: dict[str, int] = {}
    for word in prepare(text).split():
        found[word] = found.get(word, 0) + 1
    return found


COUNTS = exercise_of(
    counts,
    [("the cat the dog",), ("A a b",), ("one",), ("x " * 500,)],
    Misconception("capitals", "missing step", 0.75, "Capital letters count.", change={"prepare": str}),
    mistake("words only", lambda text: sorted(set(text.lower().split()))),
)
MATRIX = np.arange(6.0).reshape(2, 3)
KINDS: dict[str, tuple[Exercise, Callable[..., Any]]] = {
    "words": (exercise_of(str.upper, [("ab",), ("Cd e",)], mistake("title", str.title)), str.title),
    "counts": (COUNTS, lambda text: {word: text.split().count(word) for word in text.split()}),
    "a list in place of a dict": (COUNTS, lambda text: sorted(set(text.lower().split()))),
    "truth": (
        exercise_of(
            lambda n: n % 2 == 0, [(1,), (2,), (4,), (0,)], mistake("zero is odd", lambda n: n > 0 and n % 2 == 0)
        ),
        lambda n: bool(n) and not n % 2,
    ),
    "whole numbers": (
        exercise_of(math.factorial, [(5,), (30,), (0,)], mistake("sums", lambda n: sum(range(n + 1)))),
        lambda n: n * (n + 1) // 2,
    ),
    "sets": (
        exercise_of(lambda a, b: a & b, [({1, 2}, {2}), ({"a"}, {"b"})], mistake("either", lambda a, b: a | b)),
        lambda a, b: {*a, *b},
    ),
    "arrays": (
        exercise_of(lambda x: x.mean(axis=0), [(MATRIX,), (MATRIX.T,)], mistake("rows", lambda x: x.mean(axis=1))),
        lambda x: np.array([sum(row) / len(row) for row in x]),
    ),
    "arrays of truth": (
        exercise_of(lambda x: x > 2, [(MATRIX,), (MATRIX.T,)], mistake("two as well", lambda x: x >= 2)),
        lambda x: ~(x < 2),
    ),
    "nothing": (
        exercise_of(
            lambda d, k: d.get(k), [({"a": 1}, "a"), ({"a": 1}, "b")], mistake("zero", lambda d, k: d.get(k, 0))
        ),
        lambda d, k: (d or {}).get(k, 0),
    ),
    "frames": (
        exercise_of(
            lambda frame: frame.groupby("name", as_index=False)["age"].sum(),
            [(FRAME,), (pd.concat([FRAME, FRAME]),)],
            mistake("index", lambda frame: frame.groupby("name")[["age"]].sum()),
        ),
        lambda frame: frame.groupby("name")[["age"]].agg("sum"),
    ),
}


@pytest.mark.parametrize(("exercise", "student"), KINDS.values(), ids=KINDS.keys())
def test_judge_of_plain_values_names_the_misconception(exercise: Exercise, student: Callable[..., Any]) -> None:
    assert judged(exercise, exercise.reference).right
    verdict = judged(exercise, student)
    assert verdict.reason == Reason.MISCONCEPTION, verdict.sentences
    assert len(verdict.misconceptions) == 1
    assert 0 < verdict.credit < 1


def test_misconception_that_differs_in_one_case_is_not_named() -> None:
    verdict = judged(COUNTS, lambda text: counts(text, prepare=str) if len(text) < 9 else {})
    assert not verdict.misconceptions
    assert verdict.credit == 0
    assert "The result lacks" in verdict.sentences[0]


def sorts(numbers: list[int]) -> list[int]:
    return sorted(numbers)


SORTS = exercise_of(sorts, [([3, 1, 2],), ([5, 4],), ([2, 9, 1, 7],)], mistake("unsorted", list))
WITHOUT = {
    "the input": (SORTS, lambda numbers: numbers, "returns one of its arguments unchanged"),
    "something empty": (SORTS, lambda _: [], "In every hidden case, your function returns the same"),
    "an empty dict": (COUNTS, lambda _: {}, "In every hidden case, your function returns the same"),
    "a word": (KINDS["words"][0], lambda _: "AB", "In every hidden case, your function returns the same"),
    "a truth value": (KINDS["truth"][0], lambda _: True, "In every hidden case, your function returns the same"),
    "zeros": (KINDS["arrays"][0], lambda x: np.zeros(x.shape[1]), ""),
}


@pytest.mark.parametrize(("exercise", "student", "sentence"), WITHOUT.values(), ids=WITHOUT.keys())
def test_trivial_answers_earn_nothing(exercise: Exercise, student: Callable[..., Any], sentence: str) -> None:
    verdict = judged(exercise, student)
    assert verdict.credit == 0
    if verdict.reason != Reason.MISCONCEPTION:  # which is told all the same
        assert sentence in " ".join(verdict.sentences)


def test_options_among_the_arguments_are_no_gradients() -> None:
    """Whether an answer is an argument as it is, is asked of each argument."""
    assert EXACT.finding([1.0, 2.0], {"causal": True}, TOLERANCE)
    assert EXACT.finding({"causal": True}, {"causal": True}, TOLERANCE)


def test_wrong_answer_that_is_often_the_same_is_not_called_constant() -> None:
    """Both samples of a case are alike, as truth values of the same kind of input are."""
    verdict = judged(KINDS["truth"][0], lambda n: n != 4 and n % 2 == 0)
    assert verdict.reason == Reason.WRONG
    assert "not right" in verdict.sentences[0]


CHANGED: dict[str, tuple[Callable[[Any], Any], Callable[[Any], Any], Any]] = {
    "a list": (sorted, lambda x: x.sort() or x, [3, 1, 2]),
    "a dict": (len, lambda x: x.pop("a") * 0 + 2, {"a": 1, "b": 2}),
    "a set": (len, lambda x: len(x) + int(x.discard(1) or 0), {1, 2}),
    "an array": (lambda x: x + 1, lambda x: x.__iadd__(1), np.arange(3)),
    "a frame": (lambda x: len(x.columns) + 1, lambda x: x.insert(0, "new", 0) or len(x.columns), FRAME),
}


@pytest.mark.parametrize(("reference", "student", "given"), CHANGED.values(), ids=CHANGED.keys())
def test_judge_when_inputs_are_modified_says_so(
    reference: Callable[[Any], Any], student: Callable[[Any], Any], given: Any
) -> None:
    exercise = exercise_of(reference, [(given,)], mistake("changes its input", student))
    assert judged(exercise, reference).right
    assert judged(exercise, student).reason == Reason.INPUT_MODIFIED


def test_misconception_that_changes_its_inputs_changes_a_copy() -> None:
    exercise = exercise_of(sorts, [([3, 1, 2],)], mistake("changes", lambda x: x.clear() or []))
    key = AnswerKey(exercise, exercise.sample())
    assert key[0].compared_answer(exercise.mistakes) == Returned([], [[3, 1, 2]])
    assert key.expected[0] == [1, 2, 3]


def test_misconception_that_writes_into_a_tensor_changes_a_copy() -> None:
    """Or all right answers to the case would be wrong from then on."""
    exercise = exercise_of(lambda x: x.exp(), [(torch.zeros(3),)], mistake("shifted", lambda x: x.add_(1).exp()))
    key = AnswerKey(exercise, exercise.sample())
    shifted = key[0].compared_answer(exercise.mistakes)
    assert isinstance(shifted, Returned)
    assert shifted.value.tolist() == pytest.approx([math.e] * 3)
    assert key.cases[0].inputs[0].tolist() == [0, 0, 0]


def test_input_that_a_layer_gave_is_copied_with_and_without_gradients() -> None:
    given = torch.nn.Linear(2, 2)(torch.ones(1, 2))
    for tensor in (given, given.detach()):
        (copied,) = fresh([tensor])
        assert copied.equal(tensor)
        assert copied.requires_grad == tensor.requires_grad
        assert copied.is_leaf


def test_reference_with_an_answer_that_cannot_be_compared_raises() -> None:
    with pytest.raises(CourseError, match="type object"):
        judged(exercise_of(lambda: object(), [()]), lambda: 1)


def test_rounded_numbers_in_a_list_are_called_rounded() -> None:
    exercise = exercise_of(lambda x: [math.sqrt(n) for n in x], [([2.0, 3.0],), ([5.0, 7.0],)])
    assert judged(exercise, lambda x: [round(math.sqrt(n), 2) for n in x]).reason == Reason.ROUNDED


def test_picture_of_an_array_shows_its_numbers() -> None:
    exercise = exercise_of(lambda x: x.T @ x, [(MATRIX,)], picture=pictures.numbers)
    (picture,) = judged(exercise, lambda x: x.T @ x + 1).pictures
    assert picture.numbers[0] == (10.0, 13.0, 16.0)
    frame = encoded_and_decoded(pd.DataFrame({"a": [1, 2], "b": [3.0, math.nan]}))
    shown = pictures.numbers(frame, ())
    assert shown
    assert shown.numbers == ((1.0, 3.0), (2.0, "NaN"))
    assert pictures.numbers(encoded_and_decoded(FRAME), ()) is None
    assert pictures.numbers({"a": 1}, ()) is None


@pytest.mark.parametrize("exercise", [COUNTS, SORTS, *(exercise for exercise, _ in KINDS.values())])
def test_line_search_takes_any_inputs(exercise: Exercise) -> None:
    """Nothing is asked for here: every version is lost on the way."""
    key = AnswerKey(exercise, exercise.sample())
    search = LineSearch(key, lambda texts, _: [Raised("ValueError")] * len(texts), "cpu")
    assert search.explain("def f(*given):\n    x = 1 + 2\n    return x * 3 - 4 / 5") is None
    assert search.tried > 0


# --- a real sandbox --------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def sandbox() -> Iterator[SandboxProcess]:
    process = SandboxProcess({}, Limits(cell=20, case=20))
    yield process
    process.close()


def verdict_from_sandbox(sandbox: SandboxProcess, exercise: Exercise, source: str) -> Verdict:
    assert not sandbox.run_cell(source, 20).error
    cases = exercise.sample()
    return judge(exercise, cases, list(sandbox.answers("f", cases, {})))


SOLUTIONS = {
    "words": "def f(text): return ''.join(letter.upper() for letter in text)",
    "counts": "from collections import Counter\ndef f(text): return Counter(text.lower().split())",
    "truth": "import numpy as np\ndef f(n): return np.bool_(n % 2 == 0)",
    "whole numbers": "def f(n): return n * f(n - 1) if n else 1",
    "sets": "def f(a, b): return frozenset(x for x in a if x in b)",
    "arrays": "import numpy as np\ndef f(x): return np.einsum('ij->j', x) / len(x)",
    "arrays of truth": "def f(x): return [[bool(y > 2) for y in row] for row in x]",
    "nothing": "def f(d, k):\n    if k in d:\n        return d[k]",
    "frames": "import pandas as pd\ndef f(t): return t.pivot_table(['age'], 'name', aggfunc='sum').reset_index()",
}


@pytest.mark.parametrize(("kind", "source"), SOLUTIONS.items(), ids=SOLUTIONS.keys())
def test_right_student_code_in_another_style_is_right_in_a_sandbox(
    sandbox: SandboxProcess, kind: str, source: str
) -> None:
    verdict = verdict_from_sandbox(sandbox, KINDS[kind][0], source)
    assert verdict.right, verdict.sentences


# With one case, nothing is constant: so what differs is told.
ONE_TEXT = exercise_of(counts, [("the cat the dog",)])
HOSTILE = {
    "a dict of itself": ("x = {}\nx['a'] = x\ndef f(*_): return x", "without end"),
    "a dict that lies": (
        "class D(dict):\n    def items(self): return [('the', 2), ('cat', 1), ('dog', 1)]\ndef f(*_): return D(a=1)",
        "lacks",
    ),
    "a dict that has no end": (
        "import itertools\nclass D(dict):\n    items = __iter__ = keys = lambda self: itertools.count()\n"
        "def f(*_): return D(a=1)",
        "lacks",
    ),
    "a million keys": ("def f(*_): return {n: n for n in range(10**6)}", "far too many items"),
    "a text that lies": (
        "class S(str):\n    __eq__ = lambda *_: True\n    __hash__ = str.__hash__\n    __len__ = lambda _: 10**9\n"
        "def f(*_): return S('a')",
        "text of 1 character",
    ),
    "a number that lies": (
        "class N(int):\n    __eq__ = lambda *_: True\n    __int__ = __index__ = lambda _: 7\ndef f(*_): return N(3)",
        "is a number",
    ),
    "a class that lies": ("class L:\n    __class__ = dict\ndef f(*_): return L()", "a value of type L"),
    "a name of a thousand letters": ("L = type('L' * 9999, (), {})\ndef f(*_): return L()", "a value of type LLLL"),
    "a number of a million digits": ("def f(*_): return 1 << 10**7", "far too large"),
    "a text of a gigabyte": ("def f(*_): return 'x' * 2**28", "far too long"),
    "letters that take much": ("def f(*_): return ['\U0001f600' * 90_000] * 9", "far too much text"),
    "objects": ("import numpy as np\ndef f(*_): return np.array([object()])", "an array of objects"),
    "an array without end": (
        "import numpy as np\ndef f(*_): return np.broadcast_to(1.0, (2**15, 2**15))",
        "far too many numbers",
    ),
    "texts without end": (
        "import numpy as np\ndef f(*_): return np.broadcast_to('x', (2**15, 2**15))",
        "far too many texts",
    ),
    "an array that lies": (
        "import numpy as np\nclass A(np.ndarray):\n    shape = (3,)\ndef f(*_): return np.zeros(3).view(A)",
        "a value of type A",
    ),
    "a frame of objects": (
        "import pandas as pd\ndef f(*_): return pd.DataFrame({'a': [object()]})",
        "a table with a value of type object",
    ),
    "a frame in a frame": (
        "import pandas as pd\nt = pd.DataFrame({'a': [1]})\nt2 = pd.DataFrame({'a': [t]})\ndef f(*_): return t2",
        "a value of type DataFrame",
    ),
    "a frame that lies": (
        "import pandas as pd\nclass F(pd.DataFrame): pass\ndef f(*_): return F({'a': [1]})",
        "a value of type F",
    ),
    "a list as a name": (
        "import pandas as pd\nclass K(list):\n    __hash__ = lambda _: 1\ndef f(*_): return pd.Series([1], name=K())",
        "type list",
    ),
    "a key that lies": (
        "class K:\n    __hash__ = lambda _: 1\ndef f(*_): return {K(): 1}",
        "a dict with a value of type K",
    ),
    "a generator": ("def f(*_): return (n for n in [1])", "a value of type generator"),
    "the keys": ("def f(*_): return {1: 2}.keys()", "a value of type dict_keys"),
    "a lie about pandas": (
        "import sys, types\nsys.modules['pandas'] = types.ModuleType('pandas')\ndef f(*_): return object()",
        "",
    ),
    "half of an emoji": ("def f(*_): return '\\ud83d'", "text of 1 character"),
}


@pytest.mark.parametrize(("source", "sentence"), HOSTILE.values(), ids=HOSTILE.keys())
def test_sandbox_answer_when_hostile_gets_a_clear_verdict(source: str, sentence: str) -> None:
    process = SandboxProcess({}, Limits(cell=20, case=20))
    try:
        verdict = verdict_from_sandbox(process, ONE_TEXT, source)
    finally:
        process.close()
    assert verdict.credit == 0
    assert sentence in " ".join(verdict.sentences)
    json.dumps(verdict.to_json()).encode()


def test_long_text_and_a_frame_reach_the_student_whole(sandbox: SandboxProcess) -> None:
    text = "Zoë said:\n\t“é”\n" * 900
    exercise = exercise_of(
        lambda text, table, more: (text, len(table), more), [(text, FRAME, {1: {"a"}, None: (b"x",)})]
    )
    verdict = verdict_from_sandbox(sandbox, exercise, "def f(text, table, more): return text, table.shape[0], more")
    assert verdict.right, verdict.sentences


# --- functions of earlier exercises ----------------------------------------------------------------------------------


def stand_in_result(function: Callable[..., Any], *arguments: Any) -> Any:
    tree, tensors = values.encode([list(arguments), [], None])
    frame = wire.Frame({"call": "f", "arguments": tree, "names": []}, tensors)
    header, found = stand_ins.compute(frame, {"f": function})
    return decode(header["value"], found) if "value" in header else header["refused"]


def test_standin_function_takes_only_short_inputs() -> None:
    assert stand_in_result(counts, "a b a") == {"a": 2, "b": 1}
    assert stand_in_result(lambda d: {key: len(value) for key, value in d.items()}, {1: {"a"}, (2,): []}) == {
        1: 1,
        (2,): 0,
    }
    assert "only takes short inputs" in stand_in_result(counts, "a" * 2000)
    assert "only takes short inputs" in stand_in_result(range, 10**9)
    assert "only takes short inputs" in stand_in_result(range, np.int64(10**9))
    assert "only takes short inputs" in stand_in_result(list, [10**9])
    assert "only takes short inputs" in stand_in_result(list, {10**9: 1})
    assert "only takes short inputs" in stand_in_result(len, FRAME)
    assert "only takes short inputs" in stand_in_result(len, object())
