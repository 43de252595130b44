"""Questions in a student's own notebook: their code runs where it is, in a copy of the notebook's names."""

from __future__ import annotations

import contextlib
import html
import io
import json
import linecache
import warnings
from collections.abc import Mapping, Sequence
from inspect import isclass, isfunction
from typing import Any

import torch

from grader.explaining.code_questions import questions_about
from grader.explaining.note_writing import ANSWER
from grader.explaining.observed import Draw, Observed, read_observed
from grader.explaining.question import CodeQuestion
from grader.explaining.subject import Subject
from grader.kit.showing import Display
from grader.kit.time_limit import TookTooLong, time_limit

SECONDS = 2  # of computing, for a version of the code
LETTERS = "ABCD"
NOTHING = "No question could be made about this code. That says nothing against it."


class NotebookRuns:
    """Runs versions of a cell in copies of a notebook's names."""

    def __init__(self, notebook: Mapping[str, Any]) -> None:
        self._notebook = notebook

    def __call__(self, sources: Sequence[str], request: dict[str, Any]) -> list[Sequence[Observed] | None]:
        return [self._observe(source, request) for source in sources]

    def _observe(self, source: str, request: dict[str, Any]) -> Sequence[Observed] | None:
        names = dict(self._notebook)
        try:
            with (
                contextlib.redirect_stdout(io.StringIO()),
                warnings.catch_warnings(),
                torch.random.fork_rng(devices=[]),
                time_limit(SECONDS),
            ):
                warnings.simplefilter("ignore")
                exec(compile(source, "<your code>", "exec", dont_inherit=True), names)
                return list(map(read_observed, names[ANSWER](request)))
        except (Exception, TookTooLong):  # a changed line may do anything
            return None


def ask(entry: str, notebook: Mapping[str, Any], inputs: Mapping[str, str], seed: object) -> None:
    """Show questions about the function or class of this name. `inputs` has draws of cases for each."""
    source = source_of(notebook.get(entry))
    questions = questions_in_notebook(entry, source, notebook, inputs, seed)
    Display(markup(questions, source), words(questions, source)).show()


def questions_in_notebook(
    entry: str, source: str, notebook: Mapping[str, Any], inputs: Mapping[str, str], seed: object
) -> list[CodeQuestion]:
    """Questions about the function or class of this name; none if its cell is not known, or can be asked nothing."""
    if not source or entry not in inputs:
        return []
    subject = Subject(source, entry, read_draws(inputs[entry]))
    threads = torch.get_num_threads()
    torch.set_num_threads(1)  # these tensors are small: threads would only wait for one another
    try:
        return questions_about(subject, NotebookRuns(notebook), seed)
    finally:
        torch.set_num_threads(threads)


def source_of(definition: object) -> str:
    """The text of the cell that defines a function or a class; empty if it is not known."""
    members = list(vars(definition).values()) if isclass(definition) else [definition]
    codes = [member.__code__ for member in members if isfunction(member)]
    return "".join(linecache.getlines(codes[0].co_filename)) if codes else ""


def numbered(source: str) -> str:
    """The code with the numbers of its lines, of which the questions speak."""
    return "\n".join(f"{number:3}  {line}" for number, line in enumerate(source.splitlines(), start=1))


def markup(questions: Sequence[CodeQuestion], source: str) -> str:
    """Code and questions as HTML, each option with what is to be said about it folded below."""
    code = html.escape(numbered(source))
    pieces = [f"<details><summary>Your code, with the numbers of its lines</summary><pre>{code}</pre></details>"]
    for number, question in enumerate(questions, start=1):
        pieces.append(f"<p><b>{number}.</b> Take {_code(question.inputs)}. <b>{_code(question.text)}</b></p>")
        for letter, (place, option) in zip(LETTERS, enumerate(question.options), strict=False):
            right = f"✓ Right. {_code(question.explanation)}"
            answer = (
                right if place == question.right else "✗ Not that. Try another one, or change your code and run it."
            )
            pieces.append(f"<details><summary>{letter}. {_code(option)}</summary>{answer}</details>")
    return f"<div>{''.join(pieces)}</div>" if questions else html.escape(NOTHING)


def words(questions: Sequence[CodeQuestion], source: str) -> str:
    """The same as plain text, with the answers at the end."""
    lines = [numbered(source)]
    for number, question in enumerate(questions, start=1):
        lines += [f"{number}. Take {question.inputs}.", question.text]
        lines += [f"   {letter}. {option}" for letter, option in zip(LETTERS, question.options, strict=False)]
    answers = ", ".join(f"{number}{LETTERS[question.right]}" for number, question in enumerate(questions, start=1))
    return "\n".join([*lines, f"Answers: {answers}"]) if questions else NOTHING


def _code(text: str) -> str:
    """Text as HTML, with `code` in code font."""
    pieces = html.escape(text).split("`")
    return "".join(f"<code>{piece}</code>" if place % 2 else piece for place, piece in enumerate(pieces))


def read_draws(text: str) -> list[list[Draw]]:
    """The draws of some cases, from the file beside the notebook."""
    return [[_read_draw(draw, seed) for seed, draw in enumerate(draws)] for draws in json.loads(text)]


def _read_draw(draw: dict[str, Any], seed: int) -> Draw:
    weights = None
    if draw["weights"] is not None:
        rng = torch.Generator().manual_seed(seed)
        weights = {name: size * torch.randn(shape, generator=rng) for name, (shape, size) in draw["weights"].items()}
    return Draw([_value_of(value) for value in draw["arguments"]], draw["built"], weights)


def _value_of(value: Any) -> Any:
    if isinstance(value, dict):
        return torch.tensor(value["numbers"], dtype=getattr(torch, value["type"])).reshape(value["shape"])
    return [_value_of(piece) for piece in value] if isinstance(value, list) else value
