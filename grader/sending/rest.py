"""Requests to a platform: with a token that goes nowhere else, in its own time, and errors as sentences."""

from __future__ import annotations

import contextlib
import json
import time
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from email.message import Message
from email.utils import parsedate_to_datetime
from http.client import HTTPException
from typing import Any, NamedTuple

from grader.errors import CourseError
from grader.sandbox.plain_text import one_line

SECONDS = 60  # until an answer begins
MAX_BYTES = 50 * 2**20
TRIES = 6
LONGEST_WAIT = 300.0  # seconds that a platform may ask for
_BUSY, _BROKEN = {429, 503}, {502, 504}
_HERE = ("127.0.0.1", "localhost", "::1")
_AGAIN = "Run this again: it goes on where it stopped."


class Reply(NamedTuple):
    data: Any
    headers: Message


class _NoRedirects(urllib.request.HTTPRedirectHandler):
    """A token must not follow one to another server."""

    def redirect_request(self, *_: object) -> None:
        return None


class Rest:
    """One platform, at an address of its own."""

    def __init__(
        self, name: str, url: str, headers: Mapping[str, str], sleep: Callable[[float], None] = time.sleep
    ) -> None:
        parts = urllib.parse.urlsplit(url)
        if parts.scheme != "https" and not (parts.scheme == "http" and parts.hostname in _HERE):
            raise CourseError(f"The address of {name} is “{one_line(url, 100)}”. It has to begin with https://.")
        self.name = name
        self.base = url.rstrip("/")
        self._headers = {"Accept": "application/json", "User-Agent": "attention-grader", **headers}
        self._opener = urllib.request.build_opener(_NoRedirects)
        self._sleep = sleep

    def get(self, path: str, query: Mapping[str, str] | None = None) -> Reply:
        """`path` may be an address that this platform has given, as long as it is one of its own."""
        if not path.startswith(f"{self.base}/"):
            if "://" in path:
                raise CourseError(
                    f"{self.name} sends us to another place, {one_line(path, 100)}. Nothing is sent there."
                )
            path = f"{self.base}/{path}"
        asked = f"{path}?{urllib.parse.urlencode(query)}" if query else path
        return self._ask(lambda: urllib.request.Request(asked, headers=self._headers), harmless=True)

    def send(self, method: str, path: str, form: Mapping[str, str], harmless: bool = False) -> Reply:
        """`harmless` if it does no harm when it is done twice."""
        body = urllib.parse.urlencode(form).encode()
        address = f"{self.base}/{path}"
        return self._ask(lambda: urllib.request.Request(address, body, self._headers, method=method), harmless=harmless)

    def _ask(self, request: Callable[[], urllib.request.Request], harmless: bool) -> Reply:
        for tried in range(TRIES):
            try:
                with self._opener.open(request(), timeout=SECONDS) as answer:
                    return Reply(self._read(answer.read(MAX_BYTES)), answer.headers)
            except urllib.error.HTTPError as error:
                with error:
                    said = error.read(10_000).decode("utf-8", "replace")
                busy = error.code in _BUSY or (error.code == 403 and "rate limit" in said.lower())
                if not busy and not (harmless and error.code in _BROKEN):
                    raise self._refused(error.code, said) from None
                self._wait(tried, error.headers.get("Retry-After", ""))
            except (OSError, HTTPException) as error:  # where it is not known whether it was done, it is not done again
                if not harmless:
                    raise CourseError(f"{self.name} has not answered: {one_line(error, 200)}. {_AGAIN}") from None
                self._wait(tried, "", str(error))
        raise AssertionError("the last try waits no more")

    def _read(self, content: bytes) -> Any:
        try:
            return json.loads(content)
        except ValueError:
            raise CourseError(
                f"{self.name} has answered with something that is no JSON. Is its address right?"
            ) from None

    def _wait(self, tried: int, asked: str, why: str = "") -> None:
        seconds = _seconds(asked, 2.0**tried)
        if tried == TRIES - 1 or seconds > LONGEST_WAIT:
            said = f"cannot be reached: {one_line(why, 200)}" if why else "asks us to come later"
            raise CourseError(f"{self.name} {said}. {_AGAIN}")
        self._sleep(seconds)

    def _refused(self, code: int, said: str) -> CourseError:
        if code == 401:
            return CourseError(f"{self.name} does not take the token. Make a new one there, and run this again.")
        means = {403: "forbids that to the token's owner", 404: "does not know what we ask for"}.get(
            code, f"says {code}"
        )
        return CourseError(f"{self.name} {means}: {one_line(said, 300)}{f' {_AGAIN}' if code >= 500 else ''}")


def _seconds(asked: str, otherwise: float) -> float:
    """What Retry-After says: seconds, or a time."""
    with contextlib.suppress(ValueError):
        return max(0.0, float(asked))
    with contextlib.suppress(ValueError, TypeError):
        return max(0.0, (parsedate_to_datetime(asked) - datetime.now(UTC)).total_seconds())
    return otherwise
