"""A learning platform for tests: it signs launches, gives tokens, and has the services that we use, in a thread."""

from __future__ import annotations

import functools
import json
import re
import secrets
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from html import escape
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import SimpleNamespace
from typing import Any
from urllib.parse import parse_qs, urlsplit

import httpx
import jwt
from cryptography.hazmat.primitives.asymmetric.rsa import RSAPrivateKey, generate_private_key
from jwt.algorithms import RSAAlgorithm

CLAIM = "https://purl.imsglobal.org/spec/lti/claim/"
ENDPOINT = "https://purl.imsglobal.org/spec/lti-ags/claim/endpoint"
MEMBERS = "https://purl.imsglobal.org/spec/lti-nrps/claim/namesroleservice"
PICKER = "https://purl.imsglobal.org/spec/lti-dl/claim/deep_linking_settings"
TOOL = "https://purl.imsglobal.org/spec/lti-tool-configuration"
AGS = "https://purl.imsglobal.org/spec/lti-ags/scope/"
NRPS = "https://purl.imsglobal.org/spec/lti-nrps/scope/contextmembership.readonly"
MEMBERSHIP = "http://purl.imsglobal.org/vocab/lis/v2/membership#"
INSTRUCTOR, LEARNER = f"{MEMBERSHIP}Instructor", f"{MEMBERSHIP}Learner"
OF_ITEM = "application/vnd.ims.lis.v2.lineitem+json"
OF_ITEMS = "application/vnd.ims.lis.v2.lineitemcontainer+json"
OF_SCORE = "application/vnd.ims.lis.v1.score+json"
OF_RESULTS = "application/vnd.ims.lis.v2.resultcontainer+json"
OF_MEMBERS = "application/vnd.ims.lti-nrps.v2.membershipcontainer+json"
REMOVED = object()  # in place of a claim


@functools.cache
def private_key(number: int = 0) -> RSAPrivateKey:  # noqa: ARG001
    """A key; others for other numbers."""
    return generate_private_key(public_exponent=65537, key_size=2048)


@dataclass
class Request:
    method: str
    path: str
    query: dict[str, list[str]]
    headers: Mapping[str, str]
    body: bytes

    @property
    def json(self) -> Any:
        return json.loads(self.body)

    @property
    def form(self) -> dict[str, str]:
        return {name: values[0] for name, values in parse_qs(self.body.decode()).items()}


@dataclass
class Answer:
    status: int
    content: object = ""
    kind: str = "application/json"
    headers: dict[str, str] = field(default_factory=dict)


