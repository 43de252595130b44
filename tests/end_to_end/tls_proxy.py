"""A proxy that speaks HTTPS in front of the server, with the configuration of the docs."""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import ssl
import subprocess
from collections.abc import Iterator
from pathlib import Path
from textwrap import dedent
from typing import Any, NamedTuple

import httpx
from selenium.webdriver.support.ui import WebDriverWait

from support.chromium import SECONDS
from support.jupyter_lab import free_port
from support.places import ROOT
from support.proof import skip

NAME = "grader.example.edu"
LETSENCRYPT = f"/etc/letsencrypt/live/{NAME}/"


class TlsProxy(NamedTuple):
    address: str
    certificate: Path  # of whom a browser has to trust

    @property
    def trusted(self) -> ssl.SSLContext:
        return ssl.create_default_context(cafile=self.certificate)

    def answers(self) -> bool:
        """Whether it has a certificate by now, and speaks with the server."""
        with contextlib.suppress(OSError, httpx.TransportError):
            return httpx.get(f"{self.address}/healthz", verify=self.trusted, timeout=SECONDS).is_success
        return False


def shown(first_line: str) -> str:
    """A block of docs/serving.md."""
    page = (ROOT / "docs/serving.md").read_text()
    (block,) = re.findall(rf"^    {re.escape(first_line)}\n(?: {{5,}}.*\n)*    }}\n", page, re.MULTILINE)
    return dedent(str(block))


def program(name: str) -> str:
    """Where the proxy's program is, or a test that is skipped, or fails where none may be."""
    path = shutil.which(name, path=f"{os.environ['PATH']}:/usr/sbin")
    return path or skip(f"there is no {name}")


@contextlib.contextmanager
def nginx(folder: Path, server: str) -> Iterator[TlsProxy]:
    port, found = free_port(), program("nginx")
    certificate, key = folder / "fullchain.pem", folder / "privkey.pem"
    order = "openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2 -subj /CN=localhost"
    names = ["-addext", "subjectAltName=DNS:localhost", "-keyout", str(key), "-out", str(certificate)]
    subprocess.run([*order.split(), *names], check=True, capture_output=True)
    config = shown("server {").replace(LETSENCRYPT, f"{folder}/").replace(NAME, "localhost")
    config = config.replace("listen 443", f"listen 127.0.0.1:{port}").replace("http://127.0.0.1:8000", server)
    kinds = ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
    temporary = "".join(f"{kind}_temp_path {folder}/{kind};" for kind in kinds)
    user = "user root;" if os.getuid() == 0 else ""
    (folder / "nginx.conf").write_text(
        f"daemon off; {user} pid {folder}/pid; error_log stderr;\nevents {{}}\nhttp {{ {temporary}\n{config} }}\n"
    )
    front = TlsProxy(f"https://localhost:{port}", certificate)
    with _running(folder, front, found, "-e", "stderr", "-p", str(folder), "-c", "nginx.conf"):
        yield front


@contextlib.contextmanager
def caddy(folder: Path, server: str) -> Iterator[TlsProxy]:
    """It makes a certificate by itself, as it would get one for a name that is known."""
    port, found = free_port(), program("caddy")
    options = f"{{\nadmin off\nskip_install_trust\nauto_https disable_redirects\nstorage file_system {folder}\n}}\n"
    config = shown(f"{NAME} {{").replace(NAME, f"localhost:{port}").replace("127.0.0.1:8000", server.split("//")[1])
    (folder / "Caddyfile").write_text(f"{options}{config}")
    front = TlsProxy(f"https://localhost:{port}", folder / "pki/authorities/local/root.crt")
    with _running(folder, front, found, "run", "--config", "Caddyfile"):
        yield front


@contextlib.contextmanager
def _running(folder: Path, front: TlsProxy, *command: str) -> Iterator[None]:
    with (folder / "log").open("w") as log:
        environment = {"PATH": os.defpath, "HOME": str(folder)}
        process = subprocess.Popen(command, cwd=folder, env=environment, stdout=log, stderr=log)
    try:
        WebDriverWait[Any](None, SECONDS, poll_frequency=0.1).until(
            lambda _: process.poll() is not None or front.answers(), "it does not answer"
        )
        assert process.poll() is None, (folder / "log").read_text()
        yield
    finally:
        process.terminate()
        process.wait()
