"""The visible checks as students have them name a mistake only where grading names it, too, or names none."""

from __future__ import annotations

import re
import runpy
import sys
from pathlib import Path
from types import ModuleType

import pytest
from checked_pieces import checks_of, said_by

from grader.kit.checking import Checks
from grader.kit.recognizing import TABLE, FiguresByExample, fits
from grader.release import known_mistakes
from support.our_course import EXERCISES
from support.places import ROOT
from support.records import Piece, pieces, records
from support.solution_cells import from_notebook

pytestmark = pytest.mark.proof

OF_CHANCE = {15, 26}  # their numbers are drawn, so a check tells about shares and modes in its own words
AS_TRUE = {"2-real/d_default"}  # what the check says is true, and grading says where the number comes from


@pytest.fixture
def checks(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Checks:
    """The checks of the assignment that has this exercise, with the table from its release."""
    assignment = EXERCISES[request.getfixturevalue("number")].assignment
    table = ModuleType(TABLE)
    vars(table).update(runpy.run_path(str(ROOT / "release" / assignment / known_mistakes.FILE)))
    monkeypatch.setitem(sys.modules, TABLE, table)
    return checks_of(assignment, monkeypatch)


SPARSELY = {15: 4, 16: 3}  # one in so many pieces: their examples have 60,000 numbers, drawn eight times


@pytest.mark.filterwarnings("ignore")  # of students' code
@pytest.mark.parametrize("number", EXERCISES)
def test_check_names_only_mistakes_that_grading_names(
    number: int, checks: Checks, capsys: pytest.CaptureFixture[str]
) -> None:
    says_of = {
        one.name: " ".join(one.says.split()) for function in EXERCISES[number].functions for one in function.mistakes
    }
    named, asked = 0, 0
    for piece in pieces(number)[:: SPARSELY.get(number, 1)]:
        graded = records(number)[piece.name]
        if graded.reason == "no answer" or str(piece) in AS_TRUE:
            continue
        said = said_by(checks, piece, capsys)
        found = {says for says in says_of.values() if re.search(rf"✗ Exercise \d+: {re.escape(says)}", said)}
        expected = {says_of[name] for name in graded.misconceptions if name in says_of}
        assert not found or graded.credit < 1, piece
        assert not (found and graded.misconceptions) or found & expected, piece
        asked += len(expected) == len(graded.misconceptions) == 1
        named += len(expected) == len(graded.misconceptions) == 1 and found == expected
    assert number in OF_CHANCE or named >= asked / 2, f"{named} of {asked}"


UNSCALED = """def attention_scores(all_queries, all_keys):
    return [[(query.T @ key).item() for key in all_keys] for query in all_queries]
"""
NO_SOFTMAX = "def attention_weights(all_scores):\n    return [torch.tensor(row) for row in all_scores]\n"
INDEX_SWAPPED = """def weighted_sums(all_weights, all_values):  # stops where there are more keys than queries
    count = range(len(all_values))
    return [sum(all_weights[m][n] * all_values[m] for m in count) for n in range(len(all_weights))]
"""
SIX_WORDS = """def mask_then_renormalize(attn_weights):  # stops in an example with three words
    kept = attn_weights * torch.ones(6, 6).tril()
    return kept / kept.sum(dim=1, keepdim=True)


def causal_softmax(attn_scores, d_k):
    hidden = torch.ones(6, 6).triu(1).bool()
    return torch.softmax(attn_scores.masked_fill(hidden, -torch.inf) / d_k**0.5, dim=1)
"""
DROPS_ALWAYS = from_notebook()[16].replace("self.dropout(", "nn.functional.dropout(p=self.dropout.p, input=")
FROM_NOTEBOOK = "D = 4\n" + UNSCALED.replace(".item()", ".item() / D ** 0.5")


@pytest.mark.parametrize(
    ("number", "cell", "expected"),
    [
        (
            2,
            UNSCALED,
            "✗ Exercise 2: Your scores are not scaled. Divide each dot product by √D, where D is shape[0] of a query. "
            "With the notebook's queries and keys, result[0][0] is the first wrong number",
        ),
        (4, NO_SOFTMAX, "✗ Exercise 4: Your results are scores, not softmax weights. Take the softmax of each"),
        (5, INDEX_SWAPPED, "✗ Exercise 5: Output i uses the weights that all queries give to key i. Use the"),
        (14, SIX_WORDS, "✗ Exercise 14: Your code works for six words, as in the notebook, and for no other number."),
        (16, DROPS_ALWAYS, "✗ Exercise 16: Weights are dropped outside of training, too. Drop them only while"),
        (2, FROM_NOTEBOOK, "✗ Exercise 2: with two words of nine entries, result[0][0] is the first wrong number"),
    ],
)
def test_check_of_known_mistake_says_it_first(
    number: int, cell: str, expected: str, checks: Checks, capsys: pytest.CaptureFixture[str]
) -> None:
    assert said_by(checks, Piece(number, "a mistake", cell), capsys).startswith(expected)


def test_fits_when_all_examples_stop_proves_nothing() -> None:
    first, second = [(1.0, 0.5, 0.25, "[3]")], [(2.0, -0.5, 0.75, "[3]")]
    stopped: FiguresByExample = [["6b1f0a"], ["6b1f0a"]]
    assert not fits(stopped, stopped, [first, second])
    assert fits([first, stopped[1]], [first, stopped[1]], [first, second])
    assert not fits([first, ["another"]], [first, stopped[1]], [first, second])


@pytest.mark.parametrize("number", [4])
def test_check_when_two_mistakes_give_same_numbers_names_both(
    number: int, checks: Checks, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    (name, right, mistakes), *others = [one for one in sys.modules[TABLE].KNOWN if one[0] == "attention_weights"]
    seen = next(seen for says, seen in mistakes if says.startswith("Your results are scores"))
    monkeypatch.setattr(sys.modules[TABLE], "KNOWN", [(name, right, [("One.", seen), ("Two.", seen)]), *others])
    said = said_by(checks, Piece(number, "a mistake", NO_SOFTMAX), capsys)
    assert said.startswith("✗ Exercise 4: with the notebook's scores")
    assert said.endswith("One of these is the cause: – One. – Two.")


@pytest.mark.parametrize("table", ["", "KNOWN = 3", "KNOWN = [('attention_scores', None, None)]", "KNOWN = ["])
@pytest.mark.parametrize("number", [2])
def test_check_when_table_of_mistakes_is_damaged_still_works(
    number: int,
    table: str,
    checks: Checks,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
) -> None:
    monkeypatch.delitem(sys.modules, TABLE)
    (tmp_path / known_mistakes.FILE).write_text(table)
    monkeypatch.syspath_prepend(str(tmp_path))
    assert said_by(checks, Piece(number, "a mistake", UNSCALED), capsys).startswith("✗ Exercise 2: with the notebook's")
