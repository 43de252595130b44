"""Whatever a text consists of, no reader is kept busy.

Measured is the processor's time, not the clock's, and against plain work on the same machine, which may be slow.
"""

from __future__ import annotations

import base64
import copy
import html
import io
import json
import random
import re
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import nbformat
import pytest
from nbconvert.exporters import HTMLExporter
from nbconvert.filters.highlight import Highlight2HTML
from PIL import Image
from traitlets.config import Config

from grader.facts.code_facts import facts_of
from grader.notebooks import brevity
from grader.notebooks.highlighting import colored
from grader.notebooks.outputs import rebuild_outputs, size_of
from grader.notebooks.parsing import MAX_VALUES, NOTES_KEY, parse_notebook
from grader.notebooks.safe_html import MAX_TEXTS, is_image, markdown_to_html, safe_html, safe_markdown, safe_texts
from grader.pages.text_html import highlighted, sentence_html
from support.solution_cells import source as course_source

LENGTH = 20_000
LITTLE = 1.0  # seconds of the processor, on any machine
MUCH = 60  # times plain work: what grows with the square takes many times that; the slowest that is left takes 20
UNITS = [
    "\n", "\n\t", " ", "\t", "x\n", "(", "[", "{", "((", "'", '"', "'''", '"""', "'\\", "\\", "\\\n", "f'{", "{a[",
    "\\N{", "%0", "%%html\n", "%%ruby\n<<a", "!", "!(", "a.", "?\n", "match ", "from ", "lambda:", "-", "1_", "#",
    "#\n", "@", "&", "<", "<a ", "<b>", "<!--", "</", "![", "](", "[a](", "*a ", "**", "_", "`", "~~~", "- ", "> ", "|",
    "a|b\n", "$", "\\(", "\x1b[31m", "\x1b[", "\u2028", "é", "\x00", "\ns.add(1)",
]  # fmt: skip


def stock(source: str) -> None:
    """What nbconvert does to code where no configuration says otherwise."""
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(source)])
    brevity.shorten(notebook)
    Highlight2HTML(pygments_lexer="ipython3")(notebook.cells[0].source)


def outputs_of(text: str) -> None:
    data = {"text/html": text, "text/markdown": text, "image/svg+xml": text, "text/latex": text}
    rebuild_outputs([
        {"output_type": "stream", "name": "stdout", "text": text},
        {"output_type": "display_data", "data": data, "metadata": {}},
    ])  # fmt: skip


