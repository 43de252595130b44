"""Make students' HTML and Markdown harmless: it runs no scripts, fetches nothing, and still looks the same.

HTML is cleaned by nh3, a browser's parser with a whitelist. Every page reads Markdown differently (nbconvert uses
mistune, JupyterLab uses marked and its own idea of formulas), so what one of them sees says nothing about the others.
The source is searched for all places where any of them could see a tag, a link or a picture. Anything there that is
not of the plainest form is broken up by an invisible character, and shows as plain text.
"""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Sequence
from html import escape

import nh3
from nbconvert.filters.markdown_mistune import IPythonRenderer, MarkdownWithMath
from nbformat import NotebookNode

from grader.notebooks.highlighting import colored

MAX_MARKDOWN = 2**15  # characters, without pictures; mistune is slow with more
MAX_TEXTS = 2**17  # characters in all text cells of a notebook
MAX_FORMULAS = 1000  # in backslash form, for the same reason
MAX_REOPENED = 200_000  # formatting tags, some megabytes of HTML
WORD_JOINER = "\u2060"  # has no width, and is no blank to any parser

MAX_PIXELS = 50_000_000  # of a picture: nearly six A4 pages at 300 dpi

_MAGIC = {"image/png": b"\x89PNG\r\n\x1a\n", "image/jpeg": b"\xff\xd8\xff"}
_JPEG_FRAME = re.compile(rb"\xff[\xc0-\xcf]\0[\x0b\x11\x14]\x08(..)(..)", re.DOTALL)  # with its height and width
_TAGS = nh3.ALLOWED_TAGS | {"font", "progress"}
_ATTRIBUTES = {
    **nh3.ALLOWED_ATTRIBUTES,
    "*": {"align", "bgcolor", "class", "dir", "lang", "style", "title", "valign"},
    "details": {"open"},
    "font": {"color", "face", "size"},
    "progress": {"max", "value"},
    "table": {"border", "cellpadding", "cellspacing", "frame", "rules", "width"},
    "td": {"colspan", "headers", "height", "rowspan", "width"},
}
# No others: with the classes of nbgrader's pages, a student could fake their buttons and scores.
_CLASSES = {"dataframe", "alert", "alert-block", "alert-danger", "alert-info", "alert-success", "alert-warning"}
# None of these can put text on top of other text, and none of the values allowed below can fetch anything.
_PROPERTY = re.compile(
    r"(?:background|border|font|list-style|margin|max|min|padding|text|word)(?:-[a-z]+)*|caption-side|color|display|"
    r"height|letter-spacing|line-height|opacity|table-layout|vertical-align|white-space|width"
)
_VALUE = re.compile(r"""(?:[\w\s.,%#!'"]|(?<=[a-zA-Z])-(?=[a-zA-Z])|\b(?:rgb|hsl)a?\([\d\s.,%]*+\))*""")
_LINK = re.compile(r"(?:https?://|mailto:|#).*", re.IGNORECASE | re.DOTALL)
_BASE64 = r"data:(image/(?:png|jpeg));base64,([A-Za-z0-9+/=]*+)"
_PICTURE = re.compile(_BASE64)


def is_image(mime_type: str, content: str) -> bool:
    """Whether a text is a base64 image of this type with few enough pixels for a browser to show it at once."""
    try:
        decoded = base64.b64decode("".join(content.split()), validate=True)
    except (ValueError, binascii.Error):
        return False
    # Whatever looks like a frame counts, wherever it is: then no other one can hide a large one.
    sizes = _JPEG_FRAME.findall(decoded) if mime_type == "image/jpeg" else [(decoded[16:20], decoded[20:24])]
    pixels = [int.from_bytes(height) * int.from_bytes(width) for height, width in sizes]
    return decoded.startswith(_MAGIC[mime_type]) and max(pixels, default=MAX_PIXELS + 1) <= MAX_PIXELS


# --- HTML ---------------------------------------------------------------------------------------------------------

