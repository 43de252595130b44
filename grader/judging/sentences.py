"""All that the judge says, but for what misconceptions say themselves."""

from __future__ import annotations

import re
from collections.abc import Sequence

from grader.judging.devices import advice
from grader.model.answer import Answer, Lost, Raised, sentence_of
from grader.model.fact import Fact, Kind
from grader.model.findings import Broken, Differs, Failed, Finding, NothingReturned, Unreadable
from grader.sandbox.plain_text import one_line

RIGHT = "Right."
STILL_TO_DO = "This exercise is still to do."
TWO_THINGS = "Two things at once:"
ALL_ELSE_RIGHT = "With values there that fit, your code gives the right numbers."
COMPUTED_RIGHT = "What you compute is right."
JUDGING_TOO_LONG = "What the code of this notebook returned is such that judging it took too long; this was not judged."
WRONG_DEVICE = (
    "The numbers are right, but your result is not on the device of the input. "
    "Make new tensors with device=x.device, or with functions such as torch.zeros_like(x)."
)
INPUT_MODIFIED = (
    "The result is right, but your function changes its input. "
    "Avoid operations in place such as x -= … or x[i] = … on an argument; compute a new tensor."
)
HALF_PRECISION = "Your result has the precision of 16-bit numbers only. Compute with float32 throughout."


def of_facts(facts: Sequence[Fact]) -> list[str]:
    """What the code shows by itself. All that it borrows is one sentence."""
    borrowed = [f"`{fact.what}`" for fact in facts if fact.kind == Kind.BORROWED]
    said = [_borrowed(borrowed[:MANY])] if borrowed else []
    return said + [_FACTS[fact.kind].format(one_line(fact.what)) for fact in facts if fact.kind in _FACTS][:MANY]


def _borrowed(names: Sequence[str]) -> str:
    listed = " and ".join(filter(None, [", ".join(names[:-1]), names[-1]]))
    hold, them = ("holds", "it") if len(names) == 1 else ("hold", "them")
    return f"Your code reads {listed} from the notebook, which {hold} for its inputs. Take {them} from the arguments."


MANY = 3
_FACTS = {
    Kind.LOST: "The line `{}` computes something and throws it away: it changes nothing in place. Give it a name.",
    Kind.UNUSED: "You compute `{}` and never use it.",
    Kind.ALWAYS_TRUE: "The line `{}` never fails: a tuple in parentheses is always true. Write it without them.",
    Kind.NO_RETURN: "`{}` has no return statement, so it returns None.",
}


def missing(noun: str, entry: str) -> str:
    return f"There is no {noun} called {entry}."


def constant(noun: str) -> str:
    return f"Your {noun} returns the same result whatever its input is."


def without_understanding(noun: str, does: str) -> str:
    return f"In every hidden case, your {noun} {does}."


def rounded(decimals: int) -> str:
    return f"Your result is rounded to {decimals} decimals. Return it as it is; round only to print."


def arrangement(finding: Finding, noun: str) -> str:
    return f"All numbers are right, but not their arrangement: {about(finding, noun)}"


def cases_right(right: int, cases: int, first_wrong: str) -> str:
    return f"{right} of {cases} hidden cases are right; the first wrong one is “{first_wrong}”."


def returned(form: str) -> str:
    return f"Your function returned {form}."


def shown(entry: str, case: str) -> str:
    """The title of a picture."""
    return f"What your `{entry}` returned in the hidden case “{case}”"


def about(finding: Finding, noun: str) -> str:
    """What is wrong with the answer to a case."""
    match finding:
        case Failed(answer):
            return _failure(answer, noun)
        case Unreadable(what):
            return f"Your {noun} returned {what}."
        case NothingReturned():
            return "Your function returned None: does it end with a return statement?"
        case Differs(difference, name=name):
            return difference.sentence(name)
        case Broken(sentence=sentence):
            return sentence


def _failure(answer: Answer, noun: str) -> str:
    match answer:
        case Raised(type=kind, message=message, line=line):
            text = f"Your {noun} stopped with {_word(kind)}"
            text += f": {_safe_message(message)}" if message else ""
            text = f"{text}, at the line `{line.strip()}`." if line else f"{text.rstrip('.')}."
            return f"{text} {advice(answer, noun)}".rstrip()
        case Lost():
            return sentence_of(answer)
        case _:
            return f"There is no such {noun}."


def _word(name: str) -> str:
    return re.sub(r"\W", "", name)[:60] or "an error"


def _safe_message(message: str) -> str:
    """An error message without anything that could be a hidden number: sizes may stay, decimals may not."""
    text = re.sub(r"[-+]?(\d+\.\d*|\.\d+|\d+e[-+]?\d+|\d{4,})(e[-+]?\d+)?", "…", message, flags=re.IGNORECASE)
    text = " ".join(text.split())
    return text[:160] + ("…" if len(text) > 160 else "")
