"""The text of a solution, and versions of it with marked lines replaced.

    def mean(numbers):
        total = sum(numbers)  #: total
        return total / len(numbers)  #: result

`{"result": "return total"}` replaces the line with this mark, "" leaves it out, and ("sum", "max") replaces a part of
it, or several parts, as ("sum", "max", "bers", "ber") does. "after total" and "before total" add lines.

A mark names the statement that its line belongs to, with all that is inside, except that of a function it names only
the head. On several lines in a row, it names all of them. A text that ends with a colon, such as `for x in xs[1:]:`,
replaces the head alone: the statements inside stay.
"""

from __future__ import annotations

import ast
import builtins
import functools
import inspect
import re
import sys
import textwrap
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from importlib.abc import InspectLoader
from typing import Any, NamedTuple, TypeAlias

from grader.errors import CourseError

Solution: TypeAlias = Callable[..., Any]  # a function or a class, as its author wrote it or with other lines
Change = str | tuple[str, ...]
_MARK = re.compile(r"\s*#: (\w+)$")
_PLACES = ("after", "before")
_BUILTINS = set(dir(builtins))


class Block(NamedTuple):
    """A range of lines without its end: a statement, or all that a mark names."""

    first: int
    end: int
    column: int = 0  # where the text after it begins
    head: int = 0  # the line after its head, if it has statements inside

    def holds(self, block: Block) -> bool:
        """Whether a block lies within this one."""
        return self.first <= block.first and block.end <= self.end


class Lines:
    """The lines of a function or a class, some of which have marks."""

    def __init__(self, source: str) -> None:
        lines = source.rstrip("\n").split("\n")
        self._lines = [_MARK.sub("", line) for line in lines]
        self.tree = ast.parse(source)
        self.marked = dict(_blocks(lines, self.tree))
        self._names = _names_in(source)
        # All places that a change may name: marks, and before and after them.
        self.places = [f"{word} {mark}".strip() for mark in self.marked for word in ("", *_PLACES)]

    def text(self, changes: Mapping[str, Change], within: Block | None = None) -> str:
        """The text with changes and without marks, or only the block `within`. LineError says what does not fit."""
        offset, end = (within.first, within.end) if within else (0, len(self._lines))
        lines = self._lines[offset:end]
        # From the last to the first, so that lines keep their numbers until their turn comes.
        for place, change in sorted(self._outermost(changes).items(), key=self._sort_key, reverse=True):
            word, block = place.rpartition(" ")[0], self._replaced_block(change, place)
            first = block.end if word == "after" else block.first
            end = block.first if word == "before" else block.end
            lines[first - offset : end - offset] = self._new_lines(block, change, word)
        return "\n".join(lines) + "\n"

    def _outermost(self, changes: Mapping[str, Change]) -> Mapping[str, Change]:
        """The changes without those in lines that other changes replace."""
        replaced_blocks: list[Block] = []
        for place, change in changes.items():
            if place in self.marked and not isinstance(change, tuple):
                replaced_blocks.append(self._replaced_block(change, place))
        outermost: dict[str, Change] = {}
        for place, change in changes.items():
            block = self.block(place)
            if not any(outer.holds(block) and outer[:2] != block[:2] for outer in replaced_blocks):
                outermost[place] = change
        return outermost

    def version(self, changes: Mapping[str, Change], variables: Mapping[str, object]) -> Any:
        """The function or class with these changes, defined among these global variables."""
        names = dict(variables)
        exec(compile(self.text(changes), "<a solution with other lines>", "exec"), names)
        (name,) = [node.name for node in self.tree.body if isinstance(node, ast.FunctionDef | ast.ClassDef)]
        return names[name]

    def block(self, place: str) -> Block:
        """The lines that a change is for."""
        if place not in self.places:
            raise LineError(f"there is no mark “{place}”. There are: {', '.join(self.marked)}")
        return self.marked[place.rpartition(" ")[2]]

    def _replaced_block(self, change: Change, place: str) -> Block:
        """The lines that a change is for: only those of the head, if it has nothing to stand inside."""
        block = self.block(place)
        is_head = isinstance(change, str) and change.rstrip().endswith(":") and place in self.marked
        return block._replace(end=block.head) if is_head and block.head else block

    def unbound(self, changes: Mapping[str, Change], file_names: Collection[str]) -> set[str]:
        """The names that the text with these changes reads, and that nothing binds."""
        return _unbound(_names_in(self.text(changes)), file_names)

    def checked(self, changes: Mapping[str, Change], file_names: Collection[str]) -> str:
        """The text with these changes. LineError is raised if nobody could make such a mistake.

        `file_names` are those that the file of the solution defines.
        """
        text = self.text(changes)
        try:
            names = _names_in(text)
        except SyntaxError as error:
            raise LineError(f"with its lines, the solution is not Python: {(error.text or '').strip()}") from None
        unbound = _unbound(names, file_names)
        if unbound:
            raise LineError(f"its lines read `{min(unbound)}`, which nothing binds")
        unused = {name for name in names.bound - names.read - self._names.bound if name.strip("_")}
        if unused:
            raise LineError(f"its lines bind `{min(unused)}`, which nothing reads")
        if names.idle_lines > self._names.idle_lines:
            raise LineError("a line of it has no effect")
        return text

    def _sort_key(self, change: tuple[str, Change]) -> tuple[int, int]:
        """A key to sort changes, with their places, by their order in the text."""
        place, _ = change
        word, block = place.rpartition(" ")[0], self.block(place)
        return (block.end if word == "after" else block.first), ("after", "before", "").index(word)

    def _new_lines(self, block: Block, change: Change, word: str) -> list[str]:
        """The lines that a change puts in place of a block, or before or after it."""
        lines = self._lines[block.first : block.end]
        if isinstance(change, tuple):
            return _replace_parts(lines, *change)
        if not change:
            return []
        column = block.column if word == "after" else len(lines[0]) - len(lines[0].lstrip())
        return textwrap.indent(textwrap.dedent(change).strip("\n"), " " * column).split("\n")


