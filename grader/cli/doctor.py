"""What the facts about this machine mean for grading. Each line depends on given facts only, so it is easy to test.

Anything that may be missing is imported where it is needed, so that the doctor can report it.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from packaging.specifiers import SpecifierSet
from rich.markup import escape
from rich.table import Table

from grader.host import machine
from grader.sandbox.plain_text import one_line

State = Literal["good", "note", "bad"]
SIGNS = {"good": "[green]✓[/]", "note": "[yellow]·[/]", "bad": "[red]✗[/]"}
# Rules of thumb, in GiB: what torch and the gradebook take once, and what a typical student's notebook takes.
MEMORY_ONCE, MEMORY_EACH = 1.0, 0.25
NBGRADER = SpecifierSet(">=0.9.5,<0.10")  # as in pyproject.toml
DATABASE_SECONDS = 5


@dataclass(frozen=True)
class Line:
    """The result of one check."""

    subject: str
    state: State
    finding: str
    meaning: str


def examine(folder: Path) -> Iterator[Line]:
    """Check everything that grading needs, then what only some people need."""
    yield python_line(sys.version_info[:3])
    yield torch_line(machine.version_of("torch"), machine.why_broken("torch"))
    yield landlock_line(machine.landlock_version(), machine.why_broken("landlock"))
    yield seccomp_line(machine.why_broken("pyseccomp"))
    yield sandbox_line(why_no_sandbox())
    yield disk_line(machine.why_no_disk())
    yield cores_line(machine.cores())
    yield memory_line(machine.free_memory(), machine.cores())
    yield nbgrader_line(machine.version_of("nbgrader"), machine.why_broken("nbgrader.apps.api"))
    yield jupyter_line(machine.version_of("jupyterlab"))
    yield database_line(folder)
    built_for, devices = machine.cuda_devices()
    yield cuda_line(built_for, devices, room_on_gpus() if devices else 0)
    yield extra_line("dask", machine.version_of("distributed"), "grader autograde --dask can grade on other machines")
    yield extra_line("postgresql", machine.version_of("psycopg"), "the gradebook can be on a PostgreSQL server")
    yield extra_line("marimo", machine.version_of("marimo"), "grader release --marimo makes notebooks for marimo")


def table(lines: list[Line]) -> Table:
    table = Table(box=None, show_header=False, padding=(0, 2, 0, 0))
    table.add_column(no_wrap=True)
    table.add_column(no_wrap=True)
    table.add_column(overflow="fold")
    table.add_column(overflow="fold")
    for line in lines:
        table.add_row(SIGNS[line.state], line.subject, escape(one_line(line.finding)), escape(line.meaning))
    return table


def in_a_sentence(lines: list[Line]) -> str:
    """Whether grading can run here."""
    bad = [line.subject for line in lines if line.state == "bad"]
    if not bad:
        return "This machine can grade, with every submission in a sandbox."
    return f"This machine cannot grade yet. Fix this first, as described above: {', '.join(bad)}."


def python_line(version: tuple[int, ...]) -> Line:
    text = ".".join(map(str, version))
    if version < (3, 11):
        return Line("Python", "bad", text, "Too old. Install Python 3.11 or newer, then recreate the environment.")
    return Line("Python", "good", text, "New enough.")


def torch_line(version: str, broken: str = "") -> Line:
    """`version` is the version; `broken` says why it cannot be imported."""
    if not version:
        return Line("PyTorch", "bad", "missing", "Notebooks need it. Run: pip install torch")
    if broken:
        return Line("PyTorch", "bad", f"{version} ({broken})", "Notebooks need it, but the import fails. Run: pip "
                    "install --force-reinstall torch")  # fmt: skip
    return Line("PyTorch", "good", version, "Notebooks can run.")


def landlock_line(version: int | str, broken: str = "") -> Line:
    """`version` is the kernel's version, or why it has none; `broken` says why the package cannot be imported."""
    if broken:
        return Line("Landlock", "bad", f"unknown ({broken})", "Grading needs the package landlock, but its import "
                    "fails. Run: pip install --force-reinstall landlock")  # fmt: skip
    if isinstance(version, str):
        return Line("Landlock", "bad", f"none ({version})", "The kernel cannot keep submissions away from your files. "
                    "Use Linux 6.2 or newer; if Landlock is off, boot with lsm=landlock,… On Windows, use WSL 2; on "
                    "macOS, a virtual machine. See docs/installing.md.")  # fmt: skip
    if version < 3:
        return Line("Landlock", "bad", f"version {version}", "Too old: only version 3 or newer can keep submissions "
                    "away from your files. Boot Linux 6.2 or newer; on WSL 2, run: wsl --update")  # fmt: skip
    return Line("Landlock", "good", f"version {version}", "The kernel keeps submissions away from your files.")