# What follows the "<" of an ordinary tag. No value may contain "<", so that the search for the end of a tag stops at
# the next one.
_TAG_END = r"""(?:\s++[a-zA-Z_][\w:.-]*+(?:\s*+=\s*+(?:"[^"<]*+"|'[^'<]*+'|[^\s"'<>`=]++))?+){0,30}+\s*+/?+>"""
_NO_TAG = re.compile(f"<(?!/?[a-zA-Z][a-zA-Z0-9]*+{_TAG_END})")
# Formatting tags. An unclosed one is reopened in each element that follows, up to three times if it has the same
# attributes, so that a hundred thousand characters can become gigabytes.
_FORMAT_NAMES = ("b", "big", "code", "em", "font", "i", "s", "small", "strike", "strong", "tt", "u")
_FORMAT = re.compile(rf"<({'|'.join(_FORMAT_NAMES)}){_TAG_END}", re.IGNORECASE)
_DECLARATION = re.compile(r"<!--.*?(?:-->|\Z)|<[!?][^>]*+>?+", re.DOTALL)


def safe_html(html: str) -> str:
    """Remove everything from HTML that is not whitelisted."""
    # Only ordinary tags: one with very many attributes would keep the parser busy.
    html = _NO_TAG.sub("&lt;", _DECLARATION.sub("", html))
    if _multiplies(html, html.count("<")):
        html = _FORMAT.sub(r"<\1>", html)
    return str(_CLEANER.clean(html)).strip()


def _multiplies(html: str, elements: int) -> bool:
    """Whether unclosed formatting tags could blow up this many elements."""
    return 3 * len({match[0].lower() for match in _FORMAT.finditer(html)}) * elements > MAX_REOPENED


def _safe_attribute(name: str, value: str) -> str | None:
    if name == "style":
        return _safe_style(value)
    if name == "class":
        return " ".join(word for word in value.split() if word in _CLASSES) or None
    if name == "href":
        return value if _LINK.fullmatch(value) else None
    if name == "src":
        picture = _PICTURE.fullmatch(value)
        return value if picture and is_image(picture[1], picture[2]) else None
    return value


def _safe_style(style: str) -> str | None:
    return ";".join(part for part in style.split(";") if not part.strip() or _is_declaration(part)).strip() or None


def _is_declaration(text: str) -> bool:
    name, _, value = text.partition(":")
    return bool(_PROPERTY.fullmatch(name.strip().lower()) and _VALUE.fullmatch(value))


_CLEANER = nh3.Cleaner(
    tags=_TAGS,
    attributes=_ATTRIBUTES,
    attribute_filter=lambda _tag, name, value: _safe_attribute(name, value),
    url_schemes={"http", "https", "mailto", "data"},  # the filter decides which of them are allowed where
)


# --- Markdown -----------------------------------------------------------------------------------------------------

# No links to submitted HTML: opened from the formgrader, it would have the instructor's rights.
_SUBMITTED = r"(?:\.\./)*+\w[\w-]*+(?:[/.][\w-]++)*?\.(?:csv|gif|ipynb|jpe?g|md|png|py|txt)"
# The target may be a plain word: it is Python, as in f[i](x) or a[i]: int, or leads to nothing that runs.
_TARGET = rf"(?:<?https?://|mailto:|\#|(?:{_SUBMITTED}|[^ \t\r\n.:&\\<>%/)\[\]]*+)(?=[ \t\r\n)]|\Z))"
_FIGURE = r"\w[\w-]*+(?:[/.][\w-]++)*+"  # a path below the notebook
_TITLE = r"""(?:[ ]++"[^"<>`$\\\[\]\n]*+")?+"""
# The value of an attribute must not end a tag, code, formula, table cell or line for any parser.
_PLAIN = r"""[^"'<>`$\\|\[\]\n]*+"""
_ATTRIBUTE = rf"""[ ]+([a-zA-Z-]++)(?:=(?:"({_PLAIN})"|'({_PLAIN})'|([\w#%.-]++)))?+"""
# First what is checked as a whole, then what could begin a tag, an image, a link or its address, or a diagram.
_SUSPECT = re.compile(
    rf"""
    (?P<tag> </?(?P<name>[a-zA-Z][a-zA-Z0-9]*+)(?P<attributes>(?:{_ATTRIBUTE}){{0,30}}+)[ ]*+/?+> )
    | (?P<plain> <(?:https?://|mailto:)[^\s<>`$\\|\[\]]*+> | !\[[^\[\]<>`$\\\n]*+\]\((?:{_FIGURE}|{_BASE64}){_TITLE}\) )
    | <(?=[a-zA-Z/!?])
    | !(?=\[)
    | \](?=[(:])(?!.\s*+{_TARGET})
    | (?<=[`~])\s*+(?=mermaid)
    """,
    re.VERBOSE | re.IGNORECASE,
)
_ANCHOR = re.compile(r"(?!test-)[\w-]+(?<!-comment)(?<!_extra_credit)")  # nbgrader has anchors like these
_BLOCK = re.compile(r"[\n<|]|[-*+>][ \t]|>>|\d[.)]")  # what could begin an element that contains text
_FORMULA = re.compile(r"\\\\(?=[\[(])|\\(?=begin)")


