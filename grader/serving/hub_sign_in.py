"""Sign-in by a JupyterHub in a browser, where the hub has this server as a service: OAuth with a code.

Another way of signing in, LTI say, ends as this one does: with a name for `Handler.remember`.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
import os
import secrets
from dataclasses import dataclass
from urllib.parse import urlencode

from tornado.httpclient import AsyncHTTPClient, HTTPClientError

from grader.serving.handler import BY_HUB, Handler
from grader.serving.invitations import named

SIGNING_IN = "signing_in"  # the cookie that binds an attempt to its browser
MINUTES = 10  # that an attempt may take


@dataclass(frozen=True)
class HubClient:
    """What the hub gives its services in their environment."""

    api: str
    id: str
    secret: str
    pages: str  # where browsers find the hub
    callback: str
    base: str  # what the addresses of this server begin with

    def address(self, state: str, verifier: str) -> str:
        """Where the hub asks who it is."""
        challenge = base64.urlsafe_b64encode(hashlib.sha256(verifier.encode()).digest()).rstrip(b"=").decode()
        asked = {"client_id": self.id, "redirect_uri": self.callback, "response_type": "code", "state": state}
        asked |= {"code_challenge": challenge, "code_challenge_method": "S256"}
        return f"{self.pages}api/oauth2/authorize?{urlencode(asked)}"

    async def token_for(self, code: str, verifier: str) -> str:
        """The token that the hub gives for a code, once; empty if it gives none."""
        asked = {"client_id": self.id, "client_secret": self.secret, "redirect_uri": self.callback}
        asked |= {"grant_type": "authorization_code", "code": code, "code_verifier": verifier}
        place = f"{self.api}/oauth2/token"
        try:
            answer = await AsyncHTTPClient().fetch(place, method="POST", body=urlencode(asked), follow_redirects=False)
            return str(json.loads(answer.body)["access_token"])
        except (HTTPClientError, OSError, ValueError, KeyError, TypeError):
            return ""


def hub_client() -> HubClient | None:
    """What the hub says of this service; None if no hub has started it as one. A person's server is none."""
    said = {name.removeprefix("JUPYTERHUB_"): text for name, text in os.environ.items() if text}
    if not {"SERVICE_NAME", "API_URL", "API_TOKEN", "CLIENT_ID", "OAUTH_CALLBACK_URL"} <= said.keys():
        return None
    return HubClient(
        api=said["API_URL"].rstrip("/"),
        id=said["CLIENT_ID"],
        secret=said["API_TOKEN"],
        pages=said.get("PUBLIC_HUB_URL") or f"{said.get('HOST', '')}{said.get('BASE_URL', '/')}hub/",
        callback=said["OAUTH_CALLBACK_URL"],
        base=said.get("SERVICE_PREFIX", "/"),
    )


class HubSignIn(Handler):
    """Sends a browser to the hub."""

    def get(self) -> None:
        state, verifier = secrets.token_urlsafe(32), secrets.token_urlsafe(48)
        self.keep(SIGNING_IN, f"{state} {verifier}", None)
        self.redirect(self.settings["hub"].address(state, verifier))


class HubCallback(Handler):
    """Where the hub sends it back to, with a code. Only the browser that was sent there is signed in, and once."""

    async def get(self) -> None:
        cookie = self.get_signed_cookie(SIGNING_IN, max_age_days=MINUTES / (24 * 60)) or b" "
        self.clear_cookie(SIGNING_IN, path=self.base)
        state, verifier = cookie.decode().split(" ")
        if not state or not hmac.compare_digest(state.encode(), self.get_query_argument("state", "").encode()):
            self.refuse(403, "This sign-in did not start in this browser, or is too old. Go back and sign in again.")
        hub, code = self.services.hub, self.get_query_argument("code", "")
        token = await self.settings["hub"].token_for(code, verifier)
        name = await hub.name_of(token) if token and hub else ""
        if not name:
            self.refuse(403, "JupyterHub has not signed you in. Go back and sign in again.")
        if named(self.services.course, name) is None:
            self.refuse(403, f"{name} is not in this course. Ask your instructor to add you.")
        self.remember(BY_HUB, name)
        self.redirect(self.base)
