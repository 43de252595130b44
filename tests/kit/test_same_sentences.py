"""A check and a grade say the same sentence about the same code, and a check is no stricter."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from types import ModuleType
from typing import Any

import pytest
from checked_pieces import checks_of, said_by

from grader.kit.recognizing import TABLE
from grader.model import broken_rules
from support.our_course import EXERCISES
from support.records import Piece, pieces, records

IN_CI = 25  # one in so many pieces
# The sentences of rules, with anything in place of names and sizes.
CONSTANTS = [
    text for name, text in vars(broken_rules).items() if name.isupper() and isinstance(text, str) and text[-1] == "."
]
WITH_NAMES = [
    r"Your (function|forward) returned None: does every path through it end with a return statement\?",
    r"The result has numbers of type \w+, but \w+ was expected\.",
    r"No gradient reaches .+?: something on the way is detached, or not used\.",
    r"[\w.]+(?: and [\w.]+)* cannot be trained: requires_grad is False\.",
    r"Your module has no parameter",
    r"\w+ holds (?=\d+ modules?, but \d+ were asked for\.)",  # examples and cases ask for other numbers of heads
    r"[\w.]+ and [\w.]+ are one and the same parameter\. Make a new one for each\.",
    r"There is a parameter [\w.]+ where no bias was asked for\.",
    r"In a new module, .+? the same number everywhere\. Begin with random numbers\.",
]
SENTENCE = re.compile("|".join([*map(re.escape, CONSTANTS), *WITH_NAMES]))
# Of what a check says, what a grade may say in other words: it has read the text, or has other cases to speak of.
IN_OTHER_WORDS = {
    r"There is a parameter [\w.]+ where no bias was asked for\.": r"`__init__` never uses its arguments? .*`qkv_bias`",
    r"The result has numbers of type float32, but float64 was expected\.": r"right for float32 inputs, but not",
}


def sentences_in(text: str) -> set[str]:
    return {match[0] for match in SENTENCE.finditer(" ".join(text.split()))}


def is_in_other_words(sentence: str, grade: str) -> bool:
    return any(re.fullmatch(ours, sentence) and re.search(theirs, grade) for ours, theirs in IN_OTHER_WORDS.items())


def chunks() -> Iterator[Any]:
    """Parameters: a few pieces of each exercise for CI, and the others for `make proof`."""
    for number in EXERCISES:
        every = pieces(number)
        in_ci = every[::IN_CI]
        in_proof = [piece for piece in every if piece not in in_ci]
        yield pytest.param(number, in_ci, id=f"{number}-ci", marks=pytest.mark.slow)
        yield pytest.param(number, in_proof, id=f"{number}-proof", marks=pytest.mark.proof)


@pytest.mark.filterwarnings("ignore")  # of students' code
@pytest.mark.parametrize(("number", "chunk"), list(chunks()))
def test_check_and_grade_say_the_same_sentences(
    number: int, chunk: list[Piece], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(sys.modules, TABLE, ModuleType(TABLE))  # no mistake has a name
    checks = checks_of(EXERCISES[number].assignment, monkeypatch)
    problems = []
    for piece in chunk:
        graded, text = records(number)[piece.name], said_by(checks, piece, capsys)
        if "stopped with TimeoutError" in text:
            continue
        grade = " ".join(graded.sentences)
        of_check = {sentence for sentence in sentences_in(text) if not is_in_other_words(sentence, grade)}
        of_grade = sentences_in(grade)
        is_stricter = "✗" in text and graded.credit == 1
        # In other cases, something else may be wrong, of which one of the two says nothing.
        if is_stricter or (of_grade and not of_check <= of_grade and not graded.misconceptions):
            problems.append(f"{piece}: {text} | {graded.sentences}")
    assert problems == []