READERS: dict[str, Callable[[str], object]] = {
    "our colors": colored,
    "code on a page": highlighted,
    "code in nbconvert": stock,
    "facts of code": lambda text: facts_of(
        "def f(x):\n " + text[: LENGTH // 2].replace("\n", "\n "), "f", (), frozenset()
    ),
    "markdown": lambda text: markdown_to_html(safe_markdown(text)),
    "a fenced text": lambda text: markdown_to_html(safe_markdown(f"```ruby\n{text}\n```\n")),
    "a sentence": sentence_html,
    "html": safe_html,
    "outputs": outputs_of,
}


def plain_work() -> float:
    """The seconds of the processor that a million simple steps take now."""
    began = time.process_time()
    for number in range(1_000_000):
        number * number % 7
    return time.process_time() - began


@contextmanager
def soon_done(much: int = MUCH) -> Iterator[None]:
    began = time.process_time()
    yield
    took = time.process_time() - began
    assert took < LITTLE or took < much * plain_work()


@pytest.mark.slow
@pytest.mark.parametrize("reader", READERS)
def test_readers_of_hostile_texts_are_fast(reader: str) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for unit in UNITS:
            text = "x = 1" + unit * (LENGTH // len(unit)) + "x"
            with soon_done():
                READERS[reader](text)


def test_colored_keeps_every_character() -> None:
    luck = random.Random(3)
    signs = [
        '"',
        "'",
        '"""',
        "'''",
        "\\",
        "\n",
        "#",
        "@",
        "a",
        "def ",
        "1",
        "²",
        "f",
        "rb",
        "é",
        "_",
        " ",
        "\x00",
        "٣",
        "&",
    ]
    for _ in range(2000):
        source = "".join(luck.choice(signs) for _ in range(luck.randrange(30)))
        assert html.unescape(re.sub(r"<[^<>]*>", "", colored(source))) == source


def test_colored_gives_words_their_classes() -> None:
    found = re.findall(
        r'<span class="(\w+)">(.*?)</span>', colored('@a\ndef f(x):\n    return sum(1.5, "no # b")  # c')
    )
    assert found == [
        ("nd", "@a"), ("k", "def"), ("nf", "f"), ("k", "return"), ("nb", "sum"), ("mi", "1.5"),
        ("s1", "&quot;no # b&quot;"), ("c1", "# c"),
    ]  # fmt: skip


def test_shorten_keeps_ordinary_code_and_cuts_huge_cells() -> None:
    course = copy.deepcopy(course_source("self_attention"))
    sources = [cell.source for cell in course.cells]
    assert not brevity.is_long(course)
    brevity.shorten(course)
    assert [cell.source for cell in course.cells] == sources
    cells = [nbformat.v4.new_code_cell(source) for source in ("x = 1", "\n" * 500, "y" * 5000, "z = 1\n" * 10**5)]
    much = nbformat.v4.new_notebook(cells=cells + [nbformat.v4.new_code_cell("z = 1\n" * 3000) for _ in range(9)])
    assert brevity.is_long(much)
    brevity.shorten(much)
    assert much.cells[0].source == "x = 1"
    assert [cell.source.startswith(brevity.SHORTENED) for cell in much.cells[1:4]] == [True] * 3
    assert [len(cell.source) - len(brevity.SHORTENED) for cell in much.cells[1:4]] == [200, 1000, 20_000]
    assert sum(len(cell.source) for cell in much.cells) < 110_000


@pytest.mark.slow
@pytest.mark.parametrize(
    "output",
    [
        {"output_type": "display_data", "data": {"text/markdown": "\n#" * 16_000}, "metadata": {}},
        {"output_type": "stream", "name": "stdout", "text": "<" * 2**20},
        {"output_type": "stream", "name": "stdout", "text": "\x1b[31mx" * 5000 + "x" * 10**6},
    ],
    ids=["markdown", "signs", "colors"],
)
def test_shortened_outputs_of_many_cells_are_shown_in_seconds(output: dict[str, Any]) -> None:
    cells = [nbformat.v4.new_code_cell("x", outputs=[nbformat.from_dict(output)]) for _ in range(100)]
    cells.append(nbformat.v4.new_code_cell("x", outputs=[
        nbformat.v4.new_output("display_data", data={"text/plain": "a notice"}, metadata={"grader": {"blocked": []}})
    ]))  # fmt: skip
    notebook = nbformat.v4.new_notebook(cells=cells)
    brevity.shorten(notebook)
    kept = [cell.outputs[0].get("ename") for cell in cells]
    assert kept[0] is None
    assert kept[-2:] == ["TooMuchOutput", None]
    settings = Config()
    settings.HTMLExporter.template_name = "classic"
    settings.HTMLExporter.filters = {"markdown2html": markdown_to_html}
    with soon_done(600):  # all hundred of them take minutes
        HTMLExporter(config=settings).from_notebook_node(notebook)


def test_rebuild_outputs_drops_a_million_ampersands() -> None:
    shown = {"output_type": "display_data", "data": {"text/html": "&" * 10**6}, "metadata": {}}
    with soon_done():
        assert rebuild_outputs([shown]) == []


@pytest.mark.slow
@pytest.mark.parametrize(("kind", "ending"), [("PNG", "png"), ("JPEG", "jpeg")])
def test_is_image_refuses_pictures_of_too_many_points(kind: str, ending: str) -> None:
    contents = []
    for side in (90, 7200):
        file = io.BytesIO()
        Image.new("L", (side, side)).save(file, kind)
        contents.append(base64.b64encode(file.getvalue()).decode())
    small, large = contents
    mime = f"image/{ending}"
    assert is_image(mime, small)
    assert not is_image(mime, large)
    content = base64.b64decode(large)
    comment = b"\xff\xfe\0\x0b\xff\xc0\0\x0b\x08\0\1\0\1--"  # with a size of its own, that says nothing
    with_comment = base64.b64encode(content[:2] + comment + content[2:]).decode()
    assert kind != "JPEG" or not is_image(mime, with_comment)
    assert kind != "JPEG" or not is_image(mime, base64.b64encode(content[:2] + b"\xff\xd9").decode()), "no size"


@pytest.mark.slow
def test_rebuild_outputs_drops_json_of_a_million_parts() -> None:
    data: list[object] = [{} for _ in range(2**20 - 9)]
    outputs = rebuild_outputs([{"output_type": "display_data", "data": {"application/json": data}}])
    assert [output.output_type for output in outputs] == ["stream"]
    some = rebuild_outputs([{"output_type": "display_data", "data": {"application/json": data[:9000]}}])
    assert size_of(some) > 9000 * 100  # so that a notebook is full after a few of these


def test_safe_texts_limits_the_texts_of_all_cells() -> None:
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_markdown_cell("\n#" * 16_000) for _ in range(60)])
    safe_texts(notebook)
    assert MAX_TEXTS < sum(len(cell.source) for cell in notebook.cells) < MAX_TEXTS + 100 * 60


