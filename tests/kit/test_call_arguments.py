"""What is said when check, hint and check_number are not called with the number of an exercise or an answer."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import pytest
import torch

from grader.kit.checking import Checks, Entry, Number

CHECKS = Checks(
    *(Entry(number, f"exercise_{number}", list) for number in (9, 10, 11)),
    Number("number of weights", 787_968, {3: "Only three?"}),
)
NOT_ONE = "takes the number of one exercise, such as"
ODD: list[tuple[tuple[Any, ...], str]] = [
    (("9",), "Write {0}(9), without quotes."),
    ((" 9",), "Write {0}(9), without quotes."),
    ((9.0,), "Write {0}(9), without a point."),
    ((9.5,), f"{{0}} {NOT_ONE} {{0}}(9)."),
    ((True,), f"{{0}} {NOT_ONE} {{0}}(9)."),
    (([9, 10],), f"{{0}} {NOT_ONE} {{0}}(9)."),
    ((9, 10), f"{{0}} {NOT_ONE} {{0}}(9)."),
    ((torch.tensor([9, 10]),), f"{{0}} {NOT_ONE} {{0}}(9)."),
    ((len,), f"{{0}} {NOT_ONE} {{0}}(9)."),
    (("softmax",), f"{{0}} {NOT_ONE} {{0}}(9)."),
]


def printed_words(capsys: pytest.CaptureFixture[str]) -> str:
    out, err = capsys.readouterr()
    assert err == ""
    return " ".join(out.split())


@pytest.mark.parametrize("function", ["check", "hint"])
@pytest.mark.parametrize(("arguments", "sentence"), ODD)
def test_check_with_odd_arguments_says_how_to_name_an_exercise(
    function: str, arguments: tuple[Any, ...], sentence: str, capsys: pytest.CaptureFixture[str]
) -> None:
    getattr(CHECKS, function)(*arguments)
    assert printed_words(capsys) == sentence.format(function)


def test_hint_without_a_number_asks_for_one(capsys: pytest.CaptureFixture[str]) -> None:
    CHECKS.hint()
    assert printed_words(capsys) == "hint takes the number of one exercise, such as hint(9)."


@pytest.mark.parametrize("number", [1, 99, -9, 0])
def test_check_of_another_notebooks_exercise_says_so(number: int, capsys: pytest.CaptureFixture[str]) -> None:
    CHECKS.check(number)
    assert printed_words(capsys).startswith(
        f"These checks are for exercises 9 to 11, and not for {number}. If this notebook"
    )


@pytest.mark.parametrize(
    ("numbers", "exercises"), [((3,), "exercise 3"), ((1, 2, 5), "exercises 1, 2, 5"), ((), "numbers alone")]
)
def test_check_of_unknown_exercise_lists_the_exercises(
    numbers: tuple[int, ...], exercises: str, capsys: pytest.CaptureFixture[str]
) -> None:
    Checks(*(Entry(number, f"exercise_{number}", list) for number in numbers)).check(99)
    assert printed_words(capsys).startswith(f"These checks are for {exercises}, and not for 99.")


QUESTION = "number of weights"


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ((), "check_number takes a question, in quotes, and your number. This notebook has: number of weights."),
        (
            (787_968,),
            "check_number takes a question, in quotes, and your number. This notebook has: number of weights.",
        ),
        (
            ([QUESTION],),
            "check_number takes a question, in quotes, and your number. This notebook has: number of weights.",
        ),
        ((QUESTION,), "Still to do: replace None with your number (number of weights)."),
        ((QUESTION, "787968"), "Write your number without quotes and commas (number of weights)."),
        ((QUESTION, 787, 968), "Write your number without commas (number of weights)."),
        ((QUESTION, True), "Give one number, such as 3 or 3 * 10 (number of weights)."),
        ((QUESTION, [3, 4]), "Give one number, such as 3 or 3 * 10 (number of weights)."),
        ((QUESTION, 3j), "Give one number, such as 3 or 3 * 10 (number of weights)."),
        ((QUESTION, torch.ones(2)), "Give one number, such as 3 or 3 * 10 (number of weights)."),
        ((QUESTION, 10**400), "✗ inf is not right (number of weights). Try again, or unfold the answer below."),
        ((QUESTION, float("nan")), "✗ nan is not right (number of weights). Try again, or unfold the answer below."),
        ((QUESTION, torch.tensor(3)), "✗ 3.0 is not right (number of weights). Only three?"),
        ((QUESTION, Fraction(787_968)), "\x1b[32m✓\x1b[0m 787,968.0 is right (number of weights)."),
    ],
)
def test_check_number_with_odd_arguments_says_how_to_give_one(
    arguments: tuple[Any, ...], sentence: str, capsys: pytest.CaptureFixture[str]
) -> None:
    CHECKS.check_number(*arguments)
    assert printed_words(capsys) == sentence
