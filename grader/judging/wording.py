"""All sentences of the judge, except those of misconceptions."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from grader.judging.wrong_device import advice
from grader.model import compare
from grader.model.answer import Answer, Lost, Raised, sentence_of
from grader.model.broken_rules import returned_nothing
from grader.model.change import Change
from grader.model.fact import Fact, FactKind
from grader.model.findings import Broken, Differs, Failed, Finding, NothingReturned, Unreadable
from grader.model.located import Located
from grader.sandbox.plain_text import listed, one_line

LONGEST = 1000  # characters of a sentence
RIGHT = "Right."
RIGHT_BUT_LARGE = "The numbers are right, but your code uses too much memory for long inputs."
RIGHT_IN_SHORT = "The numbers are right for short inputs."
LONG_UNTRIED = (
    "Long inputs could not be tried: your code uses an earlier function that is wrong or still to do, and the right "
    "one that we use in its place works for short inputs only. Fix the earlier one first."
)
RIGHT_BUT_SLOW = (
    "The numbers are right, but your code takes too long for long inputs. A few operations on large tensors are faster "
    "than many on small ones."
)
STILL_TO_DO = "This exercise is still to do."
FUNCTION_STILL_TO_DO = "This function is still to do."
ALL_ELSE_RIGHT = "Apart from that, your code gives the right numbers."
RIGHT_OTHERWISE = "When your code is called the way it expects, it gives the right numbers."
COMPUTED_RIGHT = "Your output is right."
JUDGING_TOO_LONG = "Checking what this notebook's code returned took too long, so this exercise was not graded."
WRONG_DEVICE = (
    "The numbers are right, but your result is not on the device of the input. "
    "Make new tensors with device=x.device, or with functions such as torch.zeros_like(x)."
)
WHERE_NAN_COMES_FROM = (
    "NaN comes from 0/0, ∞/∞, ∞ − ∞ and 0 · ∞, and from roots and logarithms of negative numbers. exp of a large "
    "number is ∞, and a softmax over nothing but −∞ is 0/0."
)
_HAS_NO_PROBABILITIES = "probability tensor contains either `inf`, `nan`"  # torch.multinomial
NO_PROBABILITIES = (
    "A softmax gives NaN if all its scores are −∞, or after a division by 0, such as by a temperature of 0."
)
_MATH = "Functions of torch take tensors. For a plain number, use those of math."
_TYPE_ERRORS = {  # by what Python says
    "argument 'input' (position 1) must be Tensor, not int": _MATH,
    "argument 'input' (position 1) must be Tensor, not float": _MATH,
    "'torch.Size' object is not callable": "A shape is not a function: write it without parentheses, and brackets "
    "around the number of an axis.",
    "builtin_function_or_method": "A function without parentheses behind it is not called.",
    "'Tensor' object is not callable": "A tensor is not a function: there should be no parentheses behind it.",
}
CUT = "Your result is cut to whole numbers, as if by // instead of /, or by a tensor of integers. Keep the decimals."

NEEDS_AUTOGRAD = "does not require grad"  # in torch's own words, where autograd is asked for and not there
NO_AUTOGRAD = "In this exercise there is no autograd: compute the gradients by formulas."


def about_facts(facts: Sequence[Fact]) -> list[str]:
    """Sentences on what the code shows; one covers all that it borrows."""
    borrowed_names = [f"`{fact.what}`" for fact in facts if fact.kind == FactKind.BORROWED]
    sentences = [_about_fact(fact) for fact in facts if fact.kind in _FACTS][:MOST_FACTS]
    if borrowed_names:
        sentences.insert(0, _about_borrowing(borrowed_names[:MOST_FACTS]))
    return sentences


def _about_fact(fact: Fact) -> str:
    sentence = _FACTS[fact.kind]
    if len(fact.parts) > 1:
        sentence = _FACTS_OF_SEVERAL.get(fact.kind, sentence)
    names = [f"`{name}`" for name in fact.parts]
    return sentence.format(one_line(fact.what, MAX_LINE), listed(names, MOST_FACTS))


def _about_borrowing(names: Sequence[str]) -> str:
    they_fit = "it fits" if len(names) == 1 else "they fit"
    return (
        f"Your code reads {listed(names, len(names))} from the notebook, but {they_fit} only the notebook's inputs. "
        "Use the arguments instead."
    )


MOST_FACTS = 3
MAX_LINE = 120  # characters of a line that is shown
MOST_LINES = 4
_COUNTS = {2: "two", 3: "three", 4: "four"}
_FACTS = {
    FactKind.LOST: "The line `{}` computes something and throws it away: nothing is changed in place. Give the result "
    "a name.",
    FactKind.UNUSED: "You compute `{}`, but never use it.",
    FactKind.ALWAYS_TRUE: "The line `{}` never fails: a tuple is always true. Leave out the parentheses.",
    FactKind.REPLACED: "After the loop over `{}`, only the last {} is left, since each step overwrites it.",
    FactKind.LEFT_EARLY: "The line `{}` is inside the loop, so the loop ends in its first step.",
    FactKind.INFINITE: "The line `{}` computes with ∞: 0 · ∞ and ∞ − ∞ are NaN.",
    FactKind.NEVER_CALLED: "`{}` is made in `__init__`, but not used anywhere.",
    FactKind.MADE_ANEW: "The line `{}` is in `forward`, so each call makes a new layer with new random numbers, "
    "which cannot be trained. Make it in `__init__`.",
    FactKind.EMPTY: "The line `{}` makes a tensor of whatever was in memory, even NaN: entries that "
    "nothing is written to stay like that.",
    FactKind.NOT_OF_SELF: "`{0}` is a variable of `__init__` alone, so another method cannot read it. Write "
    "`self.{0}` in both.",
    FactKind.NO_RETURN: "`{}` has no return statement, so it returns None.",
    FactKind.UNREAD: "`{}` never uses its argument {}.",
    FactKind.RANDOM: "The line `{}` draws random numbers, which do not depend on the arguments.",
}
_FACTS_OF_SEVERAL = {
    FactKind.REPLACED: "After the loop over `{}`, only the last {} are left, since each step overwrites them.",
    FactKind.UNREAD: "`{}` never uses its arguments {}.",
}


def other_names(names: Mapping[str, str]) -> str:
    """`names` has the names that are asked for, with the student's."""
    renamings = [f"{student_name} to {name}" for name, student_name in names.items()]
    all_renamings = listed(renamings, len(renamings))
    return f"Rename {all_renamings}. Your parameters need the names in the text: weights are loaded by name."


