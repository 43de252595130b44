"""Requests to platforms: to public addresses only, with limits, and with tokens that go nowhere else."""

from __future__ import annotations

import functools
import ipaddress
import re
import secrets
import time
from collections.abc import Mapping
from typing import Any
from urllib.parse import urlencode

import jwt
from cryptography.hazmat.primitives.asymmetric.rsa import RSAPublicKey
from jwt.algorithms import RSAAlgorithm
from tornado.httpclient import HTTPClientError, HTTPResponse
from tornado.netutil import DefaultLoopResolver
from tornado.simple_httpclient import SimpleAsyncHTTPClient

from grader.model.untrusted import NotJSON, is_object, read_json
from grader.sandbox.plain_text import one_line
from grader.serving.lti.keys import BITS, ToolKeys
from grader.serving.lti.quirks import quirks_of
from grader.serving.lti.registrations import Registration, find_url_problem

SECONDS = 20.0  # for a whole answer
MOST_BYTES = 4 * 2**20
MOST_KEYS = 50
KEYS_LAST = 24 * 3600.0  # seconds that a platform's keys are used without asking again
ASK_AGAIN = 10.0  # … until an unknown key makes us ask again: strangers can make up as many as they like
MARGIN = 60.0  # … before its end that a token is no longer used
_ASSERTION = "urn:ietf:params:oauth:client-assertion-type:jwt-bearer"
_TOKEN = re.compile(r"[\x21-\x7e]{1,8000}")


class PlatformError(Exception):
    """A platform did not do what it was asked for; the text says why, for instructors."""

    def __init__(self, problem: str, status: int = 502) -> None:
        super().__init__(problem)
        self.status = status

    @property
    def may_pass(self) -> bool:
        """Whether the same request may work later."""
        return self.status in (401, 408, 425, 429) or self.status >= 500


class PublicAddresses(DefaultLoopResolver):
    """Finds addresses of names, but none in a private network: where a name leads is what is connected to."""

    def initialize(self, private_hosts: frozenset[str]) -> None:
        self._private_hosts = private_hosts

    async def resolve(self, host: str, port: int, family: Any = 0) -> list[tuple[int, Any]]:
        addresses = await super().resolve(host, port, family)
        for _, address in addresses:
            is_public = ipaddress.ip_address(address[0].partition("%")[0]).is_global
            if not is_public and host.lower() not in self._private_hosts:
                raise OSError(f"{host} has a private address")
        return addresses


