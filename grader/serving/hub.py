"""A JupyterHub that has this server as a service, and signs people in: in a browser, and by the tokens of programs.

All of this is `jupyterhub.services.auth`. Another way of signing in, LTI say, ends as this one does: with a name.
"""

from __future__ import annotations

import asyncio
import os
from typing import Any

from jupyterhub.httpclient import JupyterHubHTTPClient
from jupyterhub.services.auth import HubOAuth, HubOAuthCallbackHandler, HubOAuthenticated
from tornado.web import HTTPError

from grader.errors import CourseError
from grader.serving.handler import Handler

PATIENCE = 10.0  # seconds for an answer of the hub
REMEMBERED = 60  # seconds that an answer counts
DAYS = 1  # that a browser stays signed in
SETTINGS = ("SERVICE_NAME", "API_URL", "API_TOKEN", "CLIENT_ID")  # that the hub gives each service, as JUPYTERHUB_…
NOT_FOR_US = "JupyterHub knows this token, but it is not for this server. Ask your instructor to allow it."


class Hub:
    """The hub, which says whose token it is, and what it may be used for."""

    days = DAYS

    def __init__(self, *, secure: bool) -> None:
        """The hub whose service this process is. Nobody's own server on a hub is a service."""
        missing = [name for name in SETTINGS if not os.environ.get(f"JUPYTERHUB_{name}")]
        if missing:
            raise CourseError(
                f"--hub is for a service of a JupyterHub, but JUPYTERHUB_{missing[0]} is not set. Let the hub start "
                "this server, or set what it sets for its services."
            )
        cookie = {"samesite": "Lax", "secure": secure, "expires_days": DAYS}
        self.auth = HubOAuth(cache_max_age=REMEMBERED, cookie_options=cookie)

    @property
    def base(self) -> str:
        """What all addresses begin with."""
        return str(self.auth.base_url)

    @property
    def cookie(self) -> str:
        """The name of the cookie that holds a browser's token."""
        return str(self.auth.cookie_name)

    async def name_of(self, token: str) -> str:
        """The user whose token this is; empty if it is nobody's, or a service's.

        A token that the hub gave for something else is refused. That the hub does not answer says nothing about a
        token, and is not remembered.
        """
        if not (token.isascii() and token.isprintable()):
            return ""
        try:
            user: dict[str, Any] | None = await asyncio.wait_for(self.auth.user_for_token(token, sync=False), PATIENCE)
        except (HTTPError, TimeoutError, ValueError):
            raise HTTPError(503, "JupyterHub does not answer. Try again in a minute.") from None
        if user is None:
            return ""
        if not self.auth.check_scopes(self.auth.access_scopes, user):
            raise HTTPError(403, NOT_FOR_US)
        return str(user["name"]) if user["kind"] == "user" else ""

    async def close(self) -> None:
        await JupyterHubHTTPClient.loop_instance().close()


class HubSignIn(HubOAuthenticated, Handler):
    """Sends a browser to the hub, which sends it back here."""

    get_current_user = Handler.get_current_user  # the library's would wait for the hub

    def get(self) -> None:
        if self.current_user is not None:
            self.redirect(self.base)
        elif self.name_at_hub:
            self.refuse(403, f"{self.name_at_hub} is not in this course. Ask your instructor to add you.")
        else:
            self.redirect(self.get_login_url())

    @property
    def hub_auth(self) -> HubOAuth:
        assert self.services.hub
        return self.services.hub.auth


class HubCallback(HubOAuthCallbackHandler, HubSignIn):
    """Where the hub sends it back to, with a code. Only the browser that was sent there is signed in, and once."""