def several_mistakes(count: int, total: int, *, are_all: bool = True) -> str:
    if count < total:
        return "There are several mistakes, and these are some of them:"
    return f"There are{'' if are_all else ' at least'} {_COUNTS.get(count, 'several')} mistakes:"


def located(locations: Sequence[Located]) -> str:
    """Where a mistake is, and of what kind. What to write there is for the student to find."""
    lines = _lines_of(locations)
    if len(lines) == 1:
        ((line, change),) = lines
        if change == Change.AFTER:
            return f"A line is missing after `{line}`. With it, all values are right."
        if change == Change.BRANCH:
            return f"What follows the line `{line}` is wrong: without it, all values are right."
        if change == Change.OTHERWISE:
            return (
                f"What is done if the condition in the line `{line}` does not hold is wrong: without it, all values "
                "are right."
            )
        if change == Change.NUMBERS:
            return f"A few small changes in the line `{line}` make all values right. They have to do with {change}."
        return f"One small change in the line `{line}` makes all values right. It has to do with {change}."
    return f"Small changes in {_COUNTS.get(len(lines), 'several')} lines make all values right: {_changes(lines)}."


def located_without_points(locations: Sequence[Located]) -> str:
    """The same where it earns nothing: a small change may be a large part of the code."""
    lines = _lines_of(locations)
    if len(lines) > 1:
        return f"The mistakes are in these lines: {_changes(lines)}."
    ((line, change),) = lines
    if change == Change.AFTER:
        return f"A line is missing after `{line}`."
    return f"The mistake is in the line `{line}`. It has to do with {change}."


def _lines_of(locations: Sequence[Located]) -> list[tuple[str, Change]]:
    """The lines as shown, without comments, and what has to change in each."""
    lines: list[tuple[str, Change]] = []
    for location in locations:
        code = location.line.split("#")[0].rstrip()
        lines.append((one_line(code or location.line, MAX_LINE), location.change))
    return lines


def _changes(lines: Sequence[tuple[str, Change]]) -> str:
    return ", ".join(f"`{line}` ({change})" for line, change in lines[:MOST_LINES])


