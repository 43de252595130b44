"""Check the page in a browser with axe-core, in both color schemes and at two widths."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from selenium.webdriver import Chrome
from selenium_axe_python.axe import Axe

WIDTHS = (1280, 390)
SCHEMES = ("light", "dark")
IMPACTS = ("serious", "critical")


def violations(browser: Chrome) -> list[str]:
    """The serious and critical violations on the open page, each with its element, scheme and width."""
    return [
        f"{scheme}, {width} px: {finding}"
        for scheme, width in itertools.product(SCHEMES, WIDTHS)
        for finding in violations_in(browser, scheme, width)
    ]


def violations_in(browser: Chrome, scheme: str, width: int) -> list[str]:
    with seen_as(browser, scheme, width):
        return violations_within(browser)


def violations_within(browser: Chrome, *parts: str, without: tuple[str, ...] = ()) -> list[str]:
    """The violations on the page as it looks now, or only in the parts that CSS selects."""
    axe = Axe(browser)
    axe.inject()  # type: ignore[no-untyped-call]
    context = {"include": [[part] for part in parts], "exclude": [[part] for part in without]}
    found: list[dict[str, Any]] = axe.run(context if parts else None)["violations"]
    return [
        f"{one['id']}: {one['help']} ({', '.join(str(node['target']) for node in one['nodes'])})"
        for one in found
        if one["impact"] in IMPACTS
    ]


@contextmanager
def seen_as(browser: Chrome, scheme: str = "light", width: int = 1280, height: int = 1000) -> Iterator[None]:
    """Show the page as on a device of this width, for a user who prefers this color scheme."""
    preference = [{"name": "prefers-color-scheme", "value": scheme}]
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": preference})
    size = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": False}
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
    try:
        yield
    finally:
        browser.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})
        browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": []})
