"""Send requests to a platform: with a token that goes nowhere else, patience, and errors in plain sentences."""

from __future__ import annotations

import contextlib
import functools
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
from grader.host.patience import patiently
from grader.model.untrusted import read_json
from grader.sandbox.plain_text import one_line

SECONDS = 60  # for an answer to begin
MAX_BYTES = 50 * 2**20
TRIES = 6
LONGEST_WAIT = 300.0  # seconds that a platform may ask us to wait
_BUSY, _BROKEN = {429, 503}, {502, 504}
_HERE = ("127.0.0.1", "localhost", "::1")
_AGAIN = "Run this again: it continues where it stopped."


class Reply(NamedTuple):
    data: Any
    headers: Message


# No handler follows redirects, since a token must not go to another server.
_HANDLERS = (
    urllib.request.ProxyHandler,
    urllib.request.HTTPHandler,
    urllib.request.HTTPSHandler,
    urllib.request.HTTPDefaultErrorHandler,
    urllib.request.HTTPErrorProcessor,
)


class Rest:
    """A platform at its own address. The token is removed from all that comes back."""

    def __init__(
        self,
        name: str,
        url: str,
        headers: Mapping[str, str],
        token: str = "",
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        parts = urllib.parse.urlsplit(url)
        if parts.scheme != "https" and not (parts.scheme == "http" and parts.hostname in _HERE):
            raise CourseError(f"The address of {name} is “{one_line(url, 100)}”. It has to begin with https://.")
        self.name = name
        self.base = url.rstrip("/")
        self._token = token
        self._headers = {"Accept": "application/json", "User-Agent": "attention-grader", **headers}
        self._opener = urllib.request.OpenerDirector()
        for handler in _HANDLERS:
            self._opener.add_handler(handler())
        self._sleep = sleep

    def get(self, path: str, query: Mapping[str, str] | None = None) -> Reply:
        """Send a GET request. `path` may also be a full address from a reply, if it leads to this platform."""
        if not path.startswith(f"{self.base}/"):
            if "://" in path:
                raise self._sent_away(path)
            path = f"{self.base}/{path}"
        asked = f"{path}?{urllib.parse.urlencode(query)}" if query else path
        return self._ask(lambda: urllib.request.Request(asked, headers=self._headers), harmless=True)

    def send(self, method: str, path: str, form: Mapping[str, str], harmless: bool = False) -> Reply:
        """Send a form; `harmless` if doing it twice does no harm."""
        body = urllib.parse.urlencode(form).encode()
        address = f"{self.base}/{path}"
        return self._ask(lambda: urllib.request.Request(address, body, self._headers, method=method), harmless=harmless)

    def _ask(self, request: Callable[[], urllib.request.Request], harmless: bool) -> Reply:
        def ask() -> Reply:
            with self._opener.open(request(), timeout=SECONDS) as answer:
                return Reply(self._read(answer.read(MAX_BYTES + 1)), answer.headers)

        return patiently(ask, functools.partial(self._pause_after, harmless), self._sleep)

    def _pause_after(self, harmless: bool, error: Exception, failed: int) -> float:
        if isinstance(error, urllib.error.HTTPError):
            said, asked, why = self._said(error), error.headers.get("Retry-After", ""), "is busy"
            busy = error.code in _BUSY or (error.code == 403 and "rate limit" in said.lower())
            if not busy and not (harmless and error.code in _BROKEN):
                raise self._refused(error, said) from None
        elif isinstance(error, (OSError, HTTPException)):
            asked, why = "", f"cannot be reached: {self._shown(error, 200)}"
            if not harmless:  # it may have worked, and must not be done twice
                raise CourseError(f"{self.name} did not respond: {self._shown(error, 200)}. {_AGAIN}") from None
        else:
            raise error
        seconds = _seconds(asked, 2.0**failed)
        if failed == TRIES - 1 or seconds > LONGEST_WAIT:
            raise CourseError(f"{self.name} {why}. {_AGAIN}") from None
        return seconds

    def _shown(self, text: object, length: int) -> str:
        """A text from a platform without our token, which it may repeat, on one line."""
        return one_line(self._without_token(str(text)), length)

    def _without_token(self, text: str) -> str:
        return text.replace(self._token, "[the token]") if self._token else text

    def _said(self, error: urllib.error.HTTPError) -> str:
        with error, contextlib.suppress(OSError, HTTPException):
            return self._without_token(error.read(10_000).decode("utf-8", "replace"))
        return ""

    def _read(self, content: bytes) -> Any:
        if len(content) > MAX_BYTES:
            raise CourseError(f"{self.name} returned more than {MAX_BYTES / 2**20:g} MB. Nothing was sent.")
        try:
            return read_json(self._without_token(content.decode()))
        except ValueError:  # also if it is not UTF-8
            raise CourseError(f"{self.name} did not return JSON. Check its address.") from None

    def _sent_away(self, place: str) -> CourseError:
        return CourseError(
            f"{self.name} redirects to {self._shown(place, 100)}. Nothing was sent there. Check its address."
        )

    def _refused(self, error: urllib.error.HTTPError, said: str) -> CourseError:
        code = error.code
        if place := error.headers.get("Location") if 300 <= code < 400 else None:
            return self._sent_away(place)
        if code == 401:
            return CourseError(f"{self.name} rejected the token. Create a new one there, then run this again.")
        means = {403: "does not allow this to the token's owner", 404: "cannot find this"}.get(
            code, f"returned error {code}"
        )
        return CourseError(f"{self.name} {means}: {one_line(said, 300)}{f' {_AGAIN}' if code >= 500 else ''}")


def _seconds(asked: str, otherwise: float) -> float:
    """The seconds to wait according to Retry-After, which is a number or a date; else `otherwise`."""
    with contextlib.suppress(ValueError):
        return max(0.0, float(asked))
    with contextlib.suppress(ValueError, TypeError, OverflowError):
        return max(0.0, (parsedate_to_datetime(asked) - datetime.now(UTC)).total_seconds())
    return otherwise
