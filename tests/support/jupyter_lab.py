"""JupyterLab as students use it: a server for a folder, and a notebook in the browser."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from selenium.webdriver import ActionChains, Chrome, Keys
from selenium.webdriver.remote.webelement import WebElement
from selenium.webdriver.support.ui import WebDriverWait

from support.chromium import SECONDS, Page

# Tests read whole notebooks, so every cell must be in the page, and nothing may pop up over it.
LAB_SETTINGS = {
    "@jupyterlab/notebook-extension:tracker": {"windowingMode": "none"},
    "@jupyterlab/apputils-extension:notification": {"fetchNews": "false", "checkForUpdates": False},
}

# An option for `serving`: nbgrader's pages for instructors, at /formgrader.
FORMGRADER = "--ServerApp.jpserver_extensions={'nbgrader.server_extensions.formgrader': True}"


@contextmanager
def serving(folder: Path, home: Path, *options: str) -> Iterator[str]:
    """The address of a JupyterLab as the course installs it, without the tester's own settings."""
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
        "OMP_NUM_THREADS": "1",  # more threads would wait for each other, and far longer on a busy machine
    }
    port = free_port()
    command = [sys.executable, "-m", "jupyterlab", *options]
    command += ["--no-browser", "--ip=127.0.0.1", f"--port={port}", "--ServerApp.port_retries=0"]
    command += ["--IdentityProvider.token=", f"--ServerApp.root_dir={folder}", "--LabApp.expose_app_in_browser=True"]
    if hasattr(os, "geteuid") and os.geteuid() == 0:
        command.append("--allow-root")
    log = home / "server.log"
    with log.open("w") as output:
        server = subprocess.Popen(command, cwd=folder, env=environment, stdout=output, stderr=output)
    try:
        url = f"http://127.0.0.1:{port}"
        WebDriverWait[Any](server, SECONDS, poll_frequency=0.1).until(
            lambda _: answers(f"{url}/api"), f"no JupyterLab: {log.read_text()}"
        )
        yield url
    finally:
        server.terminate()  # politely, so that it ends its kernels, too
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
            return bool(response.status == 200)
    except (urllib.error.URLError, OSError):
        return False


