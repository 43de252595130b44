"""Our keys, by which platforms recognize us: published at an address, and changed without a break."""

from __future__ import annotations

import base64
import functools
import hashlib
import json
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, NamedTuple

from cryptography.hazmat.primitives.asymmetric.rsa import RSAPrivateKey, generate_private_key
from jwt import InvalidKeyError
from jwt.algorithms import RSAAlgorithm

from grader.errors import CourseError
from grader.host.scratch import write_whole

FILE = "lti_keys.json"  # in the course folder
BITS = 2048
NOTICE = timedelta(days=1)  # that a key is published before it signs: platforms keep what they have read
GRACE = timedelta(days=7)  # that a key is still published once the next one has been made


class ToolKey(NamedTuple):
    kid: str
    private: RSAPrivateKey
    public: dict[str, Any]  # as platforms read it
    created: datetime


class ToolKeys:
    """The keys of a course, in a file that only its owner can read."""

    def __init__(self, root: Path) -> None:
        self._path = root / FILE

    def current(self) -> list[ToolKey]:
        """The keys that are still of use, the oldest first; the first one is made when it is needed."""
        if not self._path.exists():
            return [self.add()]
        keys = _parse(self._path.read_text(encoding="utf-8"), self._path)
        replaced = [key.created for key in keys[1:]] + [datetime.now(UTC)]
        return [key for key, until in zip(keys, replaced, strict=True) if datetime.now(UTC) < until + GRACE]

    def signing_key(self) -> ToolKey:
        """The newest key that platforms had time to read; the oldest, if there is none."""
        keys = self.current()
        ready = [key for key in keys if key.created + NOTICE <= datetime.now(UTC)]
        return ready[-1] if ready else keys[0]

    def add(self) -> ToolKey:
        """Make a key. Those that are no longer of use are removed."""
        keys = self.current() if self._path.exists() else []
        key = _describe(generate_private_key(public_exponent=65537, key_size=BITS), datetime.now(UTC))
        keys.append(key)
        content = [{"created": each.created.isoformat(), "key": RSAAlgorithm.to_jwk(each.private)} for each in keys]
        write_whole(self._path, json.dumps(content, indent=1).encode(), mode=0o600, lasting=True)
        return key


@functools.lru_cache(4)
def _parse(text: str, path: Path) -> list[ToolKey]:
    keys = []
    try:
        for entry in json.loads(text):
            private = RSAAlgorithm.from_jwk(entry["key"])
            if isinstance(private, RSAPrivateKey):
                keys.append(_describe(private, datetime.fromisoformat(entry["created"])))
    except (InvalidKeyError, ValueError, KeyError, TypeError):
        raise CourseError(f"{path} cannot be read. Put back a copy, or remove it and register again.") from None
    return keys


def _describe(private: RSAPrivateKey, created: datetime) -> ToolKey:
    public = RSAAlgorithm.to_jwk(private.public_key(), as_dict=True)
    numbers = {name: public[name] for name in ("e", "kty", "n")}
    digest = hashlib.sha256(json.dumps(numbers, separators=(",", ":")).encode()).digest()  # RFC 7638
    kid = base64.urlsafe_b64encode(digest).rstrip(b"=").decode()
    return ToolKey(kid, private, {**numbers, "kid": kid, "alg": "RS256", "use": "sig"}, created)