class PlatformClient:
    """Asks platforms, with our signature where they want one."""

    def __init__(self, keys: ToolKeys, private_hosts: frozenset[str]) -> None:
        self._keys = keys
        self._private_hosts = private_hosts
        self._tokens: dict[tuple[str, str], tuple[str, float]] = {}  # and until when
        self._platform_keys: dict[str, tuple[dict[str, RSAPublicKey], float]] = {}  # and since when

    @functools.cached_property
    def _http(self) -> SimpleAsyncHTTPClient:
        resolver = PublicAddresses(private_hosts=self._private_hosts)
        return SimpleAsyncHTTPClient(
            force_instance=True, resolver=resolver, max_clients=20, max_body_size=MOST_BYTES, max_header_size=2**16
        )

    async def send(
        self, method: str, url: str, headers: Mapping[str, str], body: str | None = None, family: str = ""
    ) -> HTTPResponse:
        """Send one request. Redirections are not followed."""
        problem = find_url_problem(url, self._private_hosts)
        if problem:
            raise PlatformError(f"{one_line(url, 100)} {problem}.", 400)
        try:
            response = await self._http.fetch(
                url, raise_error=False, method=method, headers={"User-Agent": "attention-grader", **headers}, body=body,
                follow_redirects=False, decompress_response=False, connect_timeout=SECONDS, request_timeout=SECONDS,
            )  # fmt: skip
        except (OSError, ValueError, HTTPClientError) as error:
            raise PlatformError(f"{one_line(url, 100)} cannot be reached: {one_line(str(error), 200)}.") from None
        if not 200 <= response.code < 300:
            quirks, answer = quirks_of(family), f"{response.code} {one_line(response.reason or '', 100)}"
            raise PlatformError(quirks.explain(response) or f"It answers {answer}.", quirks.status_of(response))
        return response

    async def fetch_json(self, url: str) -> Mapping[str, Any]:
        """The JSON object at an address that anybody may read."""
        return read_object(await self.send("GET", url, {"Accept": "application/json"}))

    async def call(
        self, registration: Registration, scope: str, method: str, url: str, kind: str, content: str | None = None
    ) -> HTTPResponse:
        """Use a service of a platform, with a token; `kind` is the type of what is sent or read."""
        token = await self._token(registration, scope)
        headers = {"Authorization": f"Bearer {token}", "Accept" if content is None else "Content-Type": kind}
        try:
            return await self.send(method, url, headers, content, registration.family)
        except PlatformError as error:
            if error.status == 401:
                self._tokens.pop((registration.key, scope), None)
            raise

    async def _token(self, registration: Registration, scope: str) -> str:
        token, until = self._tokens.get((registration.key, scope), ("", 0.0))
        if time.monotonic() < until:
            return token
        audience = registration.audience or quirks_of(registration.family).audience or registration.token_url
        assertion = self.sign(registration.client_id, audience, {"sub": registration.client_id}, 300)
        form = {"grant_type": "client_credentials", "client_assertion_type": _ASSERTION, "client_assertion": assertion}
        kind = {"Content-Type": "application/x-www-form-urlencoded", "Accept": "application/json"}
        body = urlencode({**form, "scope": scope})
        try:
            answer = read_object(await self.send("POST", registration.token_url, kind, body))
        except PlatformError as error:  # whatever it is, it says nothing of what the token is for
            raise PlatformError(f"It gives no token. {error}") from None
        new, seconds = answer.get("access_token"), answer.get("expires_in", 3600)
        if not isinstance(new, str) or not _TOKEN.fullmatch(new) or not isinstance(seconds, (int, float)):
            raise PlatformError("It gives no token that can be used.")
        self._tokens[registration.key, scope] = (new, time.monotonic() + min(seconds, 3600) - MARGIN)
        return new

    def sign(self, issuer: str, audience: str, claims: Mapping[str, Any], seconds: int) -> str:
        """A token of ours."""
        key, now = self._keys.signing_key(), int(time.time())
        common = {"iss": issuer, "aud": audience, "iat": now, "exp": now + seconds, "jti": secrets.token_urlsafe(24)}
        return jwt.encode({**common, **claims}, key.private, algorithm="RS256", headers={"kid": key.kid})

    async def find_key(self, registration: Registration, kid: str) -> RSAPublicKey | None:
        """The platform's key of this name. An unknown one makes us ask again, once."""
        keys, since = self._platform_keys.get(registration.key, ({}, -KEYS_LAST))
        age = time.monotonic() - since
        if kid and (age > KEYS_LAST or (kid not in keys and age > ASK_AGAIN)):
            keys = _read_keys(await self.fetch_json(registration.keys_url))
            self._platform_keys[registration.key] = (keys, time.monotonic())
        return keys.get(kid)


def _read_keys(answer: Mapping[str, Any]) -> dict[str, RSAPublicKey]:
    """The keys in an answer that can be used, by name."""
    entries = answer.get("keys")
    keys: dict[str, RSAPublicKey] = {}
    for entry in entries[:MOST_KEYS] if isinstance(entries, list) else []:
        if is_object(entry) and entry.get("kty") == "RSA" and isinstance(entry.get("kid"), str):
            try:
                key = RSAAlgorithm.from_jwk(dict(entry))
            except (jwt.InvalidKeyError, ValueError, TypeError):
                continue
            if isinstance(key, RSAPublicKey) and key.key_size >= BITS and entry.get("use", "sig") == "sig":
                keys.setdefault(str(entry["kid"]), key)
    return keys


def read_body(response: HTTPResponse) -> object:
    try:
        return read_json(response.body)
    except NotJSON:
        raise PlatformError("It does not answer in JSON.") from None


def read_object(response: HTTPResponse) -> Mapping[str, Any]:
    answer = read_body(response)
    if not is_object(answer):
        raise PlatformError("It does not answer as the standard says.")
    return answer
