"""What the reference says, read from the code: each of PARTS is a function that returns Markdown."""

from __future__ import annotations

import ast
import inspect
import json
import re
import textwrap
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import is_dataclass
from datetime import UTC, datetime
from enum import StrEnum
from typing import Any, Literal, NamedTuple, get_args, get_origin, get_type_hints

import typer

import grader
from grader.classroom import progress
from grader.cli.app import app
from grader.collecting import collect, placing
from grader.course import exercise_texts
from grader.gradebook.preprocessors import RunAndJudge
from grader.gradebook.published import Publication
from grader.model.exercise import Case, Exercise
from grader.model.forms.function import Form
from grader.model.forms.module import ClassCase
from grader.model.misconception import CREDITS, Misconception, wrong
from grader.model.submission import Graded
from grader.model.verdict import Reason, Scored, Verdict
from grader.pages.report_lines import Summary, key_of
from grader.release import one_file
from grader.serving.arrivals import Arrival, Stage
from grader.serving.programs import API, PROGRAMS
from grader.serving.receipts import receipt
from grader.term import reading


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    cells = [head, ["---"] * len(head), *([" ".join(cell.split()).replace("|", "\\|") for cell in row] for row in rows)]
    return "".join(f"| {' | '.join(line)} |\n" for line in cells) + "\n"


def code(text: object) -> str:
    return f"`{text}`" if str(text) else ""


def in_json(value: object) -> str:
    return f"```json\n{json.dumps(value, indent=2, ensure_ascii=False)}\n```\n\n"


class Member(NamedTuple):
    """A field of a class, a value of an enumeration or a constant of a module, with what is written beside it."""

    name: str
    type: str
    value: str
    about: str


def members(of: Any) -> Iterator[Member]:
    owners = [one for one in reversed(of.__mro__) if is_listed(one)] if inspect.isclass(of) else [of]
    for owner in owners:
        source = textwrap.dedent(inspect.getsource(owner))
        tree: Any = ast.parse(source)
        body = tree.body if inspect.ismodule(of) else tree.body[0].body
        for node, below in zip(body, [*body[1:], None], strict=True):
            if isinstance(node, ast.AnnAssign | ast.Assign) and "init=False" not in ast.unparse(node):
                yield _member(node, below, source.splitlines()[(node.end_lineno or 0) - 1])


def _member(node: ast.AnnAssign | ast.Assign, below: ast.stmt | None, line: str) -> Member:
    target, kind = (node.target, node.annotation) if isinstance(node, ast.AnnAssign) else (node.targets[0], None)
    about = line.partition("  # ")[2]
    if isinstance(below, ast.Expr) and isinstance(below.value, ast.Constant):
        about = inspect.cleandoc(str(below.value.value))
    value = ast.unparse(node.value) if node.value else ""
    if "default_factory=" in value:
        value = {"dict": "{}", "list": "[]", "tuple": "()"}[value.partition("default_factory=")[2].rstrip(")")]
    return Member(ast.unparse(target), ast.unparse(kind) if kind else "", value, about)


def is_listed(one: object) -> bool:
    return inspect.isclass(one) and (is_dataclass(one) or (issubclass(one, StrEnum) and one is not StrEnum))


def first_words(of: object) -> str:
    return " ".join((inspect.getdoc(of) or "").partition("\n\n")[0].split())


def fields(of: type) -> str:
    rows = [[code(one.name), code(one.type), code(one.value) or "required", one.about] for one in members(of)]
    return f"{inspect.getdoc(of)}\n\n" + table(["field", "type", "if not given", "what it is"], rows)


def keys(top: type, name: Callable[[str], str] = str) -> str:
    """The keys of a dataclass as it is written to a file, and of all that it holds."""
    return "".join(f"### {one.__name__}\n\n{first_words(one)}\n\n{_keys(one, name)}" for one in _held(top, {}))


def _keys(one: type, name: Callable[[str], str]) -> str:
    known = [each for each in members(one) if not each.about.endswith("never written")]
    if is_dataclass(one):
        types = get_type_hints(one)  # without bounds
        rows = [[code(name(each.name)), code(_plain(types[each.name])), each.about] for each in known]
        return table(["key", "type", "what it is"], rows)
    values = [code(ast.literal_eval(each.value)) for each in known]
    if not any(each.about for each in known):
        return f"One of {', '.join(values)}.\n\n"
    return table(["value", "meaning"], zip(values, [each.about for each in known], strict=True))


def _plain(kind: Any) -> str:
    """A type without the modules that its parts come from."""
    text = re.sub(r"(\w+\.)+(?=\w)", "", inspect.formatannotation(kind)).replace("NoneType", "None")
    return re.sub(r"Union\[([\w, ]+)\]", lambda union: union[1].replace(", ", " | "), text)


def _held(kind: Any, found: dict[type, None]) -> dict[type, None]:
    if kind not in found:
        if is_listed(kind):
            found[kind] = None
        for inner in get_type_hints(kind).values() if is_dataclass(kind) else get_args(kind):
            _held(inner, found)
    return found


# --- the parts -------------------------------------------------------------------------------------------------


def _sections(texts: Mapping[str, str]) -> str:
    return "".join(f"## {title}\n\n{text}" for title, text in texts.items())