@dataclass
class PlatformDouble:
    """A platform that does what the standard says."""

    client_id: str = "tool-1"
    deployment: str = "deployment-1"
    issuer: str = ""  # usually its address
    kid: str = "key-1"
    key: RSAPrivateKey = field(default_factory=private_key)
    product: str = "unknown"
    address: str = ""
    requests: list[Request] = field(default_factory=list)
    planned: list[Answer | None] = field(default_factory=list)  # to the next scores; status 0: cut the connection
    line_items: dict[str, dict[str, Any]] = field(default_factory=dict)
    scores: dict[tuple[str, str], dict[str, Any]] = field(default_factory=dict)  # by line item and user
    arrived: list[dict[str, Any]] = field(default_factory=list)
    members: list[dict[str, Any]] = field(default_factory=list)
    next_link: str = ""  # of the first page of members
    page: int = 100
    tool_keys: str = ""  # the address of the tool's keys
    registered: list[dict[str, Any]] = field(default_factory=list)
    tokens: dict[str, str] = field(default_factory=dict)  # scopes by token
    assertions: list[dict[str, Any]] = field(default_factory=list)
    instead: Answer | None = None  # of any other answer
    target: str = ""  # of what it signs for a browser, with these claims
    changed: dict[str, Any] = field(default_factory=dict)
    returned: list[str] = field(default_factory=list)  # what was chosen

    @property
    def name(self) -> str:
        return self.issuer or self.address

    # --- what it sends through browsers ---

    def login(self, target: str, **more: str) -> dict[str, str]:
        """What it sends in the first step of a launch."""
        hint = {"login_hint": "hint +/=&", "lti_message_hint": "message&hint=1"}
        return {"iss": self.name, "target_link_uri": target, "client_id": self.client_id, **hint, **more}

    def claims(self, target: str, nonce: str, roles: object = (LEARNER,), **more: Any) -> dict[str, Any]:
        now = int(time.time())
        return {
            "iss": self.name,
            "aud": self.client_id,
            "sub": "user-1",
            "iat": now,
            "exp": now + 300,
            "nonce": nonce,
            "name": "Ada Lovelace",
            "email": "ada@example.edu",
            f"{CLAIM}message_type": "LtiResourceLinkRequest",
            f"{CLAIM}version": "1.3.0",
            f"{CLAIM}deployment_id": self.deployment,
            f"{CLAIM}target_link_uri": target,
            f"{CLAIM}resource_link": {"id": "link-1", "title": "Exercises"},
            f"{CLAIM}roles": roles,
            f"{CLAIM}context": {"id": "course-1", "title": "Machine Learning"},
            f"{CLAIM}custom": {},
            ENDPOINT: {
                "scope": [f"{AGS}lineitem", f"{AGS}score", f"{AGS}result.readonly"],
                "lineitems": f"{self.address}/lineitems?type_id=1",
            },
            MEMBERS: {"context_memberships_url": f"{self.address}/members", "service_versions": ["2.0"]},
            **more,
        }

    def sign(self, claims: Mapping[str, Any], **options: Any) -> str:
        given = {name: value for name, value in claims.items() if value is not REMOVED}
        headers = {"kid": self.kid, **options.pop("headers", {})}
        kept = {name: value for name, value in headers.items() if value is not REMOVED}
        key, algorithm = options.get("key", self.key), options.get("algorithm", "RS256")
        return jwt.encode(given, key, algorithm=algorithm, headers=kept)

    # --- what it answers to servers ---

    def answer(self, request: Request) -> Answer:
        self.requests.append(request)
        if self.instead:
            return self.instead
        match request.path.strip("/").split("/"):
            case ["jwks"]:
                public = RSAAlgorithm.to_jwk(self.key.public_key(), as_dict=True)
                return Answer(200, {"keys": [{**public, "kid": self.kid, "alg": "RS256", "use": "sig"}]})
            case ["token"]:
                return self.give_token(request)
            case [".well-known", "openid-configuration"]:
                return Answer(200, self.configuration())
            case ["register"]:
                return self.register(request)
            case ["lineitems"]:
                return self.answer_line_items(request)
            case ["lineitems", number, "lineitem", "scores"]:
                return self.answer_score(request, number)
            case ["lineitems", number, "lineitem", "results"]:
                return self.answer_results(request, number)
            case ["members"]:
                return self.answer_members(request)
            case ["frame"]:
                return page(f'<iframe src="{escape(request.query["src"][0])}" width="800" height="600"></iframe>')
            case ["authorize"]:
                return self.authorize(request)
            case ["return"]:
                self.returned.append(request.form["JWT"])
                return page("It was added.")
        return Answer(404)

    def authorize(self, request: Request) -> Answer:
        """Let the browser go on with what is signed for whoever is signed in."""
        query = {name: values[0] for name, values in request.query.items()}
        token = self.sign({**self.claims(self.target, query["nonce"]), **self.changed})
        fields = {"state": query["state"], "id_token": token}
        inputs = [f'<input name="{name}" value="{escape(value)}">' for name, value in fields.items()]
        form = f'<form method="post" action="{escape(query["redirect_uri"])}">{"".join(inputs)}</form>'
        return page(f"{form}<script>document.forms[0].submit()</script>")

    def give_token(self, request: Request) -> Answer:
        form = request.form
        header = jwt.get_unverified_header(form["client_assertion"])
        keys = [key.public for key in self.keys_of_tool() if key.public["kid"] == header["kid"]]
        assert keys, "signed with a key that is not published"
        key: Any = RSAAlgorithm.from_jwk(keys[0])
        assertion = jwt.decode(form["client_assertion"], key, ["RS256"], audience=f"{self.address}/token")
        assert (assertion["iss"], assertion["sub"]) == (self.client_id, self.client_id)
        assert form["grant_type"] == "client_credentials"
        assert assertion["jti"] not in {earlier["jti"] for earlier in self.assertions}
        self.assertions.append(assertion)
        token = secrets.token_urlsafe(20)
        self.tokens[token] = form["scope"]
        return Answer(200, {"access_token": token, "token_type": "Bearer", "expires_in": 3600, "scope": form["scope"]})

    def keys_of_tool(self) -> Any:
        """The tool's keys, as it publishes them."""
        return [SimpleNamespace(public=key) for key in httpx.get(self.tool_keys).json()["keys"]]

    def is_allowed(self, request: Request, *scopes: str) -> bool:
        token = request.headers.get("Authorization", "").removeprefix("Bearer ")
        return not set(scopes).isdisjoint(self.tokens.get(token, "").split())

    def configuration(self) -> dict[str, Any]:
        return {
            "issuer": self.name,
            "authorization_endpoint": f"{self.address}/authorize",
            "token_endpoint": f"{self.address}/token",
            "jwks_uri": f"{self.address}/jwks",
            "registration_endpoint": f"{self.address}/register",
            "https://purl.imsglobal.org/spec/lti-platform-configuration": {"product_family_code": self.product},
        }

    def register(self, request: Request) -> Answer:
        tool = request.json
        self.registered.append({"authorization": request.headers.get("Authorization"), **tool})
        return Answer(
            200, {**tool, "client_id": self.client_id, TOOL: {**tool[TOOL], "deployment_id": self.deployment}}
        )

    def answer_line_items(self, request: Request) -> Answer:
        if not self.is_allowed(request, f"{AGS}lineitem", f"{AGS}lineitem.readonly"):
            return Answer(401)
        if request.method == "GET":
            wanted = request.query.get("resource_id")
            items = [item for item in self.line_items.values() if not wanted or item["resourceId"] == wanted[0]]
            return Answer(200, items, OF_ITEMS)
        number = str(len(self.line_items) + 1)
        self.line_items[number] = {**request.json, "id": f"{self.address}/lineitems/{number}/lineitem?type_id=1"}
        return Answer(201, self.line_items[number], OF_ITEM)

    def answer_score(self, request: Request, number: str) -> Answer:
        if not self.is_allowed(request, f"{AGS}score"):
            return Answer(401)
        planned = self.planned.pop(0) if self.planned else None
        if planned is not None:
            return planned
        return self.take_score(request, number)

    def take_score(self, request: Request, number: str) -> Answer:
        score = request.json
        before = self.scores.get((number, score["userId"]))
        if before and before["timestamp"] >= score["timestamp"]:
            return Answer(409)
        self.scores[number, score["userId"]] = score
        self.arrived.append(score)
        return Answer(204)

    def answer_results(self, request: Request, number: str) -> Answer:
        if not self.is_allowed(request, f"{AGS}result.readonly"):
            return Answer(401)
        score = self.scores.get((number, request.query.get("user_id", [""])[0]))
        points = {"resultScore": score["scoreGiven"], "resultMaximum": score["scoreMaximum"]} if score else {}
        return Answer(200, [{"userId": score["userId"], **points}] if score else [], OF_RESULTS)

    def answer_members(self, request: Request) -> Answer:
        if not self.is_allowed(request, NRPS):
            return Answer(401)
        first = int(request.query.get("from", ["0"])[0])
        more = f"{self.address}/members?from={first + self.page}" if first + self.page < len(self.members) else ""
        link = self.next_link or more
        headers = {"Link": f'<{link}>; rel="next"'} if link else {}
        content = {"id": f"{self.address}/members", "members": self.members[first : first + self.page]}
        return Answer(200, content, OF_MEMBERS, headers)

    @property
    def course_toml(self) -> str:
        """Its table in course.toml."""
        addresses = {"login": "authorize", "token": "token", "keys": "jwks"}
        lines = [f'{name} = "{self.address}/{place}"' for name, place in addresses.items()]
        ids = {"issuer": self.name, "client_id": self.client_id, "deployment": self.deployment}
        return "\n".join([*(f'{name} = "{value}"' for name, value in ids.items()), *lines])