class LineError(CourseError):
    """A change does not fit its solution."""


def _blocks(lines: list[str], tree: ast.Module) -> Iterator[tuple[str, Block]]:
    spans = [_span(node, lines) for node in ast.walk(tree) if isinstance(node, ast.stmt)]
    blocks: dict[str, Block] = {}
    for number, line in enumerate(lines):
        match = _MARK.search(line)
        if match is None:
            continue
        mark = match[1]
        outer_spans = [span for span in spans if span[0] <= number < span[1]]
        if not outer_spans:
            raise LineError(f"the mark “{mark}” stands at no statement")
        first, end, column, head = max(outer_spans)  # the last one to begin is the innermost
        block_above = blocks.get(mark)
        if block_above and block_above.end != first:
            raise LineError(f"the mark “{mark}” stands in two places")
        blocks[mark] = Block(block_above.first if block_above else first, end, column, head)
    yield from blocks.items()


def _span(node: ast.stmt, lines: Sequence[str]) -> tuple[int, int, int, int]:
    """The first line of a statement, the line after its last, the column of the text after it, and the line after its
    head, if it has statements inside."""
    first, end = node.lineno - 1, node.end_lineno or 0
    body = getattr(node, "body", None)
    if not body or body[0].lineno == node.lineno:
        return first, end, node.col_offset, 0
    head = body[0].lineno - 1
    while not lines[head - 1].strip() or lines[head - 1].lstrip().startswith("#"):
        head -= 1
    if isinstance(node, ast.FunctionDef):
        return first, head, body[0].col_offset, 0
    return first, end, node.col_offset, head


@dataclass
class _Names:
    """The names that a text reads and binds, and how many of its lines drop their result or return nothing."""

    read: set[str] = field(default_factory=set)
    bound: set[str] = field(default_factory=set)
    idle_lines: int = 0


_TELLING = (ast.Name, ast.arg, ast.FunctionDef, ast.ClassDef, ast.alias, ast.Expr, ast.Return)


# Each start of the program asks this of a text for each of two thousand mistakes, twice for those that are shared.
@functools.lru_cache
def _names_in(text: str) -> _Names:
    names = _Names()
    for node in ast.walk(ast.parse(text)):
        if type(node) not in _TELLING:  # as most are not, and each pattern costs time
            continue
        match node:
            case ast.Name(id=name, ctx=ast.Load()):
                names.read.add(name)
            case ast.Name(id=name) | ast.arg(arg=name) | ast.FunctionDef(name=name) | ast.ClassDef(name=name):
                names.bound.add(name)
            case ast.alias(name=name, asname=alias):
                names.bound.add(alias or name.partition(".")[0])
            case ast.Expr(value=ast.Call() | ast.Constant()):  # calls may change something, and text is for people
                continue
            case ast.Expr() | ast.Return(value=None):
                names.idle_lines += 1
    return names


def _unbound(names: _Names, file_names: Collection[str]) -> set[str]:
    return names.read - names.bound - _BUILTINS - set(file_names)


def _replace_parts(lines: list[str], *texts: str) -> list[str]:
    """Replace parts of lines. Each part must be in some line, and never twice in one."""
    for old, new in zip(texts[::2], texts[1::2], strict=True):
        if {line.count(old) for line in lines} - {0} != {1}:
            line = max(lines, key=lambda line: line.count(old))
            times = f"stands {line.count(old)} times" if old in line else "does not stand"
            raise LineError(f"“{old}” {times} in “{line.strip()}”")
        lines = [line.replace(old, new) for line in lines]
    return lines


def source_of(solution: Solution) -> str:
    """The text of a solution as imported: its file may have changed since."""
    source = definition(text_of_module(solution.__module__), solution.__name__)
    if source is None:
        raise LineError(f"`{solution.__name__}` is not defined at the top level of its file")
    return source


def text_of_module(name: str) -> str:
    """The text of a module as imported."""
    module = sys.modules[name]
    loader = module.__spec__.loader if module.__spec__ else None
    text = loader.get_source(name) if isinstance(loader, InspectLoader) else None
    return text or inspect.getsource(module)


def version(solution: Solution, changes: Mapping[str, Change]) -> Any:
    """Make a version of this function or class with other lines."""
    return Lines(source_of(solution)).version(changes, vars(sys.modules[solution.__module__]))


def definition(text: str, name: str) -> str | None:
    """The lines of a text that define a function or class at its top level; the last ones, if there are several."""
    nodes = [node for node in ast.parse(text).body if getattr(node, "name", None) == name]
    if not nodes:
        return None
    return "\n".join(text.split("\n")[nodes[-1].lineno - 1 : nodes[-1].end_lineno])
