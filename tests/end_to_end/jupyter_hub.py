"""JupyterHub as students and instructors use it: each has a server with a terminal."""

from __future__ import annotations

import getpass
import json
import os
import re
import secrets
import signal
import subprocess
import sys
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import httpx
import psutil
import pytest
import websocket
from selenium.common.exceptions import TimeoutException
from selenium.webdriver.support.ui import WebDriverWait

from support.chromium import SECONDS
from support.jupyter_lab import free_port
from support.places import DATA, ROOT
from support.proof import skip

ENVIRONMENT = ROOT / "build/hub"
CONFIG = DATA / "hub/jupyterhub_config.py"
CALLBACK_OF_ANOTHER = "http://127.0.0.1/another/oauth_callback"  # of another service; nothing listens there


def skip_unless_made() -> None:
    """Skip a test that needs the hub's environment, or fail where no test may be skipped."""
    if not (ENVIRONMENT / "installed").is_file():
        skip("there is no JupyterHub in build/hub: `make hub` installs it, and runs this")


def service_on_the_page(course: Path) -> str:
    """The settings for `grader serve` that the docs give, for this course and this user."""
    page = (ROOT / "docs/serving.md").read_text()
    shown: str
    (shown,) = re.findall(r"```python\n(c\.JupyterHub\.services.*?)```", page, re.DOTALL)
    here = shown.replace("/srv/course/.venv/bin", str(Path(sys.executable).parent)).replace("/srv/course", str(course))
    return here.replace('"user": "grader"', f'"user": "{getpass.getuser()}"').replace("8000", str(free_port()))


@contextmanager
def serving(folder: Path, course: Path, *people: str) -> Iterator[Hub]:
    """A hub for these people, with our server."""
    skip_unless_made()
    hub = Hub(folder, course, people)
    try:
        hub.begin()
        yield hub
    finally:
        hub.end()