@contextmanager
def running(platform: PlatformDouble) -> Iterator[PlatformDouble]:
    """Let a platform answer."""

    class Handler(BaseHTTPRequestHandler):
        def log_message(self, *_: object) -> None: ...

        def do_GET(self) -> None:
            parts = urlsplit(self.path)
            body = self.rfile.read(int(self.headers.get("Content-Length", "0")))
            request = Request(self.command, parts.path, parse_qs(parts.query), dict(self.headers), body)
            answer = platform.answer(request)
            if not answer.status:
                self.close_connection = True
                return
            content = answer.content if isinstance(answer.content, bytes) else json.dumps(answer.content).encode()
            content = b"" if answer.status == 204 else content
            self.send_response(answer.status)
            headers = {"Content-Type": answer.kind, "Content-Length": str(len(content)), **answer.headers}
            for name, value in headers.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(content)

        do_POST = do_GET  # noqa: N815

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.handle_error = lambda *_: None  # type: ignore[method-assign]  # whoever asked may have gone
    platform.address = f"http://127.0.0.1:{server.server_address[1]}"
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)
    thread.start()
    try:
        yield platform
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def page(body: str) -> Answer:
    return Answer(200, f"<!DOCTYPE html><title>Platform</title><body>{body}</body>".encode(), "text/html")


def codes_in(page: str) -> list[str]:
    """The codes for instructors on a page."""
    return re.findall(r"Code for your instructor: ([\w-]+)\.", page)
