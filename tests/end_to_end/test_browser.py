"""The course as a browser shows it: the released notebooks as students meet them."""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterator
from functools import partial
from typing import Any, NamedTuple

import nbformat
import pytest
from selenium.webdriver import Chrome, Keys

from grader.course.folder import Course
from grader.model.exercise import Exercise
from grader.notebooks.cells import fill_in, solutions
from support.accessibility import violations_within
from support.jupyter_lab import NotebookPage, serving
from support.our_course import of_assignment
from support.places import ROOT
from support.proof import first_in_ci

pytestmark = pytest.mark.user

COURSE = Course(ROOT)
RELEASE = COURSE.root / "release"


class Typed(NamedTuple):
    """What a student types into the first exercise of a notebook, at first and then."""

    wrong: str
    explained: str
    right: str


ANSWERS = {
    "self_attention": Typed(
        """\
def compute_qkv(all_x, W_q, W_k, W_v, b_q, b_k, b_v):
    all_queries = [W_q @ x for x in all_x]
    return all_queries, all_queries, all_queries
""",
        "expected -0.6700, your code gave -0.8618",
        """\
def compute_qkv(all_x, W_q, W_k, W_v, b_q, b_k, b_v):
    project = lambda W, b: [W @ x + b for x in all_x]
    return project(W_q, b_q), project(W_k, b_k), project(W_v, b_v)
""",
    ),
    "causal_attention": Typed(
        """\
def simple_attention_scores(inputs, query):
    return query @ query
""",
        "result has shape (), but (6,) was expected",
        """\
def simple_attention_scores(inputs, query):
    return inputs @ query
""",
    ),
    "multi_head_attention": Typed(
        """\
class MultiHeadAttentionWrapper(nn.Module):
    def forward(self, x):
        return x
""",
        "MultiHeadAttentionWrapper stopped with TypeError",
        """\
class MultiHeadAttentionWrapper(nn.Module):
    def __init__(self, d_in, d_out, context_length, dropout, num_heads, qkv_bias=False):
        super().__init__()
        rest = (context_length, dropout, qkv_bias)
        self.heads = nn.ModuleList([CausalAttention(d_in, d_out, *rest) for _ in range(num_heads)])

    def forward(self, x):
        return torch.cat([head(x) for head in self.heads], dim=-1)
""",
    ),
    "transformer": Typed(
        """\
def sinusoidal_positions(length, d_model, base=10000.0):
    return torch.zeros(d_model, length)
""",
        "result has shape",
        """\
def sinusoidal_positions(length, d_model, base=10000.0):
    angles = torch.arange(length)[:, None] / base ** (torch.arange(0, d_model, 2) / d_model)
    return torch.stack([angles.sin(), angles.cos()], dim=-1).flatten(1)
""",
    ),
    "fast_attention": Typed(
        """\
def grouped_query_attention(queries, keys, values, causal=False):
    return queries @ keys
""",
        "grouped_query_attention stopped with RuntimeError",
        """\
def grouped_query_attention(queries, keys, values, causal=False):
    group, left = divmod(queries.shape[1], keys.shape[1])
    if left:
        raise ValueError("the heads of queries cannot be shared out")
    keys, values = (heads.repeat_interleave(group, dim=1) for heads in (keys, values))
    seen = torch.ones(queries.shape[2], keys.shape[2], dtype=torch.bool).tril(keys.shape[2] - queries.shape[2])
    return F.scaled_dot_product_attention(queries, keys, values, attn_mask=seen if causal else None)
""",
    ),
    "modern_attention": Typed(
        """\
def attention_with_sinks(queries, keys, values, sinks, causal=False):
    return queries @ keys
""",
        "attention_with_sinks stopped with RuntimeError",
        """\
def attention_with_sinks(queries, keys, values, sinks, causal=False):
    scores = queries @ keys.mT / math.sqrt(queries.shape[-1])
    if causal:
        seen = torch.ones(scores.shape[-2:], dtype=torch.bool).tril(keys.shape[2] - queries.shape[2])
        scores = scores.masked_fill(~seen, -math.inf)
    column = sinks[None, :, None, None].expand(*scores.shape[:-1], 1)
    return torch.cat([scores, column], dim=-1).softmax(dim=-1)[..., :-1] @ values
""",
    ),
}