def safe_texts(notebook: NotebookNode) -> None:
    """Make the texts of a repaired notebook harmless, except those from the course, which nobody else can change."""
    characters = MAX_TEXTS  # that may still follow
    for cell in notebook.cells:
        if cell.cell_type != "code" and not cell.metadata.get("nbgrader", {}).get("locked"):
            cell.source = safe_markdown(cell.source, min(MAX_MARKDOWN, characters))
            characters = max(0, characters - len(_PICTURE.sub("", cell.source)))


def safe_markdown(source: str, max_length: int = MAX_MARKDOWN) -> str:
    """Break up every place in Markdown where a parser could see something that is not whitelisted."""
    if len(_PICTURE.sub("", source)) > max_length:
        source = source[:max_length] + "\n\n[This text is too long; the rest is left out.]\n"
    if len(_FORMULA.findall(source)) > MAX_FORMULAS:
        source = _FORMULA.sub(_break, source)
    refused = _FORMAT_NAMES if _multiplies(source, len(_BLOCK.findall(source))) else ()

    def harmless(suspect: re.Match[str]) -> str:
        return suspect[0] if suspect["plain"] or _is_plain_tag(suspect, refused) else _break(suspect)

    return _SUSPECT.sub(harmless, source)


def _break(suspect: re.Match[str]) -> str:
    return suspect[0][:1] + WORD_JOINER + suspect[0][1:]


def _is_plain_tag(suspect: re.Match[str], refused: Sequence[str]) -> bool:
    name = (suspect["name"] or "").lower()
    if name not in _TAGS or name in refused:
        return False
    attributes = re.findall(_ATTRIBUTE, suspect["attributes"] or "")
    return all(_is_attribute(name, attribute.lower(), "".join(values)) for attribute, *values in attributes)


def _is_attribute(tag: str, name: str, value: str) -> bool:
    if name in ("id", "name"):
        return tag != "img" and bool(_ANCHOR.fullmatch(value))  # a named image can shadow a property of the document
    allowed = name in _ATTRIBUTES["*"] or name in _ATTRIBUTES.get(tag, ())
    return allowed and _text_attribute(name, value) == value


def _text_attribute(name: str, value: str) -> str | None:
    """The same as in HTML, but files beside the notebook are allowed, too."""
    file = {"href": _SUBMITTED, "src": _FIGURE}.get(name)
    return value if file and re.fullmatch(file, value) else _safe_attribute(name, value)


class _Renderer(IPythonRenderer):
    def block_code(self, code: str, info: str | None = None) -> str:
        """Highlight Python only: nbconvert has lexers for many languages, and most can be kept busy for minutes."""
        is_python = (info or "").strip().lower() in ("py", "python", "python3", "ipython3")
        html = colored(code) if is_python else escape(code)
        return f'<div class="highlight"><pre>{html}</pre></div>\n'


def markdown_to_html(source: str) -> str:
    """Replaces nbconvert's filter: no text can stop the page, or reach beyond its own cell."""
    try:
        html = MarkdownWithMath(renderer=_Renderer(escape=False)).render(source)
    except Exception:  # such as very deep nesting, or a missing attachment
        html = f"<pre>{escape(source)}</pre>"
    return str(_BALANCER.clean(html))


def _rendered_attribute(name: str, value: str) -> str | None:
    return value if name == "class" else _text_attribute(name, value)  # such as those of highlighted code


_BALANCER = nh3.Cleaner(
    tags=_TAGS | {"input"},  # the checkboxes of a task list
    attributes={
        **_ATTRIBUTES,
        "*": _ATTRIBUTES["*"] | {"id", "name"},
        "input": {"checked", "disabled"},
    },
    attribute_filter=lambda _tag, name, value: _rendered_attribute(name, value),
    set_tag_attribute_values={"input": {"type": "checkbox"}},
    url_schemes={"http", "https", "mailto", "data"},
)
