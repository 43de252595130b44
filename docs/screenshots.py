"""Make the screenshots in docs/images/ from a fresh demo class: `make screenshots`.

It needs Chromium and its driver, like the tests of pages, and borrows their tools.
"""

from __future__ import annotations

import shutil
import sys
import tempfile
from pathlib import Path
from typing import Any

import nbformat
from rich.console import Console

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tests"))

from grader.checks.demo import ASSIGNMENT, most_to_read, run_demo  # noqa: E402
from grader.course.folder import Course  # noqa: E402
from support.accessibility import seen_as  # noqa: E402
from support.chromium import Page, headless_chromium  # noqa: E402
from support.jupyter_lab import FORMGRADER, NotebookPage, serving  # noqa: E402

IMAGES = ROOT / "docs" / "images"
WIDTH = 1100  # of a screen
SIZES = {"": ("light", WIDTH, 1000), "-dark": ("dark", WIDTH, 1000), "-phone": ("dark", 390, 844)}


def main() -> None:
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch, "demo")
        results, pages, report = run_demo(folder, Console(stderr=True))
        course = Course(folder)
        student = most_to_read(results)
        with headless_chromium(Path(scratch, "profile")) as browser:
            photograph(browser, pages[student], "feedback")
            photograph_mistake(browser, pages["jun"])
            photograph(browser, report, "report", width=1280)  # points and mistakes are side by side
            with serving(course.root, Path(scratch, "home"), FORMGRADER) as url:
                photograph_notebook(browser, course, student, url)
                photograph_formgrader(browser, student, url)


def photograph(browser: Any, page: Path, name: str, width: int = WIDTH) -> None:
    """A page as it opens: on a screen, on a dark one, and on a phone at night."""
    browser.get(page.resolve().as_uri())
    for ending, (scheme, usual_width, height) in SIZES.items():
        with seen_as(browser, scheme, width if usual_width == WIDTH else usual_width, height):
            browser.save_screenshot(str(IMAGES / f"{name}{ending}.png"))


def photograph_mistake(browser: Any, page: Path) -> None:
    """A mistake that a heat map shows: jun took the softmax over the queries. With the code that did it."""
    browser.get(page.resolve().as_uri())
    with seen_as(browser, *SIZES[""]):
        browser.find_element("css selector", "section:has(figure)").screenshot(str(IMAGES / "feedback-mistake.png"))


def photograph_notebook(browser: Any, course: Course, student: str, url: str) -> None:
    """An exercise in JupyterLab, with an answer that is not right yet."""
    notebook = course.root / "release" / ASSIGNMENT / f"{student}.ipynb"  # with the files that lie beside it
    shutil.copy(course.notebook(f"submitted/{student}", ASSIGNMENT), notebook)
    code = [cell for cell in nbformat.read(notebook, as_version=4).cells if cell.cell_type == "code"]
    browser.set_window_size(1280, 1000)
    browser.get(f"{url}/lab/tree/{notebook.relative_to(course.root)}")
    page = NotebookPage(browser, len(code))
    page.run_all()
    for theme, ending in (("Light", ""), ("Dark", "-dark")):
        page.set_theme(theme)
        page.script("arguments[0].scrollIntoView({block: 'center'})", page.output("check(2)"))
        browser.save_screenshot(str(IMAGES / f"notebook{ending}.png"))
    page.set_theme("Light")


def photograph_formgrader(browser: Any, student: str, url: str) -> None:
    """The list of submissions, and one of them with our verdicts."""
    page = Page(browser)
    browser.get(f"{url}/formgrader/manage_submissions/{ASSIGNMENT}")
    page.wait(lambda: page.find("td.student-id"), "no submissions listed")
    browser.save_screenshot(str(IMAGES / "formgrader.png"))
    row = next(cell for cell in page.find("td.student-id") if cell.text == student).find_element("xpath", "..")
    row.find_element("css selector", ".student-name a").click()
    page.wait(lambda: page.find("a[href*='/formgrader/submissions/']"), "no link to the notebook")[0].click()
    page.wait(lambda: page.find("div.verdict"), "the submission did not open")
    page.script("arguments[0].scrollIntoView({block: 'center'})", page.find("div.verdict")[1])
    browser.save_screenshot(str(IMAGES / "formgrader-submission.png"))


if __name__ == "__main__":
    main()