# JupyterLab keeps the anchors of Markdown cells as data-jupyter-id.
IN_SIGHT = """
    const [target] = $(`[id="${arguments[0]}"], [data-jupyter-id="${arguments[0]}"]`);
    const heading = target?.closest(".jp-Cell").querySelector("h2, h3");
    const {top, bottom} = heading?.getBoundingClientRect() ?? {};
    return top >= 0 && bottom <= window.innerHeight;
"""

# Whatever is right of its own text or output, or makes it, or the notebook as a whole, scroll sideways. Code may scroll
# in its cell. MathJax keeps formulas for screen readers as well, clipped to nothing.
TOO_WIDE = """
    const wide = (box) => box.scrollWidth > box.clientWidth + 1;
    const found = $(".jp-WindowedPanel-outer").filter(wide).map(() => "the notebook");
    for (const box of $(".jp-Notebook .jp-MarkdownOutput, .jp-Notebook .jp-OutputArea-output")) {
        const edge = box.getBoundingClientRect().right + 1;
        const inside = [...box.querySelectorAll(":not(mjx-assistive-mml, mjx-assistive-mml *)")];
        if (wide(box) || inside.some(element => element.getBoundingClientRect().right > edge))
            found.push(box.textContent.trim().slice(0, 80));
    }
    return found;
"""

TEXTS_AND_OUTPUTS = ".jp-Notebook .jp-MarkdownOutput", ".jp-Notebook .jp-OutputArea-output"

# Columns whose heading is not where its entries are.
NOT_ALIGNED = """
    const side = (cell) => getComputedStyle(cell).textAlign;
    return $(".jp-MarkdownOutput table").flatMap(table => {
        const [head, ...rows] = [...table.rows].map(row => [...row.cells]);
        return head.filter((cell, at) => rows.some(row => side(row[at]) !== side(cell))).map(cell => cell.textContent);
    });
"""

# Text that is hard to tell from what is behind it: a contrast of less than 4.5 to 1 (of 3 to 1 for a mark or a curve).
HARD_TO_READ = """
    const numbers = (color) => color.match(/[0-9.]+/g).map(Number);
    const over = ([r, g, b, a = 1], below) => [r, g, b].map((part, i) => a * part + (1 - a) * below[i]);
    const behind = (element) => element === null ? [255, 255, 255]
        : over(numbers(getComputedStyle(element).backgroundColor), behind(element.parentElement));
    const light = (rgb) => rgb.map(part => part / 255)
        .map(part => part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4)
        .reduce((sum, part, i) => sum + part * [0.2126, 0.7152, 0.0722][i], 0.05);
    const found = [];
    for (const box of $(".jp-Notebook .jp-MarkdownOutput, .jp-Notebook .jp-OutputArea-output"))
        for (const element of [box, ...box.querySelectorAll(":not(.jp-InternalAnchorLink, mjx-container *)")]) {
            const words = [...element.childNodes].filter(node => node.nodeType === 3).map(node => node.data);
            const text = words.join("").trim();
            const isCurve = element.tagName === "polyline";
            if (!text && !isCurve && element.tagName !== "MJX-CONTAINER") continue;
            const back = behind(element);
            const {color, stroke} = getComputedStyle(element);
            const front = over(numbers(isCurve ? stroke : color), back);
            const [low, high] = [front, back].map(light).sort((a, b) => a - b);
            const enough = isCurve || text === "✓" ? 3 : 4.5;
            if (high / low < enough) found.push(`${(high / low).toFixed(1)}: ${text.slice(0, 60) || element.tagName}`);
        }
    return found;
"""

# Pictures through which the page can be seen, beyond round corners: black lines would vanish on a dark page.
TRANSPARENT = """
    const seen = (image) => {
        const canvas = new OffscreenCanvas(image.naturalWidth, image.naturalHeight).getContext("2d");
        canvas.drawImage(image, 0, 0);
        const {data} = canvas.getImageData(0, 0, image.naturalWidth, image.naturalHeight);
        const opaque = data.filter((value, at) => at % 4 === 3 && value === 255).length;
        return opaque < 0.99 * data.length / 4;
    };
    return $(".jp-Notebook img").filter(seen).map(image => image.alt || image.src.slice(0, 60));
"""


