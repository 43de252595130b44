"""Nothing that a student writes or shows runs in the browser of whoever looks at it, and honest pages stay as they are.

The payloads are tried twice: one by one against the functions, and all together in a browser, on the feedback page, in
the formgrader and in JupyterLab. There every payload asks a server of the test for a path of its own, so that a request
tells which one got through.
"""

from __future__ import annotations

import base64
import json
import random
import re
import threading
from collections.abc import Callable, Iterator
from html.parser import HTMLParser
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import nbformat
import pytest
from nbconvert.filters.ansi import ansi2html
from nbconvert.filters.markdown_mistune import markdown2html_mistune
from selenium.webdriver import Chrome

from grader.classroom.run import autograde
from grader.course.folder import Course
from grader.gradebook import preprocessors
from grader.host import replies
from grader.notebooks.outputs import MAX_COLORS, MAX_OUTPUTS, MAX_TAGS, NOT_SHOWN, rebuild_outputs
from grader.notebooks.parsing import content_of, parse_notebook
from grader.notebooks.repair import add_notes
from grader.notebooks.safe_html import MAX_MARKDOWN, WORD_JOINER, markdown_to_html, safe_html, safe_markdown, safe_texts
from grader.pages.feedback import write_feedback
from grader.sandbox.cell_outputs import MAX_LATE_ERROR, MAX_OUTPUT, NOTICE
from support.jupyter_lab import FORMGRADER, NotebookPage, serving
from support.places import ROOT

pytestmark = pytest.mark.user

ASSIGNMENT = "self_attention"
PNG = base64.b64encode(b"\x89PNG\r\n\x1a\n" + bytes(8)).decode()
DOT = (  # a picture of one pixel
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
)
SVG = '<svg xmlns="http://www.w3.org/2000/svg" width="20" height="10">{}<rect width="20" height="10"/></svg>'