def missing(noun: str, entry: str) -> str:
    return f"There is no {noun} called {entry}."


def constant(noun: str) -> str:
    return f"In the hidden cases, your {noun} returns the same result for all inputs of the same size."


def constant_for_all(noun: str) -> str:
    return f"In every hidden case, your {noun} returns the same result."


def all_nan(noun: str) -> str:
    return f"Your {noun} returned nothing but NaN. {WHERE_NAN_COMES_FROM}"


def argument_returned(noun: str) -> str:
    return f"In every hidden case, your {noun} returns one of its arguments unchanged."


def ignored(arguments: Sequence[str]) -> str:
    """The sentence on answers that do not depend on some arguments, or only on the order of their numbers."""
    names = listed([f"`{argument}`" for argument in arguments], len(arguments), "or")
    return (
        f"Your result stays the same when {names} gets other numbers, in the same order of size. "
        "A right result would change."
    )


def rounded(decimals: int) -> str:
    return f"Your result is rounded to {decimals} decimals. Return it unrounded; round only when you print."


def arrangement(finding: Finding, noun: str) -> str:
    return f"All numbers are right, but not their arrangement: {_lowered(about(finding, noun))}"


def in_another_case(case: str, sentence: str) -> str:
    return f"In the case “{case}”, {_lowered(sentence)}"


def _lowered(sentence: str) -> str:
    """A sentence that goes on behind other words."""
    return sentence[:1].lower() + sentence[1:]


def cases_right(right: int, cases: int, first_wrong: str) -> str:
    return f"{right} of {cases} hidden cases are right. The first wrong one is “{first_wrong}”."


def all_but_a_kind(right: int, cases: int, wrong_names: Sequence[str]) -> str:
    names = [f"“{name}”" for name in wrong_names]
    return f"{right} of {cases} hidden cases are right: all but {listed(names, len(names))}."


def returned(form: str) -> str:
    return f"Your function returned {form}."


def picture_title(entry: str, case: str, title: str) -> str:
    """The title of a picture, before its own."""
    returned = f"What your `{entry}` returned in the hidden case “{case}”"
    return f"{returned}. {title}" if title else returned


def about(finding: Finding, noun: str) -> str:
    """What is wrong with the answer to a case."""
    match finding:
        case Failed(answer):
            return _failure(answer, noun)
        case Unreadable(what):
            return f"Your {noun} returned {what}."
        case NothingReturned():
            return returned_nothing(noun)
        case Differs(difference, name=name, whole=True) if difference.kind == compare.Kind.VALUE:
            return f"Entry {list(difference.entry)} of the {name} is the first wrong one."
        case Differs(difference, name=name):
            text = difference.sentence(name)
            return f"T{text[1:]}" if text.startswith("the ") else text
        case Broken(sentence=sentence):
            return sentence


def _failure(answer: Answer, noun: str) -> str:
    match answer:
        case Raised(type=error_type, message=message, line=line):
            text = f"Your {noun} stopped with {_word(error_type)}"
            if message:
                text += f": {_without_numbers(message)}"
            text = text.rstrip(".")
            if line:
                text += f", at the line `{line.strip()}`"
            text += "."
            if _HAS_NO_PROBABILITIES in message:
                text += f" {NO_PROBABILITIES}"
            for words, hint in _TYPE_ERRORS.items():
                if words in message:
                    text += f" {hint}"
            return f"{text} {advice(answer, noun)}".rstrip()
        case Lost():
            return sentence_of(answer)
        case _:
            return f"There is no such {noun}."


def _word(name: str) -> str:
    return re.sub(r"\W", "", name)[:60] or "an error"


# A point before a name is not part of a number: v1.forward, heads.0.weight. Nor is the one that ends a sentence:
# in dimension 0. Expected …
_NUMBER = re.compile(
    r"[-+]?(\d+\.(?!_|[^\W\d]{2}|\s+[A-Z])\d*|(?<!\w)\.\d+|\d+e[-+]?\d+|\d{4,})(e[-+]?\d+)?", re.IGNORECASE
)


def _without_numbers(message: str) -> str:
    """An error message without anything that could be a hidden number: sizes may stay, decimals may not."""
    text = _NUMBER.sub("…", message)
    text = " ".join(text.split())
    return text[:160] + ("…" if len(text) > 160 else "")
