"""All addresses of the server."""

from __future__ import annotations

import hashlib
import hmac
import re
from typing import Any

from tornado.web import Application, RequestHandler, StaticFileHandler

from grader.pages.page_parts import TEMPLATES as TEMPLATES_OF_PAGES
from grader.serving import student_pages
from grader.serving.class_pages import ClassPage, Close, Extend, GradeAgain, StudentPage
from grader.serving.handler import TEMPLATES, IsWell, NothingThere, Services
from grader.serving.own_code_pages import AnswerOwnCode
from grader.serving.programs import ROUTES
from grader.serving.question_pages import Answer, Ask


def application(services: Services, *, secure: bool) -> Application:
    """All addresses. `secure` says whether browsers reach it by https, for cookies."""
    base = services.hub.base if services.hub else "/"
    handlers: list[Any] = [
        (r"/", student_pages.HomePage),
        (r"/enter/([\w-]{1,64})", student_pages.EnterPage),
        (r"/leave", student_pages.SignOut),
        (r"/assignments/([^/]+)", student_pages.TakeIn),
        (r"/assignments/([^/]+)/release\.zip", student_pages.Download),
        (r"/assignments/([^/]+)/closed", Close),
        (r"/assignments/([^/]+)/extensions", Extend),
        (r"/submissions/(\d{1,9})", student_pages.SubmissionPage),
        (r"/submissions/(\d{1,9})/again", GradeAgain),
        (r"/submissions/(\d{1,9})/questions", Ask),
        (r"/submissions/(\d{1,9})/own-code", AnswerOwnCode),
        (r"/questions/(\d{1,9})", Answer),
        (r"/class", ClassPage),
        (r"/students/([^/]+)", StudentPage),
        (r"/submit\.py", student_pages.SubmitFile),
        (r"/healthz", IsWell),
        (r"/(style\.css|watch\.js)", StaticFileHandler, {"path": str(TEMPLATES)}),
        (r"/(feedback\.css|report\.css)", StaticFileHandler, {"path": str(TEMPLATES_OF_PAGES)}),
        *ROUTES,
    ]
    if services.hub:
        from grader.serving.hub import HubCallback, HubSignIn  # an extra

        handlers += [(r"/sign-in", HubSignIn), (r"/oauth_callback", HubCallback)]
    if services.outbox:
        from grader.serving.lti.platform_pages import ADDRESSES  # an extra

        handlers += ADDRESSES
    key = hmac.new(services.secret, b"cookies", hashlib.sha256).hexdigest()
    return Application(
        [(re.escape(base[:-1]) + place, *rest) for place, *rest in handlers],
        services=services,
        base=base,
        secure=secure,
        cookie_secret=key,
        xsrf_cookies=True,
        xsrf_cookie_kwargs={"httponly": True, "samesite": "Strict", "secure": secure, "path": base},
        log_function=_no_log,
        default_handler_class=NothingThere,
    )


def _no_log(_handler: RequestHandler) -> None:
    """Addresses hold codes: none of them is written down."""