# In all of these, JS stands for a script, and URL for the address that it, or the page, asks for.
HOSTILE_HTML = {
    "script": "<script>JS</script>",
    "script in capitals": "<ScRiPt/x>JS</sCrIpT >",
    "script from elsewhere": '<script src="URL"></script>',
    "handler": '<img src="x" onerror="JS">',
    "handler without quotes or blanks": '<img/src="x"/onerror=JS>',
    "handler after a quote": """<img title='"' src=x onerror="JS" ">""",
    "toggle": '<details open ontoggle="JS"><summary>more</summary></details>',
    "focus": '<a href="#f" id="f" tabindex="1" autofocus onfocus="JS">x</a>',
    "input": '<input autofocus onfocus="JS">',
    "animation": '<style>@keyframes k{}</style><b style="animation: k 1s" onanimationstart="JS">x</b>',
    "video": '<video><source onerror="JS"></video>',
    "frame": '<iframe src="javascript:JS"></iframe>',
    "frame from elsewhere": '<iframe src="URL"></iframe>',
    "frame with a document": '<iframe srcdoc="<script>JS</script>"></iframe>',
    "object": '<object data="URL"></object>',
    "embed": '<embed src="URL">',
    "svg": '<svg onload="JS"></svg>',
    "svg animation": '<svg><animate attributeName="x" dur="1s" onbegin="JS"></svg>',
    "script in svg": "<svg><script>JS</script></svg>",
    "picture in svg": '<svg><image href="URL" width="9" height="9"/></svg>',
    "style element": "<style>body { background: url(URL) }</style>",
    "import": '<style>@import "URL";</style>',
    "stylesheet": '<link rel="stylesheet" href="URL">',
    "style": '<p style="background: url(URL)">x</p>',
    "style with escapes": '<p style="background: u\\72l(URL)">x</p>',
    "style with a picture set": "<p style=\"background: image-set('URL' 1x)\">x</p>",
    "list style": '<ul><li style="list-style: url(URL)">x</li></ul>',
    "background": '<table background="URL"><tr><td>x</td></tr></table>',
    "picture": '<img src="URL">',
    "picture set": '<img srcset="URL 1x">',
    "picture without scheme": '<img src="RELATIVE">',
    "picture element": '<picture><source srcset="URL"><img></picture>',
    "poster": '<video poster="URL"></video>',
    "audio": '<audio src="URL" autoplay></audio>',
    "link": '<a href="javascript:JS">x</a>',
    "link with entities": '<a href="&#106;ava&Tab;script&colon;JS">x</a>',
    "link with a line break": '<a href="java\nscript:JS">x</a>',
    "link after a control character": '<a href="\x01javascript:JS">x</a>',
    "link to data": '<a href="data:text/html,<script>JS</script>">x</a>',
    "link to a page handed in": '<a href="evil.html">x</a>',
    "link in svg": '<svg><a xlink:href="javascript:JS"><text y="9">x</text></a></svg>',
    "link in mathematics": '<math><mi xlink:href="javascript:JS">x</mi></math>',
    "area": '<map name="m"><area shape="default" href="javascript:JS"></map>',
    "form": '<form action="javascript:JS"><button>x</button></form>',
    "button": '<button formaction="javascript:JS" form="f">x</button>',
    "base": '<base href="URL">',
    "refresh": '<meta http-equiv="refresh" content="0; url=URL">',
    "prefetch": '<link rel="prefetch" href="URL">',
    "comment that ends early": '<!--><img src=x onerror="JS">-->',
    "comment in a comment": '<!-- --!><img src=x onerror="JS"> -->',
    "declaration": '<!x y="><img src=x onerror=JS>">',
    "character data": '<svg><![CDATA[><img src=x onerror="JS">]]></svg>',
    "noscript": '<noscript><p title="</noscript><img src=x onerror=JS>"></noscript>',
    "template": '<template><img src=x onerror="JS"></template>',
    "title": '<title><a title="</title><img src=x onerror=JS>"></title>',
    "textarea": '<textarea><p title="</textarea><img src=x onerror=JS>"></textarea>',
    "style in mathematics": "<math><mtext><table><mglyph><style><img src=x onerror=JS></style></mglyph></table>",
    "style in svg": '<svg></p><style><a id="</style><img src=x onerror=JS>"></svg>',
    "form in mathematics": "<form><math><mtext></form><form><mglyph><style></math><img src=x onerror=JS>",
    "not closed": "<img src=x onerror=JS //",
    "not closed script": "<script>JS//",
    "tag in a tag": "<<script>script>JS</script>",
    "handler in an attribute": '<b title="`<img src=x onerror=JS>`">x</b>',
    "behavior of the page": '<b class="mark-graded full-credit" data-toggle="tooltip" data-title="<img>">x</b>',
    "end of the page": "</div></div></div></body></html><script>JS</script>",
}
HOSTILE_MARKDOWN = {
    **HOSTILE_HTML,
    "link of Markdown": "[x](javascript:JS)",
    "link with a title": '[x](javascript:JS "title")',
    "link in angle brackets": "[x](<javascript:JS>)",
    "link with entities in Markdown": "[x](&#x6A;avascript&colon;JS)",
    "link with a backslash": "[x](javascript\\:JS)",
    "link to data in Markdown": "[x](data:text/html;base64,PHNjcmlwdD4=)",
    "reference": "[x][r1]\n\n[r1]: javascript:JS",
    "reference on two lines": "[x][r2]\n\n[r2]:\n  javascript:JS",
    "reference in a quotation": "> [x][r3]\n>\n> [r3]:\n> javascript:JS",
    "reference with entities": "[r4]\n\n[r4]: <&#106;avascript:JS>",
    "autolink": "<javascript:JS>",
    "handed in": "[x](evil.html) [x](images/../evil.svg)",
    "image": "![x](URL)",
    "image with a title": '![x](URL "title")',
    "image by reference": "![x][r5]\n\n[r5]: URL",
    "image by its own name": "![r6]\n\n[r6]: URL",
    "image in a link": "[![x](URL)](https://example.org)",
    "image with a line break": "![x\ny](URL)",
    "image without scheme": "![x](RELATIVE)",
    "image as a file": "![x](files/RELATIVE)",
    "svg as data": "![x](data:image/svg+xml;base64,PHN2Zy8+)",
    "title that ends a tag": "[x](https://example.org '\"><img src=x onerror=JS>')",
    "HTML in a title": '![x](images/x.png "\\"><img src=x onerror=JS>")',
    "HTML in a formula": "$$ <img src=x onerror=JS> $$",
    "HTML in an environment": "\\begin{x}\n\n<img src=x onerror=JS>\n\n\\end{x}",
    "image in a formula": "\\\\[ ![x](URL) \\\\]",
    "formula over attributes": '<img alt="$"> src=URL <b title="$">x</b>',
    "HTML in code that is none": "`` `<img src=x onerror=JS>",
    "HTML in a fence that is none": "   ```\n<img src=x onerror=JS>\n```x",
    "HTML in a table": "| a |\n|---|\n| <img src=x onerror=JS> |",
    "HTML in a heading": "# <img src=x onerror=JS>",
    "diagram": '```mermaid\nflowchart LR\nA@{ img: "URL" } --> B["<img src=\'URL\' onerror=JS>"]\n```',
    "diagram after a blank": "~~~ mermaid\n<img src=x onerror=JS>\n~~~",
}
HREF = r"\href{javascript:JS}{x}"
HONEST_HTML = [
    '<table border="1" class="dataframe"><thead><tr style="text-align: right;"><th>a</th></tr></thead>'
    '<tbody><tr><td style="background-color: #ffcc00; color: rgb(1, 2, 3)">1 &lt; 2</td></tr></tbody></table>',
    '<details open=""><summary>more</summary><h3 style="font-family: sans-serif">A <em>b</em></h3><p>c</p></details>',
    f'<img src="data:image/png;base64,{PNG}" alt="a plot" width="100">',
    '<font color="red">red</font> and <progress max="10" value="3"></progress> <sub>1</sub><br>',
    '<p class="alert alert-info">$\\alpha &lt; \\frac{1}{2}$</p>',
]
HONEST_MARKDOWN = [
    "a < b and c > d, $a < b$, 3<4, `a -> b`, x[1]: int = f[i](x)",
    "# Title\n\n- [ ] task\n- **bold** _italic_ ~~gone~~\n\n| a | b |\n|---|--:|\n| 1 | 2 |\n",
    "[site](https://example.org/a?b=c&d=e) <https://example.org> [top](#top) [checks](checks.py) a@b.org",
    '![a plot](images/plot.svg "title") [![x](images/x.png)](https://example.org)',
    f"![pasted](data:image/png;base64,{PNG})",
    '<details>\n<summary>Hint</summary>\n\nText\n\n</details>\n<a id="x"></a><br><img src="images/a.png" width=300>',
    '<div class="alert alert-info" style="color: red; padding: 1em">note</div> <font color=red>x</font>',
    "```python\nfor i in range(3):\n    print(a[i])\n```\n$$\n\\begin{aligned} a &= b \\\\ c &= d \\end{aligned}\n$$",
]