def unreadable_parts(page: NotebookPage) -> list[str]:
    """What cannot be read, by some or by all, in the theme that is on."""
    # The name of a slider stands before it, and ipywidgets has no way to give it to the handle.
    found = violations_within(page.browser, *TEXTS_AND_OUTPUTS, without=(".noUi-handle",))
    return [*page.script(HARD_TO_READ), *page.script(TRANSPARENT), *found]


def opened(browser: Chrome, address: str, notebook: Any) -> NotebookPage:
    """A notebook after Run All Cells."""
    browser.set_window_size(1280, 1000)
    browser.get(f"{address}?reset")
    page = NotebookPage(browser, sum(cell.cell_type == "code" for cell in notebook.cells))
    page.run_all()
    return page


@pytest.fixture(scope="module")
def lab(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of a JupyterLab on a folder with all released assignments."""
    work = shutil.copytree(RELEASE, tmp_path_factory.mktemp("student") / "work")
    with serving(work, tmp_path_factory.mktemp("home")) as url:
        yield url


@pytest.fixture(scope="module", params=first_in_ci(ANSWERS))
def assignment(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture(scope="module")
def notebook(assignment: str) -> Any:
    return nbformat.read(RELEASE / assignment / f"{assignment}.ipynb", as_version=4)


@pytest.fixture(scope="module")
def text(notebook: Any) -> str:
    """All Markdown of the notebook."""
    return "\n".join(cell.source for cell in notebook.cells if cell.cell_type == "markdown")


@pytest.fixture(scope="module")
def page(browser: Chrome, lab: str, assignment: str, notebook: Any) -> NotebookPage:
    """The notebook as it is handed out, after Run All Cells. The last tests fill it in."""
    return opened(browser, f"{lab}/lab/tree/{assignment}/{assignment}.ipynb", notebook)


@pytest.mark.slow
def test_released_notebook_when_run_has_checks_to_do_and_no_errors(page: NotebookPage, assignment: str) -> None:
    for exercise in of_assignment(assignment):
        output = page.output(f"check({exercise.number})").text
        assert output.startswith(f"✗ Exercise {exercise.number}: still to do.")
        assert "✓" not in output
    assert page.tracebacks() == []


def test_released_notebook_shows_every_figure(page: NotebookPage, text: str) -> None:
    images = page.script("return $('.jp-MarkdownOutput img').map(image => [image.alt, image.naturalWidth])")
    assert [alt for alt, _ in images] == re.findall(r"!\[(.+)\]\(images/", text)
    assert not [alt for alt, width in images if width == 0]


def test_released_notebook_renders_all_formulas(page: NotebookPage, text: str) -> None:
    left = "return $('.jp-MarkdownOutput').map(cell => cell.textContent).filter(text => text.includes('$'))"
    page.wait(lambda: not page.script(left), "there are formulas that MathJax has not rendered")
    displayed = page.find("mjx-container[display='true']")
    assert len(displayed) == text.count("$$") // 2 > 0
    assert not page.find("mjx-merror, merror, [data-mjx-error]")


@pytest.mark.slow
def test_released_notebook_links_lead_to_their_sections(page: NotebookPage, text: str) -> None:
    links = page.find(".jp-MarkdownOutput a[href^='#']:not(.jp-InternalAnchorLink)")
    assert len(links) == len(re.findall(r"\]\(#", text))
    for link in links:
        anchor = str(link.get_dom_attribute("href"))[1:]
        link.click()
        page.wait(partial(page.script, IN_SIGHT, anchor), f"the link to #{anchor} leads nowhere")


@pytest.mark.slow
def test_released_notebook_hints_unfold_and_fold(page: NotebookPage, text: str) -> None:
    hints = page.find(".jp-MarkdownOutput details")
    assert len(hints) == text.count("<details>")
    for hint in hints[::4]:  # a click takes long on a long page
        summary = hint.find_element("css selector", "summary")
        folded = hint.size["height"]
        assert folded < 2 * summary.size["height"]
        summary.click()
        assert hint.size["height"] > folded + summary.size["height"]
        summary.click()
        assert hint.size["height"] == folded


def test_table_columns_are_aligned_with_their_headings(page: NotebookPage) -> None:
    assert page.find(".jp-MarkdownOutput table")
    assert page.script(NOT_ALIGNED) == []


def test_plots_of_outputs_have_descriptions(page: NotebookPage, notebook: Any) -> None:
    """Those that need no solution; tests/end_to_end/test_homes.py has them all."""
    described = [cell.id for cell in notebook.cells if "show_figure" in cell.source and "solved" not in cell.source]
    images = page.script("return $('.jp-RenderedHTMLCommon.jp-OutputArea-output > img').map(image => image.alt)")
    assert bool(images) == bool(described)
    assert [alt for alt in images if len(alt) < 60] == []


def test_slider_when_moved_draws_anew(page: NotebookPage, notebook: Any) -> None:
    """One that needs no solution."""
    sliders = page.find(".jp-OutputArea-output [role='slider']")
    drawing = [cell.source for cell in notebook.cells if "solved" not in cell.source]
    assert len(sliders) == sum(source.count("show_with_slider(") for source in drawing)
    for slider in sliders:
        alt = "return arguments[0].closest('.jp-OutputArea-output').querySelector('img').alt"
        before = page.script(alt, slider)
        slider.send_keys(Keys.ARROW_RIGHT)
        page.wait(lambda: page.script(alt, slider) != before, "the plot stays as it was")  # noqa: B023  it ends here


def test_progress_list_says_which_exercises_are_open(page: NotebookPage, notebook: Any, assignment: str) -> None:
    """Where the notebook asks for it."""
    asked = any(cell.source == "check()" for cell in notebook.cells)
    said = [box.text.split() for box in page.find(".jp-RenderedHTMLCommon.jp-OutputArea-output li")]
    assert said == [["○", str(one.number), "open"] for one in of_assignment(assignment) if asked]


@pytest.mark.parametrize("width", [800, 1280])
def test_released_notebook_has_nothing_wider_than_its_cell(page: NotebookPage, width: int) -> None:
    page.show(width)
    page.wait(lambda: not page.script(TOO_WIDE), f"at {width} pixels: {page.script(TOO_WIDE)}")


THEMES = ("Dark", "Light")


@pytest.mark.slow
@pytest.mark.parametrize("theme", THEMES)
def test_released_notebook_is_readable_in_each_theme(page: NotebookPage, theme: str) -> None:
    page.set_theme(theme)
    assert page.find(".jp-RenderedImage img") or page.find(".jp-MarkdownOutput img")
    assert unreadable_parts(page) == []


@pytest.mark.slow
def test_check_explains_wrong_answer_and_marks_right_one_green(page: NotebookPage, assignment: str) -> None:
    wrong, explained, right = ANSWERS[assignment]
    exercise = of_assignment(assignment)[0]
    solution, check = page.cell(right.splitlines()[0]), page.cell(f"check({exercise.number})")

    def run(source: str) -> str:
        page.type_into(solution, source)
        page.run_cell(solution)
        page.run_cell(check)
        return " ".join(check.find_element("css selector", ".jp-Cell-outputArea").text.split())

    assert re.match(f"✗ Exercise {exercise.number}: .*{re.escape(explained)}", run(wrong), re.DOTALL)
    assert run(right) == green(exercise)
    assert page.output(f"check({exercise.number + 1})").text.startswith("✗")


def green(exercise: Exercise) -> str:
    said = "✓ Exercise {}: {} is right on the examples of this notebook."
    return "\n".join(said.format(exercise.number, function.entry) for function in exercise.functions)


@pytest.mark.slow
def test_solved_notebook_after_restart_is_green_and_readable(
    page: NotebookPage, assignment: str, notebook: Any
) -> None:
    """With the plots, curves and tables that only a solution brings."""
    solved = fill_in(COURSE.read("release", assignment), solutions(COURSE.read("source", assignment)))
    cells = list(zip(notebook.cells, solved.cells, strict=True))
    page.fill_in({number: cell.source for number, (given, cell) in enumerate(cells) if cell.source != given.source})
    page.restart_and_run_all()
    assert page.tracebacks() == []
    for exercise in of_assignment(assignment):
        output = page.output(f"check({exercise.number})")
        assert output.text == green(exercise)
        assert output.find_element("css selector", ".ansi-green-fg").text == "✓"
    drawn = sum("show_figure(" in cell.source for cell in notebook.cells if cell.cell_type == "code")
    assert len(page.find(".jp-OutputArea-output img")) >= drawn > 0
    for theme in THEMES:
        page.set_theme(theme)
        assert unreadable_parts(page) == [], theme
    page.show(800)
    page.wait(lambda: not page.script(TOO_WIDE), f"at 800 pixels: {page.script(TOO_WIDE)}")
