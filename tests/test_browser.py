"""The course as a browser shows it: the released notebook in JupyterLab."""

from __future__ import annotations

import json
import os
import shutil
import socket
import subprocess
import sys
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import nbformat
import pytest
from selenium.common.exceptions import TimeoutException
from selenium.webdriver import Chrome, ChromeOptions
from selenium.webdriver.chrome.service import Service
from selenium.webdriver.common.by import By
from selenium.webdriver.remote.webelement import WebElement
from selenium.webdriver.support.ui import WebDriverWait

from grader.assemble import fill_in

ROOT = Path(__file__).parent.parent
ASSIGNMENT = "self_attention"
NUMBERS = range(1, 9)
FIGURES = 7
SECONDS = 90  # a slow machine may take its time; a wait ends as soon as there is something to see

# A notebook is read as a whole here, so every cell must be in the page; nothing may pop up over it.
LAB_SETTINGS = {
    "@jupyterlab/notebook-extension:tracker": {"windowingMode": "none"},
    "@jupyterlab/apputils-extension:notification": {"fetchNews": "false", "checkForUpdates": False},
}

NOT_SCALED = """\
def attention_scores(all_queries, all_keys):
    return [[torch.sum(query * key) for key in all_keys] for query in all_queries]
"""


def skip_unless_installed(*programs: str) -> None:
    """Skip a test that needs programs this machine lacks, or fail where no test may be skipped."""
    missing = [program for program in programs if shutil.which(program) is None]
    if missing:
        reason = f"{' and '.join(missing)} not installed (on Debian: apt-get install chromium chromium-driver)"
        if os.environ.get("GRADER_NO_SKIPS"):
            pytest.fail(reason)
        pytest.skip(reason)


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Chrome]:
    """A headless Chromium with a profile of its own."""
    skip_unless_installed("chromium", "chromedriver")
    options = ChromeOptions()
    options.binary_location = str(shutil.which("chromium"))
    for argument in (
        "headless",
        "no-sandbox",
        "disable-gpu",
        "disable-dev-shm-usage",
        "no-first-run",
        "disable-background-networking",
        "disable-component-update",
        "disable-sync",
        "window-size=1300,1000",
        "host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1",  # what is not on this machine is not needed
        f"user-data-dir={tmp_path_factory.mktemp('chromium')}",
    ):
        options.add_argument(f"--{argument}")
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    driver = Chrome(options=options, service=Service(str(shutil.which("chromedriver"))))
    try:
        yield driver
    finally:
        driver.quit()


class NotebookPage:
    """A notebook in JupyterLab, as it is on the screen."""

    def __init__(self, browser: Chrome, code_cells: int) -> None:
        self.browser = browser
        self.wait(lambda: len(self.find(".jp-Notebook .jp-CodeCell")) == code_cells, "the notebook did not open")

    def wait(self, condition: Callable[[], Any], failure: str) -> Any:
        """What the condition gives once it is true."""
        try:
            return WebDriverWait(self.browser, SECONDS, poll_frequency=0.1).until(lambda _: condition())
        except TimeoutException:
            pass
        pytest.fail(failure)

    def find(self, selector: str) -> list[WebElement]:
        return self.browser.find_elements(By.CSS_SELECTOR, selector)

    def run_all(self) -> None:
        """Run > Run All Cells, until every cell has its number, or one has stopped with an error."""
        menu = self.wait(lambda: [item for item in self.find(".lm-MenuBar-item") if item.text == "Run"], "no menu")
        menu[0].click()
        self.wait(lambda: self.find("[data-command='runmenu:run-all']"), "no Run All Cells")[0].click()
        self.wait(lambda: self.has_run() or self.tracebacks(), "the notebook did not run to its end")

    def has_run(self) -> bool:
        """A cell that waits shows [*], one that did not run [ ]; a folded one shows nothing."""
        prompts = self.script("return $('.jp-CodeCell .jp-InputPrompt').map(prompt => prompt.textContent)")
        return all(prompt[1:-2].isdigit() for prompt in prompts if prompt)

    def tracebacks(self) -> list[str]:
        """The errors that cells have stopped with."""
        texts: list[str] = self.script("return $('.jp-OutputArea-output').map(output => output.textContent)")
        return [text for text in texts if "Traceback" in text]

    def script(self, script: str, *arguments: Any) -> Any:
        """The result of a script, in which $ finds elements by a selector."""
        return self.browser.execute_script(f"const $ = s => [...document.querySelectorAll(s)]; {script}", *arguments)

    def output(self, source: str) -> WebElement:
        """The outputs of the code cell with just this source."""
        cells = [cell for cell in self.find(".jp-CodeCell") if self.source(cell) == source]
        assert len(cells) == 1
        return cells[0].find_element(By.CSS_SELECTOR, ".jp-Cell-outputArea")

    def source(self, cell: WebElement) -> str:
        return str(self.script("return arguments[0].querySelector('.cm-content')?.textContent ?? ''", cell))


class Lab:
    """A JupyterLab server on a folder of its own."""

    def __init__(self, url: str, folder: Path) -> None:
        self.url = url
        self.folder = folder

    def run(self, browser: Chrome, notebook: Any, name: str) -> NotebookPage:
        """Put a notebook beside its checks and figures, open it, and run it as a student does: from the menu."""
        nbformat.write(notebook, self.folder / f"{name}.ipynb")
        browser.get(f"{self.url}/lab/tree/{name}.ipynb?reset")
        page = NotebookPage(browser, sum(cell.cell_type == "code" for cell in notebook.cells))
        page.run_all()
        return page


@pytest.fixture(scope="module")
def lab(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Lab]:
    """JupyterLab on the released assignment."""
    skip_unless_installed("chromium", "chromedriver")
    home = tmp_path_factory.mktemp("home")
    folder = home / "work"
    shutil.copytree(ROOT / "release" / ASSIGNMENT, folder)
    with serving(folder, home) as url:
        yield Lab(url, folder)


