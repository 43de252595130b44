"""A headless Chromium for tests, driven by Selenium."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from selenium.common.exceptions import TimeoutException
from selenium.webdriver import Chrome, ChromeOptions
from selenium.webdriver.chrome.service import Service
from selenium.webdriver.common.by import By
from selenium.webdriver.remote.webelement import WebElement
from selenium.webdriver.support.ui import WebDriverWait

from support.proof import skip

SECONDS = 300  # a slow machine may take its time; a wait ends as soon as there is something to see

ARGUMENTS = [
    "headless",
    "no-sandbox",
    "disable-gpu",
    "disable-dev-shm-usage",
    "no-first-run",
    "disable-background-networking",
    "disable-component-update",
    "disable-sync",
    "window-size=1280,1000",
    "host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1",  # tests only need this machine
]


def skip_unless_installed(*programs: str) -> None:
    """Skip a test that needs programs this machine lacks, or fail where no test may be skipped."""
    missing = [program for program in programs if shutil.which(program) is None]
    if missing:
        skip(f"{' and '.join(missing)} not installed (.ci/run knows what Debian calls them)")


@contextmanager
def headless_chromium(profile: Path) -> Iterator[Chrome]:
    """A Chromium with its own profile, which can reach only this machine."""
    skip_unless_installed("chromium", "chromedriver")
    options = ChromeOptions()
    options.binary_location = str(shutil.which("chromium"))
    for argument in [*ARGUMENTS, f"user-data-dir={profile}"]:
        options.add_argument(f"--{argument}")
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    driver = Chrome(options=options, service=Service(str(shutil.which("chromedriver"))))
    try:
        # Without a screen no window has the focus, and JupyterLab runs no cells without it.
        driver.execute_cdp_cmd("Emulation.setFocusEmulationEnabled", {"enabled": True})
        yield driver
    finally:
        driver.quit()


class Page:
    """The page in the browser, with small tools to read it."""

    def __init__(self, browser: Chrome) -> None:
        self.browser = browser

    def wait(self, condition: Callable[[], Any], failure: str) -> Any:
        """Wait until the condition is true, and return its value."""
        try:
            return WebDriverWait(self.browser, SECONDS, poll_frequency=0.1).until(lambda _: condition())
        except TimeoutException:
            pass
        pytest.fail(failure)

    def find(self, selector: str) -> list[WebElement]:
        return self.browser.find_elements(By.CSS_SELECTOR, selector)

    def script(self, script: str, *arguments: Any) -> Any:
        """The result of a script, in which $ finds elements by a selector."""
        return self.browser.execute_script(f"const $ = s => [...document.querySelectorAll(s)]; {script}", *arguments)
