"""`grader serve`, `grader receipt`, and `grader students invite`."""

from __future__ import annotations

import contextlib
import csv
import sys
import tempfile
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Annotated

import typer
from rich.markup import escape

from grader.cli.options import Device
from grader.cli.terminal import console
from grader.course.folder import Course, open_course
from grader.errors import CourseError
from grader.host.machine import cores
from grader.sandbox.plain_text import listed, one_line

Server = Annotated[str, typer.Option("--server", help="The address where students reach the server.")]
LOCAL_SERVER = "http://127.0.0.1:8000"


def serve(
    port: Annotated[int, typer.Option(help="The port to listen on; 0 picks a free one.")] = 8000,
    address: Annotated[str, typer.Option(help="The address to listen on.")] = "127.0.0.1",
    jobs: Annotated[int | None, typer.Option(min=1, help=f"How many to grade at once; default: {cores()}.")] = None,
    device: Device = "cpu",
    https: Annotated[bool, typer.Option("--https", help="A proxy in front of the server handles https.")] = False,
    user_header: Annotated[str, typer.Option(help="The header where a proxy names the signed-in user.")] = "",
    trust: Annotated[
        list[str] | None, typer.Option(help="An address to trust with this header; 127.0.0.1 by default.")
    ] = None,
    hub: Annotated[
        bool, typer.Option("--hub", help="Run as a service of a JupyterHub, whose users may submit.")
    ] = False,
    demo: Annotated[bool, typer.Option("--demo", help="Serve a made-up class from a temporary folder.")] = False,
) -> None:
    """Let students submit, and see the verdict right away.

    Example: `grader serve --port 8000`
    """
    from grader.serving.desk import GradingOptions
    from grader.serving.invitations import Proxy
    from grader.serving.lti.registrations import read_settings, registration_code
    from grader.serving.server import ServerAddress
    from grader.serving.server import serve as run
    from grader.serving.student_pages import left_out

    proxy = Proxy(user_header, frozenset(trust or ["127.0.0.1"])) if user_header else None
    with tempfile.TemporaryDirectory(prefix="demo-") if demo else contextlib.nullcontext() as folder:
        course, codes = _made_up_course(Path(folder)) if folder else (open_course(), {})

        def ready(number: int) -> None:
            url = f"http://{address}:{number}"
            console.print(f"Serving at {url} until Ctrl-C.", highlight=False, soft_wrap=True)
            for name, code in codes.items():
                console.print(f"  as {name}: {url}/enter/{code}", highlight=False, soft_wrap=True)
            lti_address = read_settings(course.root).address
            if lti_address:
                registration_url = f"{lti_address}/lti/register/{registration_code(course.root)}"
                console.print(f"Learning platforms register at {registration_url}", highlight=False, soft_wrap=True)
            for assignment, reason in left_out(course).items():
                sentence = f"{assignment} cannot be submitted here: {reason}."
                console.print(escape(sentence), highlight=False, soft_wrap=True)

        server_address = ServerAddress(address, port, https, proxy, hub)
        run(course, server_address, GradingOptions(jobs or cores(), device), ready)


def _made_up_course(folder: Path) -> tuple[Course, dict[str, str]]:
    """The course of the demo, where a class has just submitted, and the links of an instructor and a student."""
    from grader.checks import demo
    from grader.serving.arrivals import Arrivals
    from grader.serving.invitations import Role, invite

    course = demo.released_course(folder, console)
    with contextlib.closing(Arrivals(course)) as arrivals:
        for student, text in demo.notebooks_of_all(course).items():
            arrivals.add(student, demo.ASSIGNMENT, {demo.ASSIGNMENT: text.encode()})
    instructor = invite(course, ["an instructor"], Role.INSTRUCTOR)
    return course, instructor | invite(course, [demo.BY_THE_BOOK])


def submit(
    notebook: Annotated[Path | None, typer.Argument(help="A notebook, as it is saved.")] = None,
    assignment: Annotated[str, typer.Option(help="The assignment, if the file name does not show it.")] = "",
    link: Annotated[str, typer.Option(help="A personal link, to sign in with once.")] = "",
    late: Annotated[bool, typer.Option("--late", help="Submit even if being late costs points.")] = False,
) -> None:
    """Submit a notebook, and read the verdict.

    Example: `grader submit week1.ipynb`
    """
    from grader.serving.submit import in_terminal

    if notebook is None and not link:
        raise CourseError("Name a notebook, or sign in with --link LINK.")
    options = [f"--link={link}"] if link else []
    options += [f"--assignment={assignment}"] if assignment else []
    options += ["--late"] if late else []
    options += ["--", str(notebook)] if notebook else []
    raise typer.Exit(in_terminal(options, "grader submit"))


