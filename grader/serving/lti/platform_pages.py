"""Where platforms register, and where instructors decide which platforms, courses and people belong to this course."""

from __future__ import annotations

import hmac
import json
from dataclasses import replace
from typing import Any
from urllib.parse import urlsplit

from tornado.web import HTTPError, StaticFileHandler

from grader.model.untrusted import is_object
from grader.serving.handler import TEMPLATES
from grader.serving.invitations import Role
from grader.serving.lti.claims import SERVICES, text_in
from grader.serving.lti.launches import FromPlatform, LtiHandler, LtiLaunch, LtiLogin
from grader.serving.lti.members import SCOPE as OF_MEMBERS
from grader.serving.lti.people import COLUMNS
from grader.serving.lti.platform_requests import PlatformError, read_object
from grader.serving.lti.quirks import AGS, TOOL, find_family, quirks_of
from grader.serving.lti.registrations import LtiRefusal, Registration, find_url_problem, origin_of
from grader.serving.lti.store import COURSES, PEOPLE, REGISTRATIONS
from grader.serving.lti.tool import Tool

NAME = "Graded notebooks"
SCOPES = [f"{AGS}{name}" for name in ("lineitem", "lineitem.readonly", "result.readonly", "score")] + [OF_MEMBERS]
CUSTOM = dict(zip(COLUMNS, ("$User.username", "$Person.sourcedId", "$Canvas.user.id"), strict=True))
PLATFORM = f"{SERVICES}platform-configuration"


class Register(FromPlatform):
    """Registers a platform that an administrator opens this address in. It asks first, and an instructor confirms."""

    async def prepare(self) -> None:
        await super().prepare()
        if not hmac.compare_digest(self.path_args[0].encode(), self.tool.registration_code.encode()):
            raise HTTPError(404)

    async def get(self, _code: str) -> None:
        platform, _ = await self._read_platform()
        self.allow_frames()
        self.show("register", platform=platform, host=urlsplit(platform.login_url).hostname, is_done=False)

    async def post(self, _code: str) -> None:
        platform, endpoint = await self._read_platform()
        headers = {"Content-Type": "application/json", "Accept": "application/json"}
        token = self.get_query_argument("registration_token", "")
        if token.isascii() and token.isprintable() and token:  # Brightspace has none
            headers["Authorization"] = f"Bearer {token}"
        text = json.dumps(quirks_of(platform.family).adapt_tool(describe_tool(self.tool)))
        try:
            answer = read_object(await self.tool.client.send("POST", endpoint, headers, text))
        except PlatformError as error:
            sentence = f"The platform did not register this server. {error}"
            raise LtiRefusal("registration-refused", sentence, 502) from None
        configuration = answer.get(TOOL)
        deployment = text_in(configuration, "deployment_id") if is_object(configuration) else ""
        client_id = text_in(answer, "client_id")
        if not client_id:
            raise LtiRefusal("registration-client_id", "The platform did not say how it calls this server.", 502)
        self.tool.registrations.add(replace(platform, client_id=client_id, deployment=deployment))
        self.allow_frames()
        self.show("register", platform=platform, host="", is_done=True)

    async def _read_platform(self) -> tuple[Registration, str]:
        """The platform as it describes itself, and where it registers tools."""
        url = self.get_query_argument("openid_configuration", "")
        try:
            answer = await self.tool.client.fetch_json(url)
        except PlatformError as error:
            raise LtiRefusal("openid_configuration", f"The platform does not describe itself. {error}", 502) from None
        names = ("authorization_endpoint", "token_endpoint", "jwks_uri", "registration_endpoint")
        issuer, (login, token, keys, register) = text_in(answer, "issuer"), [text_in(answer, name) for name in names]
        if any(find_url_problem(each, self.tool.private_hosts) for each in (issuer, login, token, keys, register)):
            raise LtiRefusal("openid_configuration", "The platform does not say all of its addresses.", 502)
        if origin_of(issuer) != origin_of(url):
            raise LtiRefusal("issuer", "The platform calls itself by the name of another one.", 502)
        about = answer.get(PLATFORM)
        family = find_family(text_in(about, "product_family_code") if is_object(about) else "", issuer)
        audience, name = text_in(answer, "authorization_server"), f"{family.title()} {urlsplit(login).hostname}".strip()
        platform = Registration(issuer, "", login, token, keys, "", audience, family, name, is_confirmed=0)
        return platform, register


def describe_tool(tool: Tool) -> dict[str, Any]:
    """What a platform reads about us."""
    kinds = {"LtiResourceLinkRequest": tool.url("launch"), "LtiDeepLinkingRequest": tool.url("pick")}
    return {
        "application_type": "web",
        "response_types": ["id_token"],
        "grant_types": ["implicit", "client_credentials"],
        "initiate_login_uri": tool.url("login"),
        "redirect_uris": [tool.url("launch")],
        "client_name": NAME,
        "jwks_uri": tool.url("jwks"),
        "token_endpoint_auth_method": "private_key_jwt",
        "scope": " ".join(SCOPES),
        TOOL: {
            "domain": urlsplit(tool.address).netloc,
            "target_link_uri": tool.url("launch"),
            "custom_parameters": CUSTOM,
            "claims": ["iss", "sub", "name", "given_name", "family_name", "email"],
            "messages": [{"type": kind, "target_link_uri": url, "label": NAME} for kind, url in kinds.items()],
        },
    }


class PublishedKeys(LtiHandler):
    """Our keys, for platforms."""

    def get(self) -> None:
        self.say({"keys": [key.public for key in self.tool.keys.current()]})


class PlatformsPage(LtiHandler):
    """Platforms and their courses, people whom nobody knows yet, and points that have not arrived."""

    def get(self) -> None:
        self.must_see_class()
        store, platforms = self.tool.store, self.tool.registrations.by_key()
        self.show(
            "platforms",
            platforms=platforms,
            removable={row.key for row in store.rows(REGISTRATIONS)},
            courses=store.rows(COURSES),
            unknown=self.tool.people.unknown(),
            missing=self.outbox.missing(),
            names=self.names(),
            register=self.tool.url(f"register/{self.tool.registration_code}"),
        )

    def post(self) -> None:
        self.must_be(Role.INSTRUCTOR)
        store, key = self.tool.store, self.get_body_argument("key")
        row = int(key) if key.isdigit() and len(key) < 10 else 0
        match self.get_body_argument("decision"):
            case "confirm-platform":
                store.change(REGISTRATIONS, {"key": key}, is_confirmed=1)
            case "remove-platform":
                self.tool.remove_platform(key)
            case "confirm-course":
                store.change(COURSES, {"id": row}, is_confirmed=1)
            case "remove-course":
                self.tool.remove_course(row)
            case "forget-person":
                store.remove(PEOPLE, id=row)
            case "link-person":
                if not self.tool.people.link(row, self.get_body_argument("student")):
                    self.refuse(409, "There is no such student, or somebody else there is this student already.")
            case "send-again":
                self.outbox.try_again()
            case _:
                raise HTTPError(400)
        self.outbox.wake()
        self.redirect(f"{self.base}platforms")


ADDRESSES: list[Any] = [
    (r"/platforms", PlatformsPage),
    (r"/lti/login", LtiLogin),
    (r"/lti/launch", LtiLaunch),
    (r"/lti/register/(\w{32})", Register),
    (r"/lti/jwks", PublishedKeys),
    (r"/lti/(close\.js)", StaticFileHandler, {"path": str(TEMPLATES)}),
]