def converted(notebook: Any) -> list[tuple[str, str, str]]:
    cells = [
        (one.cell_type, one.source, one.metadata.get("nbgrader", {}).get("grade_id", "")) for one in notebook.cells
    ]
    return [cell for cell in cells if cell[1]]


@pytest.mark.parametrize("version", [2, 3])
def test_parse_notebook_converts_old_formats_as_nbformat(version: int) -> None:
    course = copy.deepcopy(course_source("self_attention"))
    course.cells.append(nbformat.v4.new_markdown_cell("### A heading"))
    old = json.loads(json.dumps(nbformat.convert(course, 3))) | {"nbformat": version}
    read = parse_notebook(json.dumps(old).encode())
    assert read.metadata[NOTES_KEY] == ["This notebook has an old format and was converted."]
    assert converted(read) == converted(nbformat.convert(nbformat.from_dict(old), 4))


@pytest.mark.parametrize(
    "cell", [None, 3, [], {"cell_type": "heading", "source": 3}, {"cell_type": "code", "input": {}}], ids=str
)
def test_parse_notebook_leaves_out_malformed_old_cells(cell: Any) -> None:
    old = {"nbformat": 3, "worksheets": [7, {"cells": 3}, {"cells": [cell, {"cell_type": "code", "input": "x"}]}]}
    read = parse_notebook(json.dumps(old).encode())
    assert [one.source for one in read.cells] == ["x"]
    assert "left out" in read.metadata[NOTES_KEY][-1]


@pytest.mark.parametrize("end", ["\r", "\r\n", "\n"])
def test_parse_notebook_normalizes_line_ends(end: str) -> None:
    """Else a comment before a carriage return would hide all the code behind it from whoever reads it."""
    code = end.join(["# mine", "def softmax(x):", "    return x.exp() / x.exp().sum()"])
    (cell,) = parse_notebook(json.dumps({"cells": [{"cell_type": "code", "source": code}]}).encode()).cells
    assert cell.source.splitlines() == code.splitlines()
    assert "\r" not in cell.source


@pytest.mark.parametrize("part", ["[]", "{}", '{"":0}', '"ab"', "1e9", '"\\""'])
@pytest.mark.parametrize("head", ['{"nbformat": 3, "worksheets": [', '{"nbformat": 4, "cells": [], "x": ['])
def test_parse_notebook_counts_parts_before_parsing(head: str, part: str) -> None:
    few, many = (f"{head}{','.join([part] * count)}]}}".encode() for count in (1000, MAX_VALUES))
    assert "too many parts" not in str(parse_notebook(few).metadata)
    with soon_done():
        assert "too many parts" in str(parse_notebook(many).metadata)


@pytest.mark.slow
@pytest.mark.parametrize("text", ['"' + '\\"' * 5 * 10**6, '"' * 10**6, "\\" * 10**7, '"' + "\\" * 10**7])
def test_parse_notebook_counts_parts_in_linear_time(text: str) -> None:
    with soon_done():
        assert "could not be read" in str(parse_notebook(text.encode()).metadata)
