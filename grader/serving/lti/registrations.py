"""The platforms that may send people here: those in course.toml, and those that have registered themselves."""

from __future__ import annotations

import hashlib
import hmac
import time
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from urllib.parse import urlsplit

from tornado.web import HTTPError

from grader.gradebook.hidden_seed import secret_of
from grader.serving.lti.quirks import find_family
from grader.serving.lti.store import REGISTRATIONS, Store
from grader.term.reading import LTI, LTI_PLATFORM, TomlTable, quote, read_course_table

MOST_WAITING = 20  # registrations that no instructor has confirmed
LONGEST = 1000  # characters of an address
_LOOPBACK = ("127.0.0.1", "::1", "localhost")
OPEN_AGAIN = "Go back to your course, and open the link again."


class LtiRefusal(HTTPError):
    """Why nobody gets in: a sentence for the person who came, and a code for whoever looks after the course."""

    def __init__(self, code: str, sentence: str, status: int = 400) -> None:
        super().__init__(status, "%s Code for your instructor: %s.", sentence, code)
        self.code = code


@dataclass(frozen=True)
class Registration:
    """A platform, as it and we know each other. Its issuer alone says little: all of hosted Canvas has the same."""

    issuer: str
    client_id: str
    login_url: str
    token_url: str
    keys_url: str
    deployment: str = ""  # empty if each course may have another, which an instructor confirms with the course
    audience: str = ""  # of requests for tokens, if it is not token_url
    family: str = ""  # the product
    name: str = ""
    is_confirmed: int = 1

    @property
    def key(self) -> str:
        return hashlib.sha256(f"{self.issuer}\0{self.client_id}".encode("utf-8", "surrogatepass")).hexdigest()


@dataclass(frozen=True)
class LtiSettings:
    """The table `[lti]` of course.toml."""

    address: str = ""  # of this server, without a slash at the end; empty: no LTI
    private_hosts: frozenset[str] = frozenset()
    registrations: Mapping[str, Registration] = field(default_factory=dict)  # by key


def read_settings(root: Path) -> LtiSettings:
    table = read_course_table(root).table("lti")
    table.check_keys(LTI)
    hosts = frozenset(name.lower() for name in table.names("private", '["moodle.example.edu"]'))
    address = _read_url(table, "address", hosts | {*_LOOPBACK}) if table.values else ""
    platforms, registrations = table.table("platforms"), dict[str, Registration]()
    for name in platforms.values:
        platform = _read_platform(platforms.table(name), name, hosts)
        if platform.key in registrations:
            problem = f"it has the issuer and the client_id of {registrations[platform.key].name}"
            raise platforms.error(name, problem, "Keep one of the two, without its deployment")
        registrations[platform.key] = platform
    return LtiSettings(address.rstrip("/"), hosts, registrations)


def _read_platform(table: TomlTable, name: str, hosts: frozenset[str]) -> Registration:
    table.check_keys(LTI_PLATFORM)
    texts = {key: _read_text(table, key) for key in ("issuer", "client_id")}
    texts |= {f"{key}_url": _read_url(table, key, hosts) for key in ("login", "token", "keys")}
    texts |= {key: _read_text(table, key) for key in ("deployment", "audience", "family") if key in table.values}
    texts.setdefault("family", find_family("", texts["issuer"], texts["login_url"], texts["token_url"]))
    return Registration(**texts, name=name)  # type: ignore[arg-type]


def _read_text(table: TomlTable, key: str) -> str:
    value = table.values.get(key)
    if not isinstance(value, str) or not 0 < len(value) <= LONGEST:
        problem = "it is missing" if value is None else f"{quote(value)} is not a text"
        raise table.error(key, problem, f'Write {key} = "…", as the platform shows it')
    return value


def _read_url(table: TomlTable, key: str, hosts: frozenset[str]) -> str:
    value = _read_text(table, key)
    problem = find_url_problem(value, hosts)
    if problem:
        raise table.error(key, f"{quote(value)} {problem}", f'Write {key} = "https://…"')
    return value


def registration_code(root: Path) -> str:
    """Only whoever has this can register a platform; an instructor then confirms it."""
    return hmac.new(secret_of(root), b"LTI registration", hashlib.sha256).hexdigest()[:32]


def find_url_problem(url: str, private_hosts: frozenset[str]) -> str:
    """Why an address is not used; empty if it may be. Where its name leads is checked when it is asked for."""
    try:
        address = urlsplit(url)
        host, _ = address.hostname or "", address.port
    except ValueError:
        return "is not an address"
    is_plain = url.isascii() and url.isprintable() and not set(url) & {*' "<>\\^`{|}'} and len(url) <= LONGEST
    if not is_plain or not host or "@" in address.netloc or address.fragment:
        return "is not a plain address"
    is_allowed = address.scheme == "https" or (address.scheme == "http" and host in _LOOPBACK and host in private_hosts)
    return "" if is_allowed else "does not begin with https://"


def origin_of(url: str) -> str:
    address = urlsplit(url)
    return f"{address.scheme}://{address.netloc}".lower()


class Registrations:
    """All platforms. Those in course.toml come first, and cannot be changed here."""

    def __init__(self, store: Store, by_hand: Mapping[str, Registration]) -> None:
        self._store = store
        self._by_hand = by_hand

    def by_key(self) -> dict[str, Registration]:
        """All of them by key, confirmed or not."""
        names = Registration.__dataclass_fields__
        rows = [row._mapping for row in self._store.rows(REGISTRATIONS)]
        return {row["key"]: Registration(**{name: row[name] for name in names}) for row in rows} | {**self._by_hand}

    def confirmed(self) -> dict[str, Registration]:
        return {key: registration for key, registration in self.by_key().items() if registration.is_confirmed}

    def find(self, issuer: str, client_id: str) -> Registration:
        """The one that a login means. Without a client id, the issuer must have one only."""
        candidates = [each for each in self.confirmed().values() if each.issuer == issuer]
        candidates = [each for each in candidates if client_id in ("", each.client_id)]
        if len(candidates) != 1:
            code = "platform-ambiguous" if candidates else "platform-unknown"
            raise LtiRefusal(code, "Your learning platform is not connected to this course. Ask your instructor.", 403)
        return candidates[0]

    def get(self, key: str) -> Registration:
        registration = self.confirmed().get(key)
        if registration is None:
            raise LtiRefusal("platform-removed", f"Your learning platform is no longer connected. {OPEN_AGAIN}", 403)
        return registration

    def add(self, registration: Registration) -> None:
        """Keep a new one until an instructor has confirmed it, for a week at most. None is ever replaced.

        A platform says its client id once, in its answer to the registration, so this cannot be asked for later; and
        in memory alone, the end of the server would lose it.
        """
        existing = self.by_key()
        if registration.key in existing:
            raise LtiRefusal("platform-exists", "This platform is registered already.", 409)
        if len(existing) - len(self.confirmed()) >= MOST_WAITING:
            raise LtiRefusal("platforms-wait", "Too many platforms wait for an instructor to confirm them.", 429)
        self._store.save(REGISTRATIONS, {"key": registration.key}, **asdict(registration), came=int(time.time()))