def command_line() -> str:
    return "".join(_command("grader", typer.main.get_command(app)))


def _command(name: str, command: Any) -> Iterator[str]:
    inner = getattr(command, "commands", {})
    if not inner:
        text = inspect.cleandoc(command.help)
        yield f"## {name}\n\n{text}\n\n"
        hints = get_type_hints(command.callback)
        if rows := [_parameter(one, hints[one.name]) for one in command.params if one.name in hints]:
            yield table(["name", "usually", "what it does"], rows)
    for each in inner and command.list_commands(None):
        yield from _command(f"{name} {each}", inner[each])


def _parameter(one: Any, kind: object) -> list[str]:
    value = "|".join(get_args(kind)) if get_origin(kind) is Literal else one.name.upper()
    called = value if one.param_type_name == "argument" else ", ".join([*one.opts, *one.secondary_opts])
    called += "" if kind is bool or called == value else f" {value}"
    usual = "required" if one.required else "" if one.default in (None, False, "") else code(one.default)
    return [code(called), usual, one.help or ""]


def course_file() -> str:
    known = {
        "At the top": reading.TERM,
        "`[late]`": reading.LATE,
        "`[serving]`": reading.SERVING,
        "`[explain]`": reading.EXPLAIN,
        "`[assignments.NAME]`": reading.ASSIGNMENT,
        "`[lti]`": reading.LTI,
        "`[lti.platforms.NAME]`": reading.LTI_PLATFORM,
    }
    rows = {place: [[code(key), about] for key, about in each.items()] for place, each in known.items()}
    return _sections({place: table(["key", "what it says"], each) for place, each in rows.items()})


def settings() -> str:
    rows = [[code(one.SETTING), "", _about(one)["SETTING"]] for one in (exercise_texts, one_file)]
    for name, trait in sorted(RunAndJudge.class_own_traits(config=True).items()):
        rows.append([code(f"c.RunAndJudge.{name}"), code(trait.default_value), trait.help])
    return table(["setting", "if not given", "what it is"], rows)


def _about(of: Any) -> dict[str, str]:
    return {each.name: each.about for each in members(of)}


def exercise_files() -> str:
    taken: Any = ast.parse(inspect.getsource(wrong)).body[0]
    called = textwrap.fill(f"wrong({ast.unparse(taken.args)})", 100, subsequent_indent="      ")
    credits = table(["kind", "credit"], [[code(kind), f"{credit:g}"] for kind, credit in CREDITS.items()])
    forms = [(name, value) for name in dir(grader) if isinstance(value := getattr(grader, name), Form)]
    sections = {
        "`Exercise`": fields(Exercise),
        "`Case`": fields(Case),
        "`ClassCase`": fields(ClassCase),
        "`wrong`": f"```python\n{called}\n```\n\n{inspect.getdoc(wrong)}\n\n",
        "`Misconception`": fields(Misconception),
        "Kinds of mistakes": f"What an exercise still earns, by the `kind` of its mistake:\n\n{credits}",
        "Forms": "What `form=` may be:\n\n"
        + table(["form", "what it is"], [[code(name), first_words(type(one))] for name, one in forms]),
    }
    return _sections(sections)


SAMPLE = Scored(
    Verdict(3, "Softmax", 0.5, Reason.MISCONCEPTION, ("Your values do not sum to one.",), ("not normalized",), 0, 4), 2
)
WHEN = datetime(2026, 10, 12, 9, 30, tzinfo=UTC)


def formats() -> str:
    run = progress.as_json([Graded("ada", verdicts=[SAMPLE])])
    taken = collect.as_json(
        "week1", [collect.Decision("ada", "inbox/ada.ipynb", placing.NEW, time=WHEN.replace(tzinfo=None))], False
    )
    arrival = Arrival(1, "ada", "week1", 1, WHEN, "9f86d081…", Stage.GRADED, {})
    verdict = in_json(SAMPLE.to_json()) + keys(Verdict)
    sections = {
        "A verdict": f"In the metadata of a graded notebook, and in answers of the service:\n\n{verdict}",
        "The report": f"`report/ASSIGNMENT.json`. `Summary` is the whole file.\n\n{keys(Summary, key_of)}",
        "A run": f"`grader autograde --json` prints:\n\n{in_json(run)}",
        "Collected": f"`grader collect --json` prints:\n\n{in_json(taken)}",
        "A publication": f"`published/ASSIGNMENT/NUMBER/state.json`.\n\n{keys(Publication)}",
        "A receipt": f"What a student gets for a submission, for `grader receipt`:\n\n{in_json(receipt(arrival, b''))}",
    }
    return _sections(sections)


def service() -> str:
    intro = (
        f"The addresses of `grader serve` for programs, below `{API}`. `{API}/openapi.json` describes what they take "
        "and answer, in OpenAPI 3.1. A token needs one of the scopes listed: "
        "[how to make one](../serving.md#from-a-program).\n\n"
    )
    rows = [
        [code(f"{one.method.upper()} {one.place}"), ", ".join(map(code, one.scopes)), first_words(one.handler)]
        for one in PROGRAMS
    ]
    return intro + table(["address", "scopes", "what it does"], rows)


PARTS = {part.__name__: part for part in (command_line, course_file, settings, exercise_files, formats, service)}
