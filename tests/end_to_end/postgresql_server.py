"""A PostgreSQL server for tests, on a socket in its own folder, which only its user may enter."""

from __future__ import annotations

import os
import pwd
import shutil
import subprocess
import tempfile
from pathlib import Path
from typing import Any, LiteralString

import psycopg
from psycopg.sql import SQL, Identifier

# No need to survive a power cut; the log is in English.
SETTINGS = "-c listen_addresses='' -c fsync=off -c full_page_writes=off -c lc_messages=C"


def programs() -> Path | None:
    """The folder of the newest server's programs; Debian keeps them out of PATH."""
    found = [Path(path).parent for path in [shutil.which("pg_ctl")] if path]
    found += sorted(Path("/usr/lib/postgresql").glob("*/bin"), key=lambda path: float(path.parent.name))
    return next((folder for folder in reversed(found) if (folder / "initdb").is_file()), None)


class Server:
    def __init__(self, programs: Path) -> None:
        self._programs = programs
        self._user = _somebody_else() if os.getuid() == 0 else None  # PostgreSQL refuses to run as root
        # Not pytest's folder: other users may not enter it, and its path is too long for a socket.
        self._folder = Path(tempfile.mkdtemp(prefix="postgresql-"))
        if self._user:
            os.chown(self._folder, self._user.pw_uid, self._user.pw_gid)
        self._run("initdb", "--auth=trust", "--username=grader", "--encoding=UTF8", "--locale=C", "--no-sync")
        self.start()

    def start(self) -> None:
        """Start the server, and wait until it answers."""
        options = f"{SETTINGS} -c unix_socket_directories={self._folder}"
        self._run("pg_ctl", "start", "--wait", "--timeout=120", f"--log={self._folder}/log", f"--options={options}")

    def stop(self, how: str = "fast") -> None:
        """Stop the server, and wait until it has ended. `fast` closes all connections, `immediate` is a crash."""
        self._run("pg_ctl", "stop", "--wait", "--timeout=120", f"--mode={how}")

    def remove(self) -> None:
        if self._runs:
            self.stop("immediate")
        shutil.rmtree(self._folder)

    def start_again(self) -> None:
        """Start the server if it has been stopped."""
        if not self._runs:
            self.start()

    @property
    def _runs(self) -> bool:
        return (self._folder / "data/postmaster.pid").exists()

    def make(self, database: str, like: str = "template1") -> None:
        self._order("CREATE DATABASE {} TEMPLATE {}", database, like)

    def drop(self, database: str) -> None:
        self._order("DROP DATABASE {} WITH (FORCE)", database)

    def connect(self, database: str, autocommit: bool = False) -> psycopg.Connection[Any]:
        return psycopg.connect(host=str(self._folder), user="grader", dbname=database, autocommit=autocommit)

    def _order(self, order: LiteralString, *names: str) -> None:
        with self.connect("postgres", autocommit=True) as connection:
            connection.execute(SQL(order).format(*map(Identifier, names)))

    def url(self, database: str) -> str:
        return f"postgresql+psycopg://grader@/{database}?host={self._folder}"

    def _run(self, program: str, *arguments: str) -> None:
        command = [str(self._programs / program), *arguments, f"--pgdata={self._folder}/data"]
        other: dict[str, Any] = {}
        if self._user:
            other = {"user": self._user.pw_uid, "group": self._user.pw_gid, "extra_groups": []}
        # The server keeps its output open, so a pipe would never end.
        with tempfile.TemporaryFile("w+") as output:
            done = subprocess.run(
                command, cwd="/", stdin=subprocess.DEVNULL, stdout=output, stderr=output, check=False, **other
            )
            output.seek(0)
            assert done.returncode == 0, output.read()


def _somebody_else() -> pwd.struct_passwd:
    """The user from Debian's package, or else nobody."""
    try:
        return pwd.getpwnam("postgres")
    except KeyError:
        return pwd.getpwnam("nobody")