class Hub:
    """A running hub, with a home in its folder for each person."""

    def __init__(self, folder: Path, course: Path, people: tuple[str, ...]) -> None:
        self._folder = folder
        self._token = secrets.token_hex(16)
        self._secret_of_another = secrets.token_hex(16)
        public, hub, proxy = (free_port() for _ in range(3))
        self.url = f"http://127.0.0.1:{public}"
        for person in people:
            self.home(person).mkdir(parents=True)
        self._environment = {
            "PATH": os.pathsep.join([str(ENVIRONMENT / "bin"), os.defpath]),
            "LANG": "C.UTF-8",
            "HOME": str(folder),
            "HUB_FOLDER": str(folder),
            "HUB_PATIENCE": str(SECONDS),
            "HUB_PEOPLE": " ".join(people),
            "HUB_PORTS": f"{public} {hub} {proxy}",
            "HUB_TOKEN": self._token,
            "HUB_SECRET_OF_ANOTHER": self._secret_of_another,
            "HUB_CALLBACK_OF_ANOTHER": CALLBACK_OF_ANOTHER,
            "HUB_SERVICE": service_on_the_page(course),
            "CONFIGPROXY_AUTH_TOKEN": self._token,
        }
        self._log = folder / "hub.log"
        self._started: list[subprocess.Popen[bytes]] = []
        self._proxy = f"--ip=127.0.0.1 --port={public} --api-ip=127.0.0.1 --api-port={proxy}".split()

    def begin(self) -> None:
        self._run("configurable-http-proxy", *self._proxy)  # the Python one takes the options of the Node one
        self.wait(lambda: self._status("/"), "no proxy")
        self._run("jupyterhub", f"--config={CONFIG}")
        self.wait(lambda: self._status("/services/grader/healthz") == 200, "neither hub nor server")

    def _run(self, program: str, *arguments: str) -> None:
        with self._log.open("a") as log:
            command = [str(ENVIRONMENT / "bin" / program), *arguments]
            started = subprocess.Popen(command, cwd=self._folder, env=self._environment, stdout=log, stderr=log)
        self._started.append(started)

    def _status(self, path: str) -> int:
        """The status of the response to a browser; 0 if nothing listens yet."""
        try:
            with urllib.request.urlopen(self.url + path, timeout=SECONDS) as response:
                return int(response.status)
        except urllib.error.HTTPError as error:
            return error.code
        except OSError:
            return 0

    def home(self, person: str) -> Path:
        return self._folder / "home" / person

    @property
    def password(self) -> str:
        """Everybody's."""
        return self._token

    def start(self, *people: str) -> dict[str, Server]:
        """Let the hub start these people's servers, and make a token for each."""
        for person in people:
            self.ask("POST", f"/hub/api/users/{person}/server")
        return {person: self._server_of(person) for person in people}

    def _server_of(self, person: str) -> Server:
        account = f"/hub/api/users/{person}"
        self.wait(lambda: self.ask("GET", account)["servers"].get("", {}).get("ready"), f"no server for {person}")
        return Server(self, person, self.ask("POST", f"{account}/tokens", {})["token"])

    def ask(self, method: str, path: str, content: object = None, token: str = "") -> Any:
        body = None if content is None else json.dumps(content).encode()
        headers = {"Authorization": f"token {token or self._token}", "Content-Type": "application/json"}
        request = urllib.request.Request(self.url + path, body, headers, method=method)
        with urllib.request.urlopen(request, timeout=SECONDS) as response:
            return json.loads(response.read() or "null")

    def token_of_another(self, browser: httpx.Client) -> str:
        """What the other service gets when the person of this browser, who is signed in at the hub, signs in there."""
        client = {"client_id": "service-another", "redirect_uri": CALLBACK_OF_ANOTHER}
        asked = browser.get(
            f"{self.url}/hub/api/oauth2/authorize", params=client | {"response_type": "code"}, follow_redirects=False
        )
        code = httpx.URL(asked.headers["location"]).params["code"]
        form = client | {"client_secret": self._secret_of_another, "grant_type": "authorization_code", "code": code}
        answer = httpx.post(f"{self.url}/hub/api/oauth2/token", data=form, timeout=SECONDS)
        return str(answer.raise_for_status().json()["access_token"])

    @contextmanager
    def is_silent(self) -> Iterator[None]:
        """The hub stands still, and whoever asks it waits."""
        hub = self._started[-1]
        hub.send_signal(signal.SIGSTOP)
        try:
            yield
        finally:
            hub.send_signal(signal.SIGCONT)

    def wait(self, condition: Callable[[], Any], failure: str) -> None:
        """Wait until the condition is true. Fail at once if the hub or the proxy has ended."""
        with suppress(TimeoutException):
            patient = WebDriverWait[Any](None, SECONDS, poll_frequency=0.1)
            patient.until(lambda _: self._has_ended() or condition())
        if self._has_ended() or not condition():
            pytest.fail(f"{failure}: {self._log.read_text()}")

    def _has_ended(self) -> bool:
        return any(program.poll() is not None for program in self._started)

    def end(self) -> None:
        """End the hub, which ends what it has started, then kill any processes left in its folder."""
        for program in reversed(self._started):
            program.terminate()
            with suppress(subprocess.TimeoutExpired):
                program.wait(timeout=30)
        left = list(self._processes())
        for process in left:
            with suppress(psutil.NoSuchProcess):
                process.kill()
        for program in self._started:
            program.wait()
        psutil.wait_procs(left, timeout=30)

    def _processes(self) -> Iterator[psutil.Process]:
        for process in psutil.process_iter():
            with suppress(psutil.Error):  # ended meanwhile, or belongs to somebody else
                if Path(process.cwd()).is_relative_to(self._folder):
                    yield process


class Server:
    """A person's server, reached through the hub's proxy as by a browser."""

    def __init__(self, hub: Hub, person: str, token: str) -> None:
        self._hub, self._token = hub, token
        self._path = f"/user/{person}"

    def run(self, command: str) -> str:
        """Run a command in a new terminal in the person's home, and return its output."""
        name = self._hub.ask("POST", f"{self._path}/api/terminals", {}, self._token)["name"]
        terminal = websocket.create_connection(
            f"ws{self._hub.url.removeprefix('http')}{self._path}/terminals/websocket/{name}",
            timeout=SECONDS,
            header={"Authorization": f"token {self._token}"},
            suppress_origin=True,
        )
        printed = ""
        try:
            terminal.send(json.dumps(["stdin", f"{command}; exit\r"]))
            while (message := json.loads(terminal.recv()))[0] != "disconnect":
                printed += message[1] if message[0] == "stdout" else ""
        finally:
            terminal.close()
        return printed