def seccomp_line(missing: str) -> Line:
    if missing:
        return Line("seccomp", "bad", f"missing ({missing})", "The kernel cannot block the network and other programs. "
                    "Install libseccomp; on Debian, run: apt-get install libseccomp2")  # fmt: skip
    return Line("seccomp", "good", "found", "The kernel blocks the network and other programs.")


def why_no_sandbox() -> str:
    """Start a sandbox as for a submission, and return what went wrong; empty if it could compute, and only that."""
    try:
        from grader.host.devices import try_sandbox

        try_sandbox()
    except Exception as error:  # a damaged package can raise anything
        return machine.text_of_error(error)
    return ""


def room_on_gpus() -> int | str:
    """How many sandboxes fit on the GPUs, or why they cannot be used."""
    try:
        from grader.host.devices import free_on_gpus, jobs_on_gpus

        return jobs_on_gpus(free_on_gpus(), machine.cores())
    except Exception as error:  # a driver can raise anything
        return machine.text_of_error(error)


def sandbox_line(failed: str) -> Line:
    if failed:
        return Line("sandbox", "bad", failed, "A test sandbox failed, so nothing can be graded yet. If something is "
                    "missing above, fix that first. Otherwise, see docs/installing.md.")  # fmt: skip
    return Line(
        "sandbox", "good", "works", "A test sandbox ran PyTorch, and could not read /etc/passwd or open a socket."
    )


def disk_line(missing: str) -> Line:
    if missing:
        return Line("own disk", "note", f"none ({missing})", "A submission's folder is only checked now and then, so a "
                                                             "submission that writes fast can go 100 MB over the "
                                                             "limit. To prevent that, see "
                                                             "docs/containers.md.")  # fmt: skip
    return Line("own disk", "good", "found", "Each submission can write at most 256 MB (enforced by the kernel).")


def cores_line(cores: int) -> Line:
    if cores == 1:
        return Line("cores", "note", "1", "Submissions are graded one at a time.")
    return Line("cores", "good", str(cores), f"{cores} submissions are graded at once, unless you set --jobs.")


def memory_line(available: float, jobs: int) -> Line:
    """`available` is the free memory, in GiB."""
    memory = f"{available:.1f} GiB free"
    fitting = int((available - MEMORY_ONCE) / MEMORY_EACH)
    if fitting < 1:
        return Line(
            "memory", "note", memory, "This may be too little for even one submission. Close other programs first."
        )
    if fitting < jobs:
        return Line("memory", "note", memory, f"Too little for {jobs} at once. Use: grader autograde --jobs {fitting}")
    return Line("memory", "good", memory, f"Enough for {jobs} at once. A submission that uses 4 GiB is stopped.")


def nbgrader_line(version: str, broken: str = "") -> Line:
    """`version` is the version; `broken` says why it cannot be imported, perhaps because another package is missing."""
    install = f"Run: pip install 'nbgrader{NBGRADER}'"
    if not version:
        return Line("nbgrader", "bad", "missing", f"The gradebook needs it. {install}")
    if not NBGRADER.contains(version):
        return Line("nbgrader", "bad", version, f"This version's gradebook may be different. {install}")
    if broken:
        return Line("nbgrader", "bad", f"{version} ({broken})", "The gradebook needs it, but the import fails. Fix "
                    f"that error, or recreate the environment. {install}")  # fmt: skip
    return Line("nbgrader", "good", version, "The gradebook and the formgrader work with this version.")