@contextmanager
def serving(folder: Path, home: Path, *options: str) -> Iterator[str]:
    """The address of a JupyterLab as the course installs it, without any setting of the person who runs the tests."""
    settings = home / "config" / "labconfig" / "default_setting_overrides.json"
    settings.parent.mkdir(parents=True)
    settings.write_text(json.dumps(LAB_SETTINGS))
    environment = {
        "PATH": os.pathsep.join([str(Path(sys.executable).parent), os.defpath]),
        "LANG": "C.UTF-8",
        "HOME": str(home),
        "JUPYTER_CONFIG_DIR": str(home / "config"),
        "JUPYTER_DATA_DIR": str(home / "data"),
        "JUPYTER_RUNTIME_DIR": str(home / "runtime"),
        "JUPYTER_PATH": str(Path(sys.prefix) / "share" / "jupyter"),
        "IPYTHONDIR": str(home / "ipython"),
        "MPLCONFIGDIR": str(home / "matplotlib"),
    }
    port = free_port()
    command = [sys.executable, "-m", "jupyterlab", *options]
    command += ["--no-browser", "--ip=127.0.0.1", f"--port={port}", "--ServerApp.port_retries=0"]
    command += ["--IdentityProvider.token=", f"--ServerApp.root_dir={folder}"]
    if hasattr(os, "geteuid") and os.geteuid() == 0:
        command.append("--allow-root")
    log = home / "server.log"
    with log.open("w") as output:
        server = subprocess.Popen(command, cwd=folder, env=environment, stdout=output, stderr=output)
    try:
        url = f"http://127.0.0.1:{port}"
        WebDriverWait(server, 60).until(lambda _: answers(f"{url}/api"), f"no JupyterLab: {log.read_text()}")
        yield url
    finally:
        server.terminate()  # a polite end: it takes its kernels along
        try:
            server.wait(timeout=20)
        except subprocess.TimeoutExpired:
            server.kill()
            server.wait()


def free_port() -> int:
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return int(one.getsockname()[1])


def answers(url: str) -> bool:
    try:
        with urllib.request.urlopen(url, timeout=5) as response:
            return response.status == 200
    except (urllib.error.URLError, OSError):
        return False


# JupyterLab keeps the anchors of Markdown cells as data-jupyter-id.
IN_SIGHT = """
    const [target] = $(`[id="${arguments[0]}"], [data-jupyter-id="${arguments[0]}"]`);
    const {top, bottom} = target?.closest(".jp-Cell").querySelector("h2").getBoundingClientRect() ?? {};
    return top >= 0 && bottom <= window.innerHeight;
"""


@pytest.fixture(scope="module")
def release() -> Any:
    return nbformat.read(ROOT / "release" / ASSIGNMENT / f"{ASSIGNMENT}.ipynb", as_version=4)


@pytest.fixture(scope="module")
def unsolved(browser: Chrome, lab: Lab, release: Any) -> NotebookPage:
    """The notebook as it is handed out, after Run All Cells."""
    return lab.run(browser, release, ASSIGNMENT)


def test_every_check_of_the_released_notebook_says_still_to_do(unsolved: NotebookPage) -> None:
    for number in NUMBERS:
        assert f"✗ Exercise {number}: still to do." in unsolved.output(f"check({number})").text


def test_no_cell_of_the_released_notebook_stops_with_an_error(unsolved: NotebookPage) -> None:
    assert len(unsolved.find(".jp-OutputArea-output")) > 2 * len(NUMBERS)
    assert unsolved.tracebacks() == []


def test_every_figure_is_there(unsolved: NotebookPage) -> None:
    sizes = unsolved.script("return $('.jp-MarkdownOutput img').map(image => [image.alt, image.naturalWidth])")
    assert len(sizes) == FIGURES
    assert not [alt for alt, width in sizes if width == 0]
    assert all(alt for alt, _ in sizes)


def test_all_mathematics_is_rendered(unsolved: NotebookPage) -> None:
    texts = "return $('.jp-MarkdownOutput').map(cell => cell.textContent).filter(text => text.includes('$'))"
    unsolved.wait(lambda: not unsolved.script(texts), "there are formulas that MathJax has not rendered")
    assert len(unsolved.find("mjx-container")) > 100
    assert not unsolved.find("mjx-merror, merror, [data-mjx-error]")


def test_every_link_of_the_contents_leads_to_its_section(unsolved: NotebookPage) -> None:
    links = unsolved.find(".jp-MarkdownOutput td a[href^='#']")
    assert len(links) == len(NUMBERS) + 4
    for link in links:
        anchor = str(link.get_dom_attribute("href"))[1:]
        link.click()
        unsolved.wait(lambda anchor=anchor: unsolved.script(IN_SIGHT, anchor), f"the link to #{anchor} leads nowhere")


def test_a_right_answer_is_green_and_a_wrong_one_is_explained(
    browser: Chrome, lab: Lab, release: Any, solved: dict[int, str]
) -> None:
    page = lab.run(browser, fill_in(release, {2: NOT_SCALED, 3: solved[3]}), "half_solved")
    right, wrong = page.output("check(3)"), page.output("check(2)")
    green = right.find_element(By.CSS_SELECTOR, ".ansi-green-fg")
    assert green.text == "✓ Exercise 3: softmax is right on the examples of this notebook."
    assert "✗ Exercise 2: with the notebook's queries and keys, result[0][0] is the first wrong number" in wrong.text
    assert "expected -2.8869, your code gave -5.7737" in wrong.text
    assert "✗ Exercise 1: still to do" in page.output("check(1)").text
