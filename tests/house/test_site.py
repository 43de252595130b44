"""The site that `make site` builds: its links lead somewhere, it needs no network, and everybody can read it."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest
from selenium.webdriver import Chrome
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys

from support.accessibility import seen_as, violations
from support.chromium import Page, headless_chromium
from support.places import ROOT

pytestmark = pytest.mark.proof

LOADED = {"script": "src", "img": "src", "iframe": "src", "source": "src", "link": "href", "object": "data"}


class Read(HTMLParser):
    """What a page links to, what it loads, and what can be linked to."""

    def __init__(self, page: Path) -> None:
        super().__init__()
        self.links: list[str] = []
        self.loads: list[str] = []
        self.anchors = {""}
        self.feed(page.read_text(encoding="utf-8"))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {name: value or "" for name, value in attrs}
        self.anchors |= {given[name] for name in ("id", "name") if name in given}
        if tag == "a" and "href" in given:
            self.links.append(given["href"])
        if (loaded := LOADED.get(tag)) in given:
            self.loads.append(given[str(loaded)])


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """As `make site` builds it."""
    root = tmp_path_factory.mktemp("site")
    for name in ("docs", "CHANGELOG.md", "CONTRIBUTING.md", "SECURITY.md", "LICENSE"):
        (shutil.copytree if (ROOT / name).is_dir() else shutil.copyfile)(ROOT / name, root / name)
    subprocess.run([sys.executable, "docs/gallery.py", "build/extra"], cwd=root, check=True)
    command = [sys.executable, "-m", "sphinx", "--fail-on-warning", "--keep-going", "--quiet", "docs", "built"]
    done = subprocess.run(command, cwd=root, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return root / "built"


@pytest.fixture(scope="module")
def pages(site: Path) -> dict[Path, Read]:
    return {page: Read(page) for page in sorted(site.rglob("*.html"))}


def target(page: Path, link: str) -> tuple[Path, str]:
    """The file and the anchor that a link leads to."""
    parts = urlsplit(link)
    return (page.parent / unquote(parts.path)).resolve() if parts.path else page, unquote(parts.fragment)


def test_site_links_lead_somewhere(pages: dict[Path, Read]) -> None:
    assert len(pages) > 35
    lost = []
    for page, read in pages.items():
        for link in [*read.links, *read.loads]:
            if urlsplit(link).scheme:  # elsewhere, or data
                continue
            file, anchor = target(page, link)
            if not file.is_file() or (file in pages and anchor not in pages[file].anchors):
                lost.append(f"{page.name}: {link}")
    assert lost == []


def test_site_contents_list_all_pages(site: Path, pages: dict[Path, Read]) -> None:
    front = {target(site / "index.html", link)[0] for link in pages[site / "index.html"].links}
    made = {page for page in pages if "gallery" not in page.parts}
    assert made - front - {site / name for name in ("index.html", "README.html", "search.html")} == set()


def test_site_loads_nothing_from_elsewhere(site: Path, pages: dict[Path, Read]) -> None:
    ours = [page for page in pages if page.parent != site / "gallery/notebooks"]  # those load MathJax
    loaded = {load for page in ours for load in pages[page].loads}
    assert {load for load in loaded if urlsplit(load).scheme not in ("", "data") or load.startswith("//")} == set()
    styles = "".join(path.read_text(encoding="utf-8") for path in [*site.rglob("*.css"), *ours])
    assert re.findall(r"url\(\s*[\"']?(?:https?:)?//|@import", styles) == []


def test_site_front_page_has_four_doors(site: Path) -> None:
    front = (site / "index.html").read_text(encoding="utf-8")
    assert front == (site / "README.html").read_text(encoding="utf-8")
    doors = re.findall(r'<strong><a class="reference internal" href="(\w+)\.html">', front)
    assert doors == ["student", "a_term", "your_own_course", "operator"]


def test_site_reference_rows_have_descriptions(pages: dict[Path, Read]) -> None:
    """Except the values of an enumeration that are words already."""
    reference = [page.read_text(encoding="utf-8") for page in pages if page.parent.name == "reference"]
    assert len(reference) == 6
    rows = [row for page in reference for row in re.findall(r"<tr.*?</tr>", page, re.DOTALL)]
    assert len(rows) > 200
    assert [row for row in rows if re.search(r"<td>(<p></p>)?</td>\s*</tr>", row)] == []


# --- in a browser ----------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Chrome]:
    with headless_chromium(tmp_path_factory.mktemp("profile")) as driver:
        yield driver


@pytest.mark.browser
@pytest.mark.parametrize("page", ["index", "student", "reference/formats", "gallery"])
def test_site_pages_are_accessible_and_fit_a_phone(site: Path, browser: Chrome, page: str) -> None:
    browser.get((site / f"{page}.html").as_uri())
    assert violations(browser) == []
    with seen_as(browser, width=390):
        assert not browser.execute_script("return document.documentElement.scrollWidth > innerWidth")


@pytest.mark.browser
def test_site_search_works_from_a_disk(site: Path, browser: Chrome) -> None:
    page = Page(browser)
    browser.get_log("browser")  # type: ignore[no-untyped-call]  # of other tests: axe reads styles in its own way
    browser.get((site / "index.html").as_uri())
    browser.find_element(By.NAME, "q").send_keys("Landlock", Keys.ENTER)
    page.wait(lambda: "finished" in browser.find_element(By.ID, "search-results").text, "the search goes on")
    found = {str(one.get_attribute("href")).rpartition("/")[2].partition("?")[0] for one in page.find("ul.search li a")}
    assert {"installing.html", "containers.html", "threat_model.html"} <= found
    assert browser.get_log("browser") == []  # type: ignore[no-untyped-call]