ACTIVE_TAGS = {"applet", "audio", "base", "button", "embed", "form", "frame", "frameset", "iframe", "input", "link"}
ACTIVE_TAGS |= {"math", "meta", "noembed", "noframes", "noscript", "object", "picture", "plaintext", "script", "select"}
ACTIVE_TAGS |= {"source", "style", "svg", "template", "textarea", "title", "video", "xmp"}


class Dangers(HTMLParser):
    """What a page would do, beyond showing texts, tables and pictures that it holds itself."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.found: list[str] = []
        self.feed(html)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag in ACTIVE_TAGS:
            self.found.append(tag)
        for name, value in attrs:
            value = re.sub(r"[\x00-\x20]", "", value or "").lower()
            active = name.startswith(("on", "data-", "form", "src", "xlink")) and name != "src"
            active |= name in ("action", "background", "poster", "autofocus", "http-equiv", "ping")
            active |= name == "href" and not re.match(r"https?://|mailto:|#|[\w./-]+\.(png|py)$", value)
            active |= name == "src" and not re.match(r"data:image/(png|jpeg);base64,|images/", value)
            active |= name == "style" and bool(re.search(r"url|image|\\|position|@|http|-\d", value))
            active |= name == "class" and value in ("mermaid", "language-mermaid", "mark-graded full-credit")
            if active:
                self.found.append(f"{tag} {name}={value}")

    def handle_decl(self, decl: str) -> None:
        self.found.append(f"<!{decl}>")

    def handle_comment(self, data: str) -> None:
        self.handle_decl(data)

    def handle_pi(self, data: str) -> None:
        self.handle_decl(data)

    def unknown_decl(self, data: str) -> None:
        self.handle_decl(data)


def filled(payload: str, name: str = "x", url: str = "http://127.0.0.1:9") -> str:
    path = f"{url}/{name.replace(' ', '-')}"
    script = f"fetch(`{path}`)".replace("`", "'" if '="JS' in payload else "`")
    return payload.replace("JS", script).replace("URL", path).replace("RELATIVE", path.removeprefix("http:"))


@pytest.mark.parametrize("name", HOSTILE_HTML)
def test_safe_html_removes_what_is_active(name: str) -> None:
    payload = filled(HOSTILE_HTML[name])
    assert Dangers(safe_html(f"<p>before</p>{payload}<p>after</p>")).found == []


@pytest.mark.parametrize("name", HOSTILE_MARKDOWN)
def test_safe_markdown_removes_what_is_active(name: str) -> None:
    safe = safe_markdown(filled(HOSTILE_MARKDOWN[name]))
    assert Dangers(markdown2html_mistune(safe)).found == []
    assert Dangers(safe).found == []  # whatever a parser takes for HTML
    assert not re.search(r"\]\([^)]*(javascript|data:(?!image/png)|evil)", safe)  # or for a link
    assert not re.search(r"(?m)^[> ]*\[\w+\]:\s", safe) or "URL" in HOSTILE_MARKDOWN[name]
    assert not re.search(r"!\[[^\]]*\][\[(]", safe)  # or for an image
    assert safe_markdown(safe) == safe


@pytest.mark.parametrize("size", [20, 300])
def test_safe_html_with_unclosed_formats_stays_short(size: int) -> None:
    html = "<p>" + "".join(f"<font size={number}>" for number in range(size)) + "<p>x" * 3000
    assert len(safe_html(html)) < 3_000_000
    assert len(markdown_to_html(safe_markdown(html))) < 3_000_000


def test_safe_html_keeps_words_in_many_colors() -> None:
    html = " ".join(f'<font color="#{number:02x}4060">word</font>' for number in range(100))
    assert safe_html(html) == safe_markdown(html) == html


@pytest.mark.parametrize("html", HONEST_HTML)
def test_safe_html_keeps_honest_html(html: str) -> None:
    assert safe_html(html) == html


@pytest.mark.parametrize("source", HONEST_MARKDOWN)
def test_safe_markdown_keeps_honest_markdown(source: str) -> None:
    assert safe_markdown(source) == source


@pytest.mark.parametrize(
    "path", sorted(ROOT.glob("source/*/*.ipynb")) + sorted(ROOT.glob("release/*/*.ipynb")), ids=str
)
def test_safe_markdown_keeps_texts_of_the_course(path: Path) -> None:
    texts = [cell.source for cell in nbformat.read(path, as_version=4).cells if cell.cell_type != "code"]
    assert len(texts) > 20
    assert [safe_markdown(text) for text in texts] == texts


def test_safe_markdown_shows_html_in_code_as_it_is() -> None:
    source = "```html\n<script>alert(1)</script>\n```\nand `<b onclick=x>`"
    shown = re.sub(r"<[^<>]*>", "", markdown2html_mistune(safe_markdown(source)))
    assert shown.replace(WORD_JOINER, "").split() == [
        "&lt;script&gt;alert(1)&lt;/script&gt;",
        "and",
        "&lt;b",
        "onclick=x&gt;",
    ]


@pytest.mark.slow
def test_safe_markdown_and_html_of_random_pieces_are_safe() -> None:
    pieces = [
        "<",
        ">",
        "</",
        "<!--",
        "-->",
        "img ",
        "src=",
        "x",
        " onerror=y",
        '"',
        "'",
        "`",
        "```",
        "\n",
        "\n\n",
        "> ",
    ]
    pieces += [
        "[",
        "]",
        "(",
        ")",
        "!",
        ":",
        "javascript:",
        "&#106;avascript:",
        "http://127.0.0.1/",
        "$",
        "$$",
        "\\",
        "|",
    ]
    pieces += [
        "<b title=",
        "<a href=",
        "<script>",
        "# ",
        "- ",
        "    ",
        "\\begin{a}",
        "\\end{a}",
        "mermaid",
        "\t",
        "~~~",
        "a",
    ]
    draw = random.Random(3)
    for _ in range(3000):
        text = "".join(draw.choices(pieces, k=draw.randint(2, 14)))
        assert Dangers(markdown2html_mistune(safe_markdown(text))).found == [], text
        assert Dangers(safe_html(text)).found == [], text


@pytest.mark.parametrize(
    "source",
    ["# " + "<b>" * 5000, "![x](attachment:x.png)", "</div></div>x", "<div>" * 9 + "x", '<b style="color:red">'],
)
def test_markdown_to_html_closes_every_tag(source: str) -> None:
    html = markdown_to_html(source)
    assert html.count("<div") == html.count("</div")
    assert html.count("<b") == html.count("</b")


def test_safe_markdown_cuts_long_texts_but_not_pictures() -> None:
    picture = f"![x](data:image/png;base64,{'A' * MAX_MARKDOWN})"
    assert safe_markdown(picture) == picture
    assert len(safe_markdown("a " * MAX_MARKDOWN)) < MAX_MARKDOWN + 100
    assert "\\\\[" not in safe_markdown("\\\\[ " * 2000)


def test_safe_texts_escapes_text_cells_of_students_only() -> None:
    cells = [nbformat.v4.new_markdown_cell("<script>"), nbformat.v4.new_raw_cell("<script>")]
    cells += [nbformat.v4.new_code_cell("'<script>'"), nbformat.v4.new_markdown_cell("<script>")]
    cells[3].metadata["nbgrader"] = nbformat.from_dict({"locked": True})
    notebook = nbformat.v4.new_notebook(cells=cells)
    safe_texts(notebook)
    broken = f"<{WORD_JOINER}script>"
    assert [cell.source for cell in notebook.cells] == [broken, broken, "'<script>'", "<script>"]


def test_notes_about_a_hostile_notebook_are_plain_text(tmp_path: Path) -> None:
    language = "<script>alert(1)</script>[x](javascript:x)"
    cell = {"cell_type": "markdown", "id": '"><script>', "source": "x", "metadata": {"x": 1}, "attachments": {"a": {}}}
    submitted = {
        "nbformat": 4,
        "nbformat_minor": 5,
        "metadata": {"kernelspec": {"language": language}},
        "cells": [cell],
    }
    path = tmp_path / "x.ipynb"
    path.write_text(json.dumps(submitted))
    notebook = parse_notebook(content_of(path))
    assert notebook.cells[0] == {"cell_type": "markdown", "id": "cell-1", "source": "x", "metadata": {}}
    add_notes(notebook, notebook.metadata.pop("grader_notes"))
    assert "language" in notebook.cells[0].source
    assert Dangers(markdown2html_mistune(notebook.cells[0].source)).found == []


# --- outputs ------------------------------------------------------------------------------------------------------


def shown(data: Any, **more: Any) -> Any:
    """The one output that is left of this one, or None."""
    outputs = rebuilt([{"output_type": "display_data", "data": data, "metadata": {}, **more}])
    return outputs[0] if outputs else None


def rebuilt(value: Any) -> list[Any]:
    """Outputs that nbformat finds valid and that can be saved."""
    outputs = rebuild_outputs(value)
    for output in outputs:
        nbformat.validate(output, ref="output", version=4)
    json.dumps(outputs, ensure_ascii=False, allow_nan=False).encode()
    return outputs


def test_rebuild_outputs_keeps_usual_outputs() -> None:
    traceback = ["\x1b[0;31mE\x1b[39;49;00m", "\x1b[38;5;28;01mline\x1b[39m \x1b[48;2;1;2;3mx\x1b[m"]
    size = {"image/png": {"width": 100, "height": 50.5}}
    outputs = [
        {"output_type": "stream", "name": "stdout", "text": "a\tb\r\n"},
        {"output_type": "stream", "name": "stderr", "text": "ä 😀"},
        {"output_type": "execute_result", "data": {"text/plain": "1"}, "metadata": {}, "execution_count": 3},
        {"output_type": "display_data", "data": {"image/png": PNG, "text/plain": "<Figure>"}, "metadata": size},
        {
            "output_type": "display_data",
            "data": {"text/latex": "$a < b$", "text/markdown": "**a** < b"},
            "metadata": {},
        },
        {"output_type": "display_data", "data": {"application/json": {"a": [1, 2.5, None, True]}}, "metadata": {}},
        {"output_type": "display_data", "data": {"text/html": HONEST_HTML[0]}, "metadata": {}},
        {"output_type": "error", "ename": "ValueError", "evalue": "no", "traceback": traceback},
    ]
    assert rebuilt(outputs) == outputs
    assert rebuilt([{"output_type": "stream", "name": "stdout", "text": ["a\n", "b"]}])[0].text == "a\nb"


@pytest.mark.parametrize(
    "value",
    [
        None,
        "outputs",
        {"output_type": "stream"},
        [None, 1, "x", [], {}, {"output_type": []}],
        [{"output_type": "stream", "name": ["stdout"], "text": "x"}],
        [{"output_type": "stream", "name": "stdin", "text": "x"}],
        [{"output_type": "display_data", "data": "x"}],
        [{"output_type": "display_data", "data": {"application/javascript": "alert(1)"}}],
        [{"output_type": "display_data", "data": {"application/vnd.jupyter.widget-view+json": {"model_id": "x"}}}],
        [{"output_type": "display_data", "data": {"text/html'><script>": "x", "text/vnd.mermaid": "x"}}],
        [{"output_type": "display_data", "data": {"text/html": "<script>alert(1)</script>"}}],
        [{"output_type": "display_data", "data": {"application/json": float("nan")}}],
        [{"output_type": "display_data", "data": {"application/json": 10**5000}}],
        [{"output_type": "update_display_data", "data": {"text/plain": "x"}}],
    ],
)
def test_rebuild_outputs_drops_what_is_no_output(value: Any) -> None:
    assert rebuilt(value) == []


def test_rebuild_outputs_drops_metadata() -> None:
    metadata = {"grader": {"points": 9}, "isolated": True, "filenames": {"image/png": '"onerror=x'}}
    metadata |= {"image/png": {"width": '1 onerror="x"', "height": float("nan"), "alt": "x", "unconfined": True}}
    output = shown({"image/png": PNG}, metadata=metadata, transient={}, svg_filename="x", execution_count=1)
    assert output == {"output_type": "display_data", "data": {"image/png": PNG}, "metadata": {}}
    for count in ("1", True, -1, 10**20, [1]):
        (output,) = rebuilt([{"output_type": "execute_result", "data": {"text/plain": ""}, "execution_count": count}])
        assert output.execution_count is None


@pytest.mark.parametrize(
    "data",
    [
        {"image/png": 'x" onerror="alert(1)'},
        {"image/png": base64.b64encode(b"<script>").decode()},
        {"image/jpeg": PNG},
        {"image/png": 3},
    ],
)
def test_rebuild_outputs_replaces_forged_images(data: Any) -> None:
    assert shown(data).data == {"text/plain": NOT_SHOWN}


@pytest.mark.parametrize("kind", ["image/svg+xml", "image/gif", "image/webp"])
def test_rebuild_outputs_replaces_other_pictures_by_text(kind: str) -> None:
    picture = {kind: SVG.format("<script>alert(1)</script>"), "text/plain": "<Figure>"}
    assert shown(picture).data == {"text/plain": NOT_SHOWN}
    assert shown(picture | {"image/png": PNG}).data == {"text/plain": "<Figure>", "image/png": PNG}
    assert shown(picture | {"text/html": "<b>b</b>"}).data == {"text/plain": "<Figure>", "text/html": "<b>b</b>"}
    again = rebuilt([shown(picture)])
    assert again == [shown(picture)]


def test_rebuild_outputs_drops_what_cannot_be_saved() -> None:
    (output,) = rebuilt([{"output_type": "stream", "name": "stdout", "text": "a\0b\ud800c"}])
    assert output.text == "ab?c"
    assert shown({"application/json": {"\ud800": ["\0"]}}).data == {"application/json": {"?": [""]}}
    deep: Any = "x"
    for _ in range(900):
        deep = [deep]
    assert shown({"application/json": deep}) is None


@pytest.mark.parametrize(
    "text", ["\x1b[38m", "\x1b[1;048mx", "\x1b[2Jx", "\x1b]0;title\x07x", "\x1b[" + "1;" * 9999 + "m"]
)
def test_rebuild_outputs_drops_control_sequences_but_colors(text: str) -> None:
    (output,) = rebuilt([{"output_type": "error", "ename": text, "evalue": text, "traceback": [text]}])
    for safe in (output.ename, output.evalue, output.traceback[0]):
        assert "\x1b" not in safe
        ansi2html(safe)  # fails on some of them as they were


def test_rebuild_outputs_limits_the_number_of_colors() -> None:
    (output,) = rebuilt([{"output_type": "stream", "name": "stdout", "text": "\x1b[31mx" * (MAX_COLORS + 1)}])
    assert output.text.count("\x1b") == MAX_COLORS
    assert output.text.endswith("xx")


SAYS_FULL = {"output_type": "stream", "name": "stderr", "text": NOTICE}


@pytest.mark.slow
def test_rebuild_outputs_limits_the_characters_of_a_cell() -> None:
    text = {"output_type": "stream", "name": "stdout", "text": "x" * MAX_OUTPUT}
    assert rebuilt([text]) == [text]
    assert rebuilt([text, text, text]) == [text, SAYS_FULL]
    html = {"output_type": "display_data", "data": {"text/html": "<p>" + "a & b" * 300}, "metadata": {}}
    outputs = rebuilt([html] * 10_000)  # longer when it is safe
    assert outputs[-1] == SAYS_FULL
    assert 0.9 * MAX_OUTPUT < sum(len(output.data["text/html"]) for output in outputs[:-1]) <= MAX_OUTPUT
    lines = {"output_type": "error", "ename": "", "evalue": "", "traceback": [""] * (MAX_OUTPUT + 1)}
    assert rebuilt([lines]) == [SAYS_FULL]
    numbers = {"output_type": "display_data", "data": {"application/json": [0] * MAX_OUTPUT}}
    assert rebuilt([numbers]) == [SAYS_FULL]


@pytest.mark.slow
def test_rebuild_outputs_limits_the_outputs_of_a_cell() -> None:
    text = {"output_type": "stream", "name": "stdout", "text": "x"}
    assert rebuilt([text] * MAX_OUTPUTS) == [text] * MAX_OUTPUTS
    assert rebuilt([text] * (MAX_OUTPUTS + 500)) == [*[text] * MAX_OUTPUTS, SAYS_FULL]


def test_rebuild_outputs_does_not_repeat_the_notice() -> None:
    for length in (10, MAX_OUTPUT):
        text = {"output_type": "stream", "name": "stdout", "text": "x" * length}
        assert rebuilt([text, SAYS_FULL]) == [text, SAYS_FULL]
        assert rebuilt([text, SAYS_FULL, text, SAYS_FULL]) == [text, SAYS_FULL]


def test_rebuild_outputs_keeps_a_short_error_of_a_full_cell() -> None:
    text = {"output_type": "stream", "name": "stdout", "text": "x" * 10}
    error = {"output_type": "error", "ename": "E", "evalue": "e", "traceback": ["t" * MAX_LATE_ERROR]}
    assert rebuilt([text, SAYS_FULL, error]) == [text, SAYS_FULL, error]
    assert rebuilt([text, SAYS_FULL, {**error, "evalue": "e" * MAX_OUTPUT}]) == [text, SAYS_FULL]


def test_rebuild_outputs_drops_html_with_too_many_tags() -> None:
    assert shown({"text/html": "<p>" * (MAX_TAGS + 1), "text/plain": "x"}).data == {"text/plain": "x"}
    assert shown({"text/html": "<b>x</b>" * (MAX_TAGS // 2), "text/plain": "x"}).data.keys() == {
        "text/plain",
        "text/html",
    }


@pytest.mark.parametrize(
    "html",
    [
        "<b " + "a " * (MAX_OUTPUT // 3) + ">",
        "<b " + 'a=">" ' * (MAX_OUTPUT // 7) + ">",
        "<div>" * (MAX_OUTPUT // 6),
        "<b><p>" * 4000,
        '<p style="color: ' + "rgb(" * (MAX_OUTPUT // 5) + '">x',
        "<!--" * (MAX_OUTPUT // 4),
        "<" * MAX_OUTPUT,
    ],
    ids=["attributes", "quoted attributes", "very deep", "deep", "style", "comments", "tags"],
)
def test_rebuild_outputs_of_slow_html_is_fast(html: str) -> None:
    kinds = [one["output_type"] for one in rebuilt([{"output_type": "display_data", "data": {"text/html": html}}])]
    assert kinds in (["display_data"], ["stream"], [])  # without care it takes minutes


@pytest.mark.slow
def test_rebuild_outputs_of_any_json_is_valid() -> None:
    draw = random.Random(5)
    names = ["output_type", "name", "text", "data", "metadata", "ename", "evalue", "traceback", "execution_count"]
    names += ["text/html", "text/plain", "image/png", "image/svg+xml", "text/markdown", "application/json", "\ud800"]
    values = [
        "stream",
        "stdout",
        "display_data",
        "execute_result",
        "error",
        PNG,
        "<b",
        "\x1b[38m",
        "\0",
        "",
        1,
        -1.5,
        10**30,
    ]
    values += [None, True, float("nan"), float("inf"), [], {}]

    def anything(depth: int) -> Any:
        kind = draw.random() if depth else 0
        if kind < 0.5:
            return draw.choice(values)
        if kind < 0.6:
            return [anything(depth - 1) for _ in range(draw.randint(0, 4))]
        return {draw.choice(names): anything(depth - 1) for _ in range(draw.randint(0, 6))}

    def output() -> Any:
        known = {
            "output_type": draw.choice(values[:5]),
            "name": "stdout",
            "data": anything(3),
            "traceback": anything(2),
        }
        return anything(3) if draw.random() < 0.2 else {**anything_of(3), **known}

    def anything_of(depth: int) -> dict[str, Any]:
        return {name: anything(depth) for name in names}

    assert sum(len(rebuilt([output() for _ in range(3)])) for _ in range(700)) > 500


# --- in a browser -------------------------------------------------------------------------------------------------

# Waits until everything that the page has begun would have been asked for; a link or button that runs something counts.
SETTLED = """
    const done = arguments[arguments.length - 1];
    const loaded = document.readyState === "complete" ? null : new Promise(ready => addEventListener("load", ready));
    const pages = [document, ...[...document.querySelectorAll("iframe")].map(frame => frame.contentDocument)];
    const links = pages.flatMap(page => [...(page?.querySelectorAll("a, area, form, button") ?? [])]).map(
        link => link.href?.baseVal ?? (link.getAttribute("formaction") ?? link.href ?? link.action ?? ""));
    (async () => {
        await loaded;
        for (let frame = 0; frame < 3; frame++) await new Promise(requestAnimationFrame);
        await Promise.allSettled([...document.images].map(image => image.decode()));
        await fetch(arguments[0] + "/settled", {mode: "no-cors"});
        done(links.filter(link => /^\\W*(java|vb|data)/i.test(link) || /evil\\./.test(link)));
    })();
