"""The server behind nginx and Caddy, with the configurations of docs/serving.md: sign in, submit, watch, over HTTPS."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

import httpx
import pytest
from tls_proxy import TlsProxy, caddy, nginx

from grader.classroom.run import alone
from grader.course.folder import Course
from grader.serving.student_pages import MOST_BYTES
from support.served import ASSIGNMENT, PATIENCE, Served, serving, token_in

pytestmark = [pytest.mark.user, pytest.mark.slow]


@pytest.fixture(scope="module")
def served(new_course: Callable[[], Course]) -> Iterator[Served]:
    with serving(new_course(), "--https") as one:
        yield one


@pytest.mark.parametrize("proxy", [nginx, caddy], ids=lambda proxy: str(proxy.__name__))
def test_tls_proxy_lets_student_submit_and_watch(
    served: Served,
    make_notebook: Callable[..., Any],
    solved: dict[int, str],
    proxy: Callable[[Path, str], AbstractContextManager[TlsProxy]],
    tmp_path: Path,
) -> None:
    notebook = json.dumps(make_notebook(served.course, solved)).encode()
    with (
        proxy(tmp_path, served.address) as front,
        httpx.Client(base_url=front.address, verify=front.trusted, follow_redirects=True, timeout=PATIENCE) as browser,
    ):
        link = f"/enter/{served.codes['ada']}"
        home = browser.post(link, data=token_in(browser.get(link).text))
        cookies = {cookie.name: cookie for cookie in browser.cookies.jar}
        assert {"who", "_xsrf"} <= cookies.keys()
        assert all(cookie.secure for cookie in cookies.values())
        assert f'SERVER = "{front.address}"' in browser.get("/submit.py").text
        with alone(served.course):  # so that it waits
            files = {"notebook": ("mine.ipynb", notebook)}
            sent = browser.post(f"/assignments/{ASSIGNMENT}", data=token_in(home.text), files=files)
            assert str(sent.url).startswith(f"{front.address}/submissions/")
            events = f"/api/v1{sent.url.path}/events"
            token = {"Authorization": f"Bearer {served.codes['ada']}"}
            with browser.stream("GET", events, headers=token) as stream:
                first = next(stream.iter_text())
                assert '"state": "waiting"' in first
                assert first.count("data:") < 10  # they are not kept until there are more
        with browser.stream("GET", events, headers=token) as stream:
            *_, last = (json.loads(line[5:]) for line in stream.iter_lines() if line.startswith("data:"))
        assert last["result"]["points"] == 30
        files = {"notebook": ("mine.ipynb", b" " * (MOST_BYTES + 1))}
        assert browser.post(f"/assignments/{ASSIGNMENT}", data=token_in(home.text), files=files).status_code >= 400