def receipt(file: Annotated[typer.FileText, typer.Argument(help="A receipt, or - for standard input.")]) -> None:
    """Check a receipt that a student shows.

    Example: `grader receipt receipt.json`
    """
    course = open_course()
    from grader.gradebook.hidden_seed import secret_of
    from grader.model.untrusted import read_json
    from grader.serving.receipts import is_ours

    try:
        data = read_json(file.read())
    except ValueError:  # also if it is not UTF-8
        data = None
    if not is_ours(data, secret_of(course.root)):
        raise CourseError("This receipt is not from this course, or somebody has changed it.")
    arrival = "submission {number} of {assignment} by {student} arrived at {arrived}, with SHA-256 {sha256}".format(
        **data
    )
    console.print(escape(f"The receipt is genuine: {arrival}."), highlight=False, soft_wrap=True)


def invite(
    names: Annotated[list[str] | None, typer.Argument(help="Students; everyone on the roster by default.")] = None,
    instructor: Annotated[bool, typer.Option("--instructor", help="Invite an instructor, who sees the class.")] = False,
    assistant: Annotated[
        bool, typer.Option("--assistant", help="Invite an assistant, who can see the class but change nothing.")
    ] = False,
    days: Annotated[int | None, typer.Option(min=1, help="Days until the links expire; never by default.")] = None,
    revoke: Annotated[bool, typer.Option("--revoke", help="Cancel their links, and make no new ones.")] = False,
    server: Server = LOCAL_SERVER,
) -> None:
    """Print a table with a personal link for each student, for a mail merge.

    Their earlier links and tokens stop working.

    Example: `grader students invite --server https://grader.example.edu > links.csv`
    """
    course = open_course()
    from grader.gradebook.roster import RosterLine, read_roster
    from grader.serving import invitations

    role = invitations.Role.STUDENT
    if instructor or assistant:
        role = invitations.Role.INSTRUCTOR if instructor else invitations.Role.ASSISTANT
    are_students = role is invitations.Role.STUDENT
    roster = read_roster(course.root)
    chosen = names or (sorted(roster) if are_students else [])
    if not chosen:
        raise CourseError("There is nobody to invite. Name somebody, or run: grader students import FILE")
    unknown = sorted({*chosen} - invitations.students_of(course)) if are_students and not revoke else []
    if unknown:
        raise CourseError(f"There is no student called {listed(unknown, last='or')}. Run: grader students import FILE")
    with invitations.changing(course):
        if revoke:
            console.print(f"Revoked: {listed(invitations.revoke(course, chosen)) or 'none'}.", highlight=False)
            return
        until = datetime.now(UTC) + timedelta(days=days) if days else None
        address = f"{server.rstrip('/')}/enter"
        table = csv.writer(sys.stdout)
        if are_students:  # other links may be added to the same file
            table.writerow(["id", "name", "address", "link"])
        for name, code in invitations.invite(course, chosen, role, until).items():
            enrolled = roster.get(name, RosterLine(name))
            table.writerow([name, enrolled.full_name, enrolled.email, f"{address}/{code}"])


def token(
    name: Annotated[str, typer.Argument(help="Whose programs will use it; with --revoke, the token.")],
    scope: Annotated[
        list[str] | None, typer.Option(metavar="read|submit|class", help="What it may do; may be given several times.")
    ] = None,
    days: Annotated[int, typer.Option(min=1, help="How long it is valid.")] = 30,
    revoke: Annotated[bool, typer.Option("--revoke", help="Make this token invalid.")] = False,
) -> None:
    """Print a token for a program, which may do less than a personal link.

    Example: `grader students token ada --scope submit --scope read`
    """
    course = open_course()
    from grader.serving import invitations

    with invitations.changing(course):
        if revoke:
            owner = invitations.revoke_token(course, name)
            if not owner:
                raise CourseError(
                    "Not a valid token. To revoke all that a person has, run: grader students invite NAME --revoke"
                )
            console.print(f"Revoked: {escape(one_line(owner))}.", highlight=False)
            return
        if not scope or {*scope} - {*invitations.Scope}:
            raise CourseError("Say what the token may do: --scope read, --scope submit, --scope class.")
        until = datetime.now(UTC) + timedelta(days=days)
        typer.echo(invitations.new_token(course, name, [*map(invitations.Scope, scope)], until))
