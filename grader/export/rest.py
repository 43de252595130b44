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
_LOCAL_HOSTS = ("127.0.0.1", "localhost", "::1")
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
        address = urllib.parse.urlsplit(url)
        is_local = address.scheme == "http" and address.hostname in _LOCAL_HOSTS
        if address.scheme != "https" and not is_local:
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
                raise self._redirected(path)
            path = f"{self.base}/{path}"
        address = f"{path}?{urllib.parse.urlencode(query)}" if query else path
        return self._ask(lambda: urllib.request.Request(address, headers=self._headers), harmless=True)

    def send(self, method: str, path: str, form: Mapping[str, str], harmless: bool = False) -> Reply:
        """Send a form; `harmless` if doing it twice does no harm."""
        body = urllib.parse.urlencode(form).encode()
        address = f"{self.base}/{path}"
        return self._ask(lambda: urllib.request.Request(address, body, self._headers, method=method), harmless=harmless)

    def _ask(self, request: Callable[[], urllib.request.Request], harmless: bool) -> Reply:
        def ask() -> Reply:
            with self._opener.open(request(), timeout=SECONDS) as answer:
                return Reply(self._parse(answer.read(MAX_BYTES + 1)), answer.headers)

        return patiently(ask, functools.partial(self._pause_after, harmless), self._sleep)

    def _pause_after(self, harmless: bool, error: Exception, failures: int) -> float:
        """The seconds until the next try. CourseError is raised if there is none."""
        if isinstance(error, urllib.error.HTTPError):
            answer, retry_after, problem = self._answer(error), error.headers.get("Retry-After", ""), "is busy"
            is_busy = error.code in _BUSY or (error.code == 403 and "rate limit" in answer.lower())
            if not is_busy and not (harmless and error.code in _BROKEN):
                raise self._refusal(error, answer) from None
        elif isinstance(error, (OSError, HTTPException)):
            retry_after, problem = "", f"cannot be reached: {self._on_one_line(error, 200)}"
            if not harmless:  # it may have worked, and must not be done twice
                raise CourseError(f"{self.name} did not respond: {self._on_one_line(error, 200)}. {_AGAIN}") from None
        else:
            raise error
        seconds = _seconds(retry_after, 2.0**failures)
        if failures == TRIES - 1 or seconds > LONGEST_WAIT:
            raise CourseError(f"{self.name} {problem}. {_AGAIN}") from None
        return seconds

    def _on_one_line(self, text: object, length: int) -> str:
        """A text from a platform without our token, which it may repeat, on one line."""
        return one_line(self._without_token(str(text)), length)

    def _without_token(self, text: str) -> str:
        return text.replace(self._token, "[the token]") if self._token else text

    def _answer(self, error: urllib.error.HTTPError) -> str:
        with error, contextlib.suppress(OSError, HTTPException):
            return self._without_token(error.read(10_000).decode("utf-8", "replace"))
        return ""

    def _parse(self, content: bytes) -> Any:
        if len(content) > MAX_BYTES:
            raise CourseError(f"{self.name} returned more than {MAX_BYTES / 2**20:g} MB. Nothing was sent.")
        try:
            return read_json(self._without_token(content.decode()))
        except ValueError:  # also if it is not UTF-8
            raise CourseError(f"{self.name} did not return JSON. Check its address.") from None

    def _redirected(self, address: str) -> CourseError:
        return CourseError(
            f"{self.name} redirects to {self._on_one_line(address, 100)}. Nothing was sent there. Check its address."
        )

    def _refusal(self, error: urllib.error.HTTPError, answer: str) -> CourseError:
        code, address = error.code, error.headers.get("Location")
        if 300 <= code < 400 and address:
            return self._redirected(address)
        if code == 401:
            return CourseError(f"{self.name} rejected the token. Create a new one there, then run this again.")
        meanings = {403: "does not allow this to the token's owner", 404: "cannot find this"}
        meaning = meanings.get(code, f"returned error {code}")
        hint = f" {_AGAIN}" if code >= 500 else ""
        return CourseError(f"{self.name} {meaning}: {one_line(answer, 300)}{hint}")


def _seconds(retry_after: str, default: float) -> float:
    """The seconds to wait according to Retry-After, which is a number or a date; else the default."""
    with contextlib.suppress(ValueError):
        return max(0.0, float(retry_after))
    with contextlib.suppress(ValueError, TypeError, OverflowError):
        return max(0.0, (parsedate_to_datetime(retry_after) - datetime.now(UTC)).total_seconds())
    return default
