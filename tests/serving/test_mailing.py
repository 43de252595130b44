"""Links by mail, through a real server: who gets which, and that no name or address adds anything to a message."""

from __future__ import annotations

import asyncio
import csv
import re
import ssl
import subprocess
import threading
from collections.abc import Callable, Coroutine, Iterator
from email import message_from_bytes
from email.message import EmailMessage
from email.policy import SMTP
from pathlib import Path
from typing import Any

import pytest
from aiosmtpd import smtp

from grader.course.folder import Course
from grader.serving import invitations
from grader.serving.mailing import PASSWORD
from support.command_line import Ended, grader

pytestmark = pytest.mark.slow

SERVER = "https://grader.example.edu"


class Box:
    """Keeps what arrives, except for one address."""

    mail: list[tuple[list[str], EmailMessage]]

    def __init__(self) -> None:
        self.mail = []

    async def handle_RCPT(self, _server: Any, _session: Any, envelope: Any, address: str, _options: Any) -> str:  # noqa: N802
        if address.startswith("gone"):
            return "550 nobody lives here"
        envelope.rcpt_tos.append(address)
        return "250 OK"

    async def handle_DATA(self, _server: Any, _session: Any, envelope: Any) -> str:  # noqa: N802
        message = message_from_bytes(envelope.content, policy=SMTP)
        assert isinstance(message, EmailMessage)
        self.mail.append((envelope.rcpt_tos, message))
        return "250 OK"


Serve = Callable[..., int]


async def end(servers: list[asyncio.Server]) -> None:
    """Take nobody in any longer, and wait for the ends of all conversations."""
    for one in servers:
        one.close()
    await asyncio.gather(*asyncio.all_tasks() - {asyncio.current_task()}, return_exceptions=True)


@pytest.fixture
def box() -> Box:
    return Box()


@pytest.fixture
def serve(box: Box) -> Iterator[Serve]:
    """Starts a mail server, and returns its port."""
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever)
    thread.start()
    servers: list[asyncio.Server] = []

    def do(work: Coroutine[Any, Any, Any]) -> Any:
        return asyncio.run_coroutine_threadsafe(work, loop).result()

    def start(**options: Any) -> int:
        servers.append(do(loop.create_server(lambda: smtp.SMTP(box, loop=loop, **options), "127.0.0.1", 0)))
        port: int = servers[-1].sockets[0].getsockname()[1]
        return port

    yield start
    do(end(servers))
    loop.call_soon_threadsafe(loop.stop)
    thread.join()
    loop.close()


def invite(course: Course, port: int, students: list[dict[str, str]], settings: str = "", *words: str) -> Ended:
    with (course.root / "roster.csv").open("w", newline="") as file:
        writer = csv.DictWriter(file, ["id", "name", "email"])
        writer.writeheader()
        writer.writerows(students)
    (course.root / "course.toml").write_text(
        f'[serving.mail]\nhost = "127.0.0.1"\nport = {port}\nfrom = "Course <course@example.edu>"\n{settings}'
    )
    return grader("students", "invite", "--mail", "--server", SERVER, *words, folder=course.root)


PLAIN = "starttls = false\n"
ADA = {"id": "ada", "name": "Ada Lovelace", "email": "ada@example.edu"}


def test_each_student_with_an_address_gets_the_own_link(course: Course, serve: Serve, box: Box) -> None:
    old = invitations.invite(course, ["zoe"])["zoe"]
    students = [ADA, {"id": "kurt", "name": "Kurt Gödel", "email": "kurt@example.edu"}, {"id": "zoe"}]
    done = invite(course, serve(), students, PLAIN)
    assert (done.returncode, done.stdout) == (3, "2 links are mailed.\n")
    assert done.stderr == "Not sent: zoe has no address in the roster.\n"
    assert [to for to, _ in box.mail] == [["ada@example.edu"], ["kurt@example.edu"]]
    for (_, message), student in zip(box.mail, students, strict=False):
        body = message.get_content()
        assert f"Hello {student['name']}," in body
        (code,) = re.findall(rf"^{SERVER}/enter/(\S+)\r?$", body, re.MULTILINE)
        assert invitations.people(course)[invitations.digest_of(code)].name == student["id"]
        assert message["To"].addresses[0].display_name == student["name"]
        assert (str(message["From"]), str(message["Subject"])) == (
            "Course <course@example.edu>",
            "Your link to submit notebooks",
        )
    assert invitations.digest_of(old) in invitations.people(course), "who gets no mail keeps the old link"


@pytest.mark.parametrize(
    "email",
    [
        "ada@example.edu\r\nBcc: all@example.edu",
        "ada@example.edu, all@example.edu",
        "ada@example.edu> RCPT TO:<all@example.edu",
        "<all@example.edu>",
        "all",
    ],
)
def test_no_address_reaches_anybody_else(course: Course, serve: Serve, box: Box, email: str) -> None:
    done = invite(course, serve(), [ADA | {"email": email}], PLAIN)
    assert (done.returncode, done.stdout) == (3, "0 links are mailed.\n")
    assert "is not an address." in done.stderr
    assert box.mail == []


