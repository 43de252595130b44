"""Send each student the personal link by mail."""

from __future__ import annotations

import contextlib
import os
import smtplib
import ssl
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from email.errors import MessageError
from email.headerregistry import Address
from email.message import EmailMessage
from email.policy import SMTP
from email.utils import make_msgid
from pathlib import Path
from string import Template

from grader.errors import CourseError
from grader.sandbox.plain_text import one_line
from grader.term.reading import COURSE_FILE
from grader.term.rules import Mail

PASSWORD = "GRADER_MAIL_PASSWORD"
PATIENCE = 30.0  # seconds
TEXT = """\
Hello $name,

Use this link to submit your notebooks and to read, within seconds, what is right:

$link

It is yours alone: anybody who has it can submit in your name, so please do not pass it on.
"""


class Post:
    """An open connection to the mail server, and the text to send."""

    def __init__(self, smtp: smtplib.SMTP, mail: Mail, text: Template) -> None:
        self._smtp, self._mail, self._text = smtp, mail, text

    def send(self, name: str, email: str, link: str) -> str:
        """Send a link; returns why it could not be sent, or nothing."""
        try:
            self._smtp.send_message(_message(self._mail, self._text, name, email, link))
        except smtplib.SMTPRecipientsRefused as error:
            return one_line("; ".join(said.decode(errors="replace") for _, said in error.recipients.values()))
        except (MessageError, ValueError, IndexError):
            return f"{one_line(email)} is not an address"
        except (OSError, smtplib.SMTPException) as error:
            return one_line(error)
        return ""


def _message(mail: Mail, text: Template, name: str, email: str, link: str) -> EmailMessage:
    """The message. Whatever would be two addresses, or another header, is an error."""
    message = EmailMessage(SMTP)
    message["From"] = mail.sender
    message["To"] = Address(one_line(name), addr_spec=email)
    message["Subject"] = mail.subject
    message["Date"] = datetime.now(UTC)
    message["Message-ID"] = make_msgid(domain=message["From"].addresses[0].domain)
    message.set_content(text.substitute(name=one_line(name), link=link))
    return message


@contextlib.contextmanager
def open_post(root: Path, mail: Mail | None, environment: Mapping[str, str] = os.environ) -> Iterator[Post]:
    """Check all settings, and sign in to the mail server, before any link is made."""
    if mail is None:
        raise CourseError(
            f'Say in {COURSE_FILE} how to send mail: [serving.mail] with host = "mail.example.edu" and from = "…".'
        )
    text = _template(root, mail)
    with contextlib.ExitStack() as opened:
        try:
            smtp = opened.enter_context(smtplib.SMTP(mail.host, mail.port, timeout=PATIENCE))
            if mail.starttls:
                smtp.starttls(context=ssl.create_default_context())
            if mail.user:
                smtp.login(mail.user, environment.get(PASSWORD, ""))
        except (OSError, smtplib.SMTPException) as error:
            raise CourseError(
                f"{mail.host}:{mail.port} does not accept mail: {one_line(error)}. No link was changed."
            ) from None
        yield Post(smtp, mail, text)


def _template(root: Path, mail: Mail) -> Template:
    if not mail.template:
        return Template(TEXT)
    try:
        text = Template((root / mail.template).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        raise CourseError(f"{mail.template}, the template for mail, cannot be read as UTF-8 text.") from None
    if not text.is_valid() or not {"link"} <= {*text.get_identifiers()} <= {"link", "name"}:
        raise CourseError(f"{mail.template}: write $link where the link goes, $name for the name, and $$ for a dollar.")
    return text