"""


class Canary:
    """A server that keeps the paths that it was asked for."""

    def __init__(self) -> None:
        asked = self.asked = set[str]()

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                asked.add(self.path.strip("/"))
                self.send_response(204)
                self.end_headers()

            def log_message(self, *_: object) -> None:
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self._server.server_port}"
        threading.Thread(target=self._server.serve_forever).start()

    def visit(self, page: Chrome, address: str, ready: Callable[[], Any] = lambda: True) -> set[str]:
        """Open a page; what it has asked for, and which links in it would run something."""
        self.asked.clear()
        page.get(address)
        ready()
        links = page.execute_async_script(SETTLED, self.url)
        assert "settled" in self.asked
        return self.asked - {"settled", "favicon.ico"} | set(links)

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()


@pytest.fixture(scope="module")
def canary() -> Iterator[Canary]:
    server = Canary()
    yield server
    server.close()


def hostile_notebook(notebook: Any, texts: dict[str, str], url: str) -> Any:
    """The submission with every payload, as text and as output, and an honest figure, table and formula."""
    for kind, new_cell in (("markdown", nbformat.v4.new_markdown_cell), ("raw", nbformat.v4.new_raw_cell)):
        notebook.cells += [new_cell(filled(payload, f"{kind} {name}", url)) for name, payload in texts.items()]
    outputs = [
        {"text/html": filled(payload, f"html {name}", url)} for name, payload in HOSTILE_HTML.items() if name in texts
    ]
    outputs += [{"text/markdown": filled(payload, f"output {name}", url)} for name, payload in texts.items()]
    drawing = SVG.format("<script>JS</script><image href='URL' width='9' height='9'/>")
    outputs += [
        {"application/javascript": filled("JS", "javascript", url)},
        {"image/svg+xml": filled(drawing, "drawing", url)},
        {"image/png": filled('x" onerror="JS', "png", url)},
        {"text/latex": filled(f"$${HREF}$$", "latex", url)},
        {"text/plain": filled("<script>JS</script>", "plain", url), "x": "y"},
        {"text/html": HONEST_HTML[0] + f'<img id="dot" alt="a dot" src="data:image/png;base64,{DOT}">'},
    ]
    error = filled("<img src=x onerror=JS>", "error", url)
    cells = [
        f"import sys\nprint({error!r})\nprint({error!r}, file=sys.stderr)",
        "%matplotlib inline",
        "import matplotlib.pyplot as plt\nplt.plot([1, 2])\nplt.show()",
        f"raise type({error!r}, (Exception,), {{}})({error!r})",
        f"def softmax(items_in):\n    raise ValueError({error!r})",
    ]
    for first in range(0, len(outputs), 40):  # JupyterLab shows the first fifty of a cell
        some = outputs[first : first + 40]
        cells.append(f"from IPython.display import display\nfor data in {some!r}:\n    display(data, raw=True)")
    notebook.cells += [nbformat.v4.new_code_cell(cell) for cell in cells]
    notebook.cells += [nbformat.v4.new_markdown_cell(text) for text in [*HONEST_MARKDOWN, f"${HREF}$ and $x<y$"]]
    return notebook


# Those that run at once, without a click, when nothing is made safe.
AT_ONCE = ["handler", "frame from elsewhere", "style", "picture", "script", "image"]
WAITS = {"link", "link of Markdown"}


def hand_in(course: Course, make_notebook: Any, submit: Any, texts: dict[str, str], canary: Canary) -> Path:
    notebook = make_notebook(course, {})
    path: Path = submit(course, "eve", hostile_notebook(notebook, texts, canary.url))
    (path.parent / "evil.html").write_text("<script>document.title = 'hit'</script>")
    (graded,) = autograde(course, ASSIGNMENT)
    assert not graded.error
    return course.notebook("autograded/eve", ASSIGNMENT)


@pytest.fixture(scope="module")
def graded(new_course: Any, make_notebook: Any, submit: Any, canary: Canary) -> Course:
    """A course with one submission that holds every payload."""
    course: Course = new_course()
    hand_in(course, make_notebook, submit, HOSTILE_MARKDOWN, canary)
    return course


@pytest.fixture(scope="module")
def server(graded: Course, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with serving(graded.root, tmp_path_factory.mktemp("home"), FORMGRADER) as url:
        yield url


def test_feedback_page_in_a_browser_runs_nothing(browser: Chrome, canary: Canary, graded: Course) -> None:
    (path,) = write_feedback(graded, ASSIGNMENT)
    page = path.read_text()
    path.write_text(page.replace("Content-Security-Policy", "x"))  # which would stop what got into the page
    assert canary.visit(browser, path.as_uri()) == set()
    assert "Content-Security-Policy" in page
    assert len(browser.find_elements("css selector", "section.exercise")) == 8


def test_formgrader_in_a_browser_runs_nothing(browser: Chrome, canary: Canary, graded: Course, server: str) -> None:
    with graded.api().gradebook as gradebook:
        submission = gradebook.find_submission_notebook(ASSIGNMENT, ASSIGNMENT, "eve").id
    assert canary.visit(browser, f"{server}/formgrader/submissions/{submission}/") == set()
    assert_honest_content_is_there(browser)
    assert browser.find_elements("css selector", ".nbgrader_cell input.score")
    assert browser.find_elements("css selector", "script[src$='TeX-AMS_CHTML-full,Safe']")


def test_jupyterlab_in_a_browser_runs_nothing(browser: Chrome, canary: Canary, graded: Course, server: str) -> None:
    path = graded.notebook("autograded/eve", ASSIGNMENT)
    code_cells = sum(cell.cell_type == "code" for cell in nbformat.read(path, as_version=4).cells)

    def ready() -> None:
        page = NotebookPage(browser, code_cells)
        formula = "return $('.jp-MarkdownCell').at(-1)?.querySelectorAll('mjx-container').length === 2"
        page.wait(lambda: page.script(formula), "the last cell was not rendered")

    assert canary.visit(browser, f"{server}/lab/tree/{path.relative_to(graded.root)}?reset", ready) == set()
    assert_honest_content_is_there(browser)
    assert not browser.find_elements("css selector", "mjx-merror")


def assert_honest_content_is_there(page: Chrome) -> None:
    assert page.find_element("css selector", ".dataframe td").text == "1 < 2"
    assert page.find_element("css selector", ".dataframe td").value_of_css_property("color") == "rgba(1, 2, 3, 1)"
    widths = dict(page.execute_script("return [...document.images].map(image => [image.src, image.naturalWidth])"))
    assert widths[f"data:image/png;base64,{DOT}"] == 1
    plots = [width for source, width in widths.items() if source.startswith("data:image/png") and width > 200]
    assert plots
    assert page.find_element("css selector", "div.verdict").text.startswith("✗ Exercise 1")


def test_same_payloads_without_protection_run(
    monkeypatch: pytest.MonkeyPatch,
    browser: Chrome,
    canary: Canary,
    course: Course,
    make_notebook: Any,
    submit: Any,
) -> None:
    monkeypatch.setattr(preprocessors, "safe_texts", lambda _: None)
    monkeypatch.setattr(replies, "rebuild_outputs", lambda outputs: [nbformat.from_dict(one) for one in outputs])
    config = course.root / "nbgrader_config.py"
    nbgraders_own = re.sub(r"c\.(HTMLExporter\.filters|GenerateFeedback\.\w+)", "_", config.read_text())
    config.write_text(nbgraders_own)
    texts = {name: HOSTILE_MARKDOWN[name] for name in [*AT_ONCE, *WAITS]}
    hand_in(course, make_notebook, submit, texts, canary)
    (path,) = write_feedback(course, ASSIGNMENT)
    hits = canary.visit(browser, path.as_uri())
    expected = {f"markdown-{name}".replace(" ", "-") for name in AT_ONCE} | {
        f"html-{name}".replace(" ", "-") for name in AT_ONCE if name in HOSTILE_HTML
    }
    assert expected <= hits
    assert len([hit for hit in hits if hit.startswith("javascript:")]) >= len(WAITS)