def test_no_name_adds_a_header(course: Course, serve: Serve, box: Box) -> None:
    name = 'Ada\r\nBcc: all@example.edu\r\n\r\n"<all@example.edu>, b'
    done = invite(course, serve(), [ADA | {"name": name}], PLAIN)
    assert done.returncode == 0, done.stderr
    ((to, message),) = box.mail
    assert to == [one.addr_spec for one in message["To"].addresses] == ["ada@example.edu"]
    assert set(message) == {"From", "To", "Subject", "Date", "Message-ID", *CONTENT}


CONTENT = ("Content-Type", "Content-Transfer-Encoding", "MIME-Version")


def test_an_address_that_the_server_refuses_keeps_no_other_from_it(course: Course, serve: Serve, box: Box) -> None:
    gone = {"id": "emmy", "email": "gone@example.edu"}
    old = invitations.invite(course, ["ada", "emmy"])
    done = invite(course, serve(), [gone, ADA], PLAIN)
    assert (done.returncode, done.stdout) == (3, "1 link is mailed.\n")
    assert done.stderr == "Not sent: emmy: nobody lives here.\n"
    valid = {name: invitations.digest_of(code) in invitations.people(course) for name, code in old.items()}
    assert valid == {"ada": False, "emmy": True}
    assert [to for to, _ in box.mail] == [["ada@example.edu"]]


def test_text_and_subject_can_be_those_of_the_course(course: Course, serve: Serve, box: Box) -> None:
    (course.root / "mail.txt").write_text("Für $name, 5 $$: <$link>\n")
    port, settings = serve(), f'{PLAIN}subject = "Übungen"\ntemplate = "mail.txt"\n'
    assert invite(course, port, [ADA], settings, "ada").returncode == 0
    ((_, message),) = box.mail
    assert message.get_content().startswith(f"Für Ada Lovelace, 5 $: <{SERVER}/enter/")
    assert message["Subject"] == "Übungen"
    for text in ("no link", "$link $grade", "$link costs 5 $"):
        (course.root / "mail.txt").write_text(text)
        assert "write $link where the link goes" in invite(course, port, [ADA], settings).stderr
    (course.root / "mail.txt").unlink()
    assert "mail.txt, the template for mail, cannot be read" in invite(course, port, [ADA], settings).stderr


def test_mail_is_encrypted_unless_the_course_says_otherwise(
    course: Course, serve: Serve, box: Box, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    key, certificate = tmp_path / "key.pem", tmp_path / "certificate.pem"
    order = ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=localhost"]
    order += ["-addext", "subjectAltName=IP:127.0.0.1", "-keyout", str(key), "-out", str(certificate)]
    subprocess.run(order, check=True, capture_output=True)
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    context.load_cert_chain(certificate, key)

    def authenticate(*given: Any) -> smtp.AuthResult:
        return smtp.AuthResult(success=given[-1].login == b"course" and given[-1].password == b"secret")

    port = serve(tls_context=context, require_starttls=True, authenticator=authenticate, auth_required=True)
    old = invitations.invite(course, ["ada"])["ada"]
    assert "STARTTLS extension not supported" in invite(course, serve(), [ADA]).stderr
    assert "CERTIFICATE_VERIFY_FAILED" in invite(course, port, [ADA]).stderr
    monkeypatch.setenv("SSL_CERT_FILE", str(certificate))
    monkeypatch.setenv(PASSWORD, "wrong")
    assert "does not accept mail" in invite(course, port, [ADA], 'user = "course"\n').stderr
    assert box.mail == []
    assert invitations.digest_of(old) in invitations.people(course), "no link is made before the server is ready"
    monkeypatch.setenv(PASSWORD, "secret")
    done = invite(course, port, [ADA], 'user = "course"\n')
    assert (done.returncode, len(box.mail)) == (0, 1), done.stderr


def test_settings_are_checked_first(course: Course) -> None:
    (course.root / "roster.csv").write_text("id,email\nada,ada@example.edu\n")
    assert "[serving.mail]" in grader(*INVITE, folder=course.root).stderr
    for settings, said in (
        ('from = "course@example.edu"', 'serving.mail.host: it is missing. Write host = "…".'),
        ('host = "x"\nfrom = "course"', 'serving.mail.from: "course" is not an address. Write from ='),
        ('host = "x"\nfrom = "a@x.edu, b@x.edu"', "is not an address"),
        ('host = "x"\nfrom = "a@x.edu\\nBcc: b@x.edu"', "is not a text on one line"),
        ('host = "x"\nfrom = "a@x.edu"\nsubject = "a\\nb"', "serving.mail.subject: "),
        ('host = "x"\nfrom = "a@x.edu"\nport = "smtp"', "serving.mail.port: "),
        ('host = "x"\nfrom = "a@x.edu"\nname = "b"', "serving.mail.name: there is no such key."),
    ):
        (course.root / "course.toml").write_text(f"[serving.mail]\n{settings}\n")
        assert said in grader(*INVITE, folder=course.root).stderr
    (course.root / "course.toml").write_text('[assignments.self_attention.serving.mail]\nhost = "x"\n')
    assert "there is no such key" in grader(*INVITE, folder=course.root).stderr
    for words in (INVITE[:4], [*INVITE, "--instructor"]):
        assert "Mailed links must start with an address" in grader(*words, folder=course.root).stderr


INVITE = ["students", "invite", "ada", "--mail", "--server", SERVER]
