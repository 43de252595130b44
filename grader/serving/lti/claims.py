"""What a platform signs: a token, checked from its header to its last claim, and read into a value."""

from __future__ import annotations

import hmac
import re
from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Literal

import jwt
import msgspec
from msgspec import Meta, Struct, field

from grader.model.untrusted import convert
from grader.sandbox.plain_text import one_line
from grader.serving.invitations import Role
from grader.serving.lti.people import COLUMNS, Identity
from grader.serving.lti.platform_requests import PlatformClient, PlatformError
from grader.serving.lti.registrations import OPEN_AGAIN, LtiRefusal, Registration

CLAIM = "https://purl.imsglobal.org/spec/lti/claim/"
SERVICES = "https://purl.imsglobal.org/spec/lti-"
LEEWAY = 60  # seconds that clocks may differ
TEST_STUDENT = "http://purl.imsglobal.org/vocab/lti/system/person#TestUser"
_MEMBERSHIP = "http://purl.imsglobal.org/vocab/lis/v2/membership"
_REQUIRED = ["iss", "aud", "sub", "exp", "iat", "nonce"]
_STORABLE = r"^[^\0\ud800-\udfff]*$"  # a NUL, or half a character, is in no table
Id = Annotated[str, Meta(min_length=1, max_length=255, pattern=_STORABLE)]
Url = Annotated[str, Meta(max_length=2000, pattern=_STORABLE)]
Text = Annotated[str, Meta(max_length=2000)]


class Context(Struct, frozen=True):
    id: Id
    title: Text | None = ""


class ResourceLink(Struct, frozen=True):
    id: Id


class Endpoint(Struct, frozen=True):
    """Where points go."""

    lineitem: Url | None = ""
    lineitems: Url | None = ""


class MembersService(Struct, frozen=True):
    context_memberships_url: Url = ""


class Picker(Struct, frozen=True):
    """Where and how a chosen assignment is answered."""

    deep_link_return_url: Url
    accept_types: tuple[Text, ...]
    data: Any = msgspec.UNSET


class Launch(Struct, frozen=True):
    """What a platform says of a click: who it was, where, and what for. One wrong value refuses all."""

    sub: Id
    version: Literal["1.3.0"] = field(name=f"{CLAIM}version")
    message_type: Literal["LtiResourceLinkRequest", "LtiDeepLinkingRequest"] = field(name=f"{CLAIM}message_type")
    roles: Annotated[tuple[Text, ...], Meta(max_length=100)] = field(name=f"{CLAIM}roles")
    deployment_id: Id = field(name=f"{CLAIM}deployment_id")
    target_link_uri: Url = field(name=f"{CLAIM}target_link_uri")
    resource_link: ResourceLink | None = field(name=f"{CLAIM}resource_link", default=None)
    context: Context | None = field(name=f"{CLAIM}context", default=None)
    custom: dict[str, Any] | None = field(name=f"{CLAIM}custom", default=None)
    lis: dict[str, Any] | None = field(name=f"{CLAIM}lis", default=None)
    endpoint: Endpoint | None = field(name=f"{SERVICES}ags/claim/endpoint", default=None)
    members: MembersService | None = field(name=f"{SERVICES}nrps/claim/namesroleservice", default=None)
    picker: Picker | None = field(name=f"{SERVICES}dl/claim/deep_linking_settings", default=None)
    name: Text | None = ""
    email: Text | None = ""

    @property
    def identity(self) -> Identity:
        """Who it was. What a platform did not fill in begins with a dollar sign."""
        ids = {"number": text_in(self.lis, "person_sourcedid")}
        ids |= {kind: text_in(self.custom, kind) for kind in COLUMNS if text_in(self.custom, kind)}
        filled_in = {kind: text for kind, text in ids.items() if not text.startswith("$")}
        return Identity(self.sub, one_line(self.name or "", 100), one_line(self.email or "", 255), filled_in)


def text_in(values: Mapping[str, Any] | None, name: str) -> str:
    """A text of reasonable length on one line; empty if it is anything else."""
    value = (values or {}).get(name)
    return value if isinstance(value, str) and len(value) <= 255 and value.isprintable() else ""


def read_role(roles: Sequence[object]) -> Role:
    """The role in the course. What somebody is at the institution, or on the platform, does not matter here."""
    names = set()
    for role in roles:
        vocabulary, _, name = str(role).rpartition("#")
        if vocabulary in ("", _MEMBERSHIP, f"{_MEMBERSHIP}/Instructor"):
            names.add(name)
    if "TeachingAssistant" in names:  # Canvas, for one, calls assistants instructors, too
        return Role.ASSISTANT
    return Role.INSTRUCTOR if "Instructor" in names else Role.STUDENT


def refuse_token(code: str) -> LtiRefusal:
    return LtiRefusal(f"token-{code}", f"What your learning platform has sent is not valid. {OPEN_AGAIN}")


async def read_launch(client: PlatformClient, registration: Registration, nonce: str, token: str) -> Launch:
    """What a token says, if it is of this platform, for us, of now, and an answer to this nonce."""
    claims = await _verify(client, registration, token)
    has_others = isinstance(claims["aud"], list) and len(claims["aud"]) > 1
    if claims.get("azp", "" if has_others else registration.client_id) != registration.client_id:
        raise refuse_token("azp")
    if not hmac.compare_digest(str(claims["nonce"]).encode("utf-8", "surrogatepass"), nonce.encode()):
        raise refuse_token("nonce")
    try:
        launch = convert(claims, Launch)
    except (msgspec.ValidationError, RecursionError, UnicodeEncodeError) as error:
        match = re.search(r"(?:field `|at `\$\.)([^`\[]+)", str(error))
        raise refuse_token(re.split("[/.]", match[1])[-1] if match else "claims") from None
    if launch.message_type == "LtiResourceLinkRequest" and launch.resource_link is None:
        raise refuse_token("resource_link")
    if registration.deployment not in ("", launch.deployment_id):
        raise refuse_token("deployment_id")
    return launch


async def _verify(client: PlatformClient, registration: Registration, token: str) -> dict[str, Any]:
    try:
        header = jwt.get_unverified_header(token)
        if header.get("alg") != "RS256":  # nothing else in the header is believed, such as where to find a key
            raise refuse_token("algorithm")
        key = await client.find_key(registration, text_in(header, "kid"))
        if key is None:
            raise refuse_token("kid")
        options: Any = {"require": _REQUIRED}
        audience, issuer = registration.client_id, registration.issuer
        claims: dict[str, Any] = jwt.decode(
            token, key, ["RS256"], options, audience=audience, issuer=issuer, leeway=LEEWAY
        )
    except PlatformError:
        sentence = f"Your learning platform does not tell us its keys. {OPEN_AGAIN}"
        raise LtiRefusal("platform-keys", sentence, 502) from None
    except (jwt.PyJWTError, RecursionError) as error:
        name = type(error).__name__.removesuffix("Error").removesuffix("Signature")
        raise refuse_token(name.lower()) from None
    return claims