class NotebookPage(Page):
    """A notebook in JupyterLab, as shown on the screen."""

    def __init__(self, browser: Chrome, code_cells: int) -> None:
        super().__init__(browser)
        self.wait(lambda: len(self.find(".jp-Notebook .jp-CodeCell")) == code_cells, "the notebook did not open")

    def choose(self, menu: str, command: str) -> None:
        """Choose a command, by JupyterLab's name for it, from a menu."""
        bar = self.wait(lambda: [item for item in self.find(".lm-MenuBar-item") if item.text == menu], f"no {menu}")
        bar[0].click()
        self.wait(lambda: self.find(f"[data-command='{command}']"), f"no {command}")[0].click()

    def run_all(self) -> None:
        """Run > Run All Cells; wait until every cell has a number, or one has stopped with an error."""
        # The notebook shows an idle kernel even before it has one, when it would run nothing.
        kernel = "return jupyterapp.shell.currentWidget?.sessionContext?.session?.kernel?.status"
        self.wait(lambda: self.script(kernel) == "idle", "the kernel did not start")
        self.choose("Run", "runmenu:run-all")
        self.wait(lambda: self.has_run() or self.tracebacks(), "the notebook did not run to its end")

    def restart_and_run_all(self) -> None:
        """Kernel > Restart Kernel and Run All Cells…; wait until a new kernel has numbered all cells from 1 on."""
        # Cells keep their numbers until the new kernel runs them: without them, nothing looks as if it had run already.
        self.script("return jupyterapp.commands.execute('notebook:clear-all-cell-outputs')")
        self.choose("Kernel", "runmenu:restart-and-run-all")
        self.wait(lambda: self.find(".jp-Dialog .jp-mod-accept"), "no question whether to restart")[0].click()
        self.wait(lambda: self.has_run_in_order() or self.tracebacks(), "the notebook did not run to its end")

    def prompts(self) -> list[str]:
        """The prompt of each cell: a number, * while it waits, a blank if it did not run; empty if it is folded."""
        texts = self.script("return $('.jp-CodeCell .jp-InputPrompt').map(prompt => prompt.textContent)")
        return [text[1:-2] for text in texts]

    def has_run(self) -> bool:
        return all(prompt.isdigit() for prompt in self.prompts() if prompt)

    def has_run_in_order(self) -> bool:
        return all(prompt == str(number) for number, prompt in enumerate(self.prompts(), start=1) if prompt)

    def run_cell(self, cell: WebElement) -> None:
        """Click into a cell, press Shift and Enter, and wait until it has a new number."""
        before = cell.find_element("css selector", ".jp-InputPrompt").text
        cell.find_element("css selector", ".cm-content").click()
        ActionChains(self.browser).key_down(Keys.SHIFT).send_keys(Keys.ENTER).key_up(Keys.SHIFT).perform()
        self.wait(
            lambda: self.has_run() and cell.find_element("css selector", ".jp-InputPrompt").text != before, "no end"
        )

    def type_into(self, cell: WebElement, source: str) -> None:
        """Replace the text of a cell, key by key. The editor indents; Backspace removes a level."""
        editor = cell.find_element("css selector", ".cm-content")
        editor.click()
        editor.send_keys(Keys.CONTROL, "a")
        editor.send_keys(Keys.DELETE)
        for number, line in enumerate(source.splitlines()):
            if number:
                editor.send_keys(Keys.ENTER)
            if line:  # a blank line keeps the indentation for the next one
                too_far = len(self.lines(cell)[-1]) - (len(line) - len(line.lstrip()))
                editor.send_keys(Keys.BACKSPACE * (too_far // 4), line.lstrip())
        assert self.lines(cell) == source.splitlines()

    def fill_in(self, sources: dict[int, str]) -> None:
        """Put sources into cells as if pasted, by their numbers from 0."""
        cells = "const cells = jupyterapp.shell.currentWidget.content.widgets"
        for number, source in sources.items():
            self.script(f"{cells}; cells[arguments[0]].model.sharedModel.setSource(arguments[1])", number, source)

    def lines(self, cell: WebElement) -> list[str]:
        """The lines of a code cell."""
        texts = "return [...arguments[0].querySelectorAll('.cm-line')].map(line => line.textContent)"
        return list(self.script(texts, cell))

    def tracebacks(self) -> list[str]:
        """The errors that cells have stopped with."""
        texts: list[str] = self.script("return $('.jp-OutputArea-output').map(output => output.textContent)")
        return [text for text in texts if "Traceback" in text]

    def cell(self, start: str) -> WebElement:
        """The code cell that starts with this line."""
        first = "cell.querySelector('.cm-line')?.textContent"
        cell: WebElement
        (cell,) = self.script(f"return $('.jp-CodeCell').filter(cell => {first} === arguments[0])", start)
        return cell

    def output(self, start: str) -> WebElement:
        """The outputs of the code cell that starts with this line."""
        return self.cell(start).find_element("css selector", ".jp-Cell-outputArea")

    def show(self, width: int) -> None:
        """Make the window this wide; in a narrow one, hide the list of files."""
        self.browser.set_window_size(width, 1000)
        sides = "const shell = jupyterapp.shell; arguments[0] < 1000 ? shell.collapseLeft() : shell.expandLeft()"
        self.script(sides, width)

    def set_theme(self, theme: str) -> None:
        """Settings > Theme: Light or Dark."""
        change = "jupyterapp.commands.execute('apputils:change-theme', {theme: arguments[0]})"
        self.script(change, f"JupyterLab {theme}")
        light = str(theme == "Light").lower()
        self.wait(lambda: self.find(f"body[data-jp-theme-light='{light}']"), f"the theme did not become {theme}")
        self.wait(lambda: not self.find("#jupyterlab-splash"), "the notebook stays hidden")
