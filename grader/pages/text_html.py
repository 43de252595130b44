"""Other people's text as HTML that looks like text on a page, and does nothing."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Set
from typing import Any

import nh3
from markupsafe import Markup, escape

from grader.notebooks.highlighting import MAX_COLORED, colored, with_code
from grader.notebooks.outputs import IMAGES
from grader.notebooks.safe_html import markdown_to_html, safe_markdown

_LEFT_OUT = "\n\n# … (the rest is left out here)"
_CONTROLS = re.compile(r"[^\S\n ]|[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]")
_TAGS = {"a", "b", "blockquote", "br", "code", "del", "em", "hr", "i", "li", "ol", "p", "pre", "strong", "sub", "sup"}
_TAGS |= {"table", "tbody", "td", "th", "thead", "tr", "ul"}
_COLOR = re.compile(r"\x1b\[[0-9;]*m")
MAX_PRINTED = 10_000  # characters
# No styles and no classes: other people's text must look like text on this page, also in dark mode.
_NARROW = nh3.Cleaner(tags=_TAGS, attributes={"a": {"href"}}, url_schemes={"http", "https", "mailto"})


def narrow_html(markdown: str) -> Markup:
    """Markdown of a student or instructor as HTML: text, lists, tables, code and links that somebody must click."""
    return Markup(_NARROW.clean(markdown_to_html(safe_markdown(clean(markdown)))))


def sentence_html(text: str) -> Markup:
    """A sentence with `code` in code font."""
    return Markup(with_code(str(escape(text))))


def highlighted(source: str, quoted: Set[str] = frozenset()) -> Markup:
    """Highlighted code; characters that could make it look like other code are made visible.

    Lines that are `quoted` elsewhere on the page are marked.
    """
    text = clean(source.strip("\n"))
    if len(text) > MAX_COLORED:
        text = text[: MAX_COLORED - len(_LEFT_OUT)] + _LEFT_OUT
    lines = zip(colored(text, "py-").split("\n"), text.split("\n"), strict=True)
    return Markup("\n".join(_with_marks(lines, quoted)))


def numbered_lines(source: str) -> list[tuple[int, Markup]]:
    """The lines, counted as questions count them: with blank ones at the beginning, which are not shown."""
    blank = len(source) - len(source.lstrip("\n"))
    return [(number, Markup(line)) for number, line in enumerate(highlighted(source).split("\n"), start=blank + 1)]


def _with_marks(lines: Iterable[tuple[str, str]], quoted: Set[str]) -> Iterator[str]:
    """Highlighted lines, given with their text. What is inside a string of several lines stays unmarked."""
    depth = 0  # of what is open in the line
    for html, text in lines:
        is_within_string = depth > 0
        depth += html.count("<span") - html.count("</span")
        is_marked = not is_within_string and not depth and _is_quoted(text, quoted)
        yield f"<mark>{html}</mark>" if is_marked else html


def _is_quoted(line: str, quoted: Set[str]) -> bool:
    """Whether a line is quoted as a whole, perhaps without its comment; names and brackets alone are not."""
    code = line.strip()
    is_more_than_a_name = len(code) > 1 and not code.isidentifier()
    return is_more_than_a_name and not quoted.isdisjoint((line, code, code.split("#")[0].rstrip()))


def printed(text: str) -> Markup:
    """Printed output, without its colors and not too long."""
    output = clean(_COLOR.sub("", text[:MAX_PRINTED]))
    if len(text) > MAX_PRINTED:
        output += "\n… (the rest is left out)"
    return Markup('<pre tabindex="0" aria-label="Output">{}</pre>').format(output) if output.strip() else Markup("")


def picture_html(data: Mapping[str, Any]) -> Markup:
    """The picture in the data of a rebuilt output; empty if there is none."""
    for mime_type in IMAGES:
        if mime_type in data:
            address = f"data:{mime_type};base64,{''.join(data[mime_type].split())}"
            return Markup('<img alt="Drawn by your code" src="{}">').format(address)
    return Markup("")


def clean(text: str) -> str:
    """Make visible what cannot be seen, or changes the direction of text."""
    return _CONTROLS.sub(lambda match: "    " if match[0] == "\t" else "�", text.replace("\r\n", "\n"))