def jupyter_line(version: str) -> Line:
    if not version:
        return Line(
            "Jupyter", "note", "missing", "Grading works, but you cannot open notebooks. Run: pip install jupyter"
        )
    return Line("Jupyter", "good", f"JupyterLab {version}", "To open notebooks, run: jupyter lab")


def cuda_line(built_for: str | None, devices: list[str], room: int | str = 0) -> Line:
    """From PyTorch's build, the devices it finds, and how many sandboxes fit on them, or why none starts."""
    if devices and isinstance(room, str):
        return Line("CUDA", "note", f"{', '.join(devices)} ({room})", "A sandbox cannot use it. Grade on the CPU "
                    "(the default), or see docs/gpu.md.")  # fmt: skip
    if devices:
        return Line("CUDA", "good", ", ".join(devices), f"A test sandbox used it. grader autograde --device cuda "
                    f"grades {room} at once.")  # fmt: skip
    if built_for is None:
        return Line("CUDA", "note", "unknown", "PyTorch cannot be imported. Fix that first.")
    if built_for:
        return Line("CUDA", "note", "no device", "Grade on the CPU (the default). To use a GPU, install its "
                    "driver; nvidia-smi must list it.")  # fmt: skip
    return Line("CUDA", "note", "not in this PyTorch", "Grade on the CPU (the default). To use a GPU, install "
                "PyTorch's CUDA build.")  # fmt: skip


def extra_line(extra: str, version: str, offers: str) -> Line:
    if not version:
        return Line(extra, "note", "not installed", f"With it, {offers}. Run: pip install 'attention-grader[{extra}]'")
    return Line(extra, "good", version, f"With it, {offers}.")


def database_line(folder: Path) -> Line:
    """Whether the gradebook of the course in this folder can be read."""
    from grader.course.folder import CONFIG_FILE, open_course

    if not (folder / CONFIG_FILE).is_file():
        return Line("gradebook", "note", "no course here", "To check a gradebook, run this in the course folder.")
    broken = machine.why_broken("nbgrader.apps.api")
    if broken:
        return Line("gradebook", "bad", f"unknown ({broken})", "Reading it takes nbgrader. Fix that first.")
    try:
        url = open_course(folder).api().coursedir.db_url
    except Exception as error:  # the file is the user's own Python, so anything can happen
        return Line("gradebook", "bad", type(error).__name__, f"{CONFIG_FILE} cannot be read. To find the line, "
                    f"run: python {CONFIG_FILE} (an error about get_config is normal).")  # fmt: skip
    return connection_line(url)


def connection_line(address: str) -> Line:
    """Whether a gradebook answers. The line must not show the password."""
    from sqlalchemy import create_engine, inspect
    from sqlalchemy.engine import make_url
    from sqlalchemy.exc import ArgumentError, SQLAlchemyError

    try:
        url = make_url(address)
        url.get_dialect().import_dbapi()
    except (ArgumentError, ImportError, ValueError):
        return Line("gradebook", "bad", "unknown address", "c.CourseDirectory.db_url must begin with sqlite:/// or "
                    "postgresql+psycopg://, which needs: pip install 'attention-grader[postgresql]'")  # fmt: skip
    is_file = url.get_backend_name() == "sqlite"
    database = str(url.database) if is_file else url.set(query={}).render_as_string()
    if is_file and not Path(database).exists():
        return Line("gradebook", "good", database, "It does not exist yet; grader release creates it.")
    engine = create_engine(url, connect_args={} if is_file else {"connect_timeout": DATABASE_SECONDS})
    try:
        tables = inspect(engine).get_table_names()
    except SQLAlchemyError:
        problem = "It does not respond. Is the server running, and the password right?"
        if is_file:
            problem = "It cannot be read. Is it a gradebook, and may you read it?"
        return Line(
            "gradebook", "bad", database, f"{problem} The address is c.CourseDirectory.db_url in nbgrader_config.py."
        )
    finally:
        engine.dispose()
    if "assignment" not in tables:
        return Line("gradebook", "good", database, "It works, and is empty; grader release fills it.")
    return Line("gradebook", "good", database, "It works.")
