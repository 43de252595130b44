"""Receipts: what arrived and when, signed, so that neither side can doubt it later."""

from __future__ import annotations

import hashlib
import hmac
import json
from collections.abc import Mapping
from typing import TypeGuard

from grader.model import untrusted
from grader.serving.arrivals import Arrival

SIGNED = ("student", "assignment", "number", "arrived", "sha256")


def receipt(arrival: Arrival, secret: bytes) -> dict[str, object]:
    signed = {
        "student": arrival.student,
        "assignment": arrival.assignment,
        "number": arrival.number,
        "arrived": arrival.arrived.isoformat(),
        "sha256": arrival.sha256,
    }
    return {**signed, "signature": _signature(signed, secret)}


def is_ours(data: object, secret: bytes) -> TypeGuard[Mapping[str, object]]:
    """Whether this server's course has signed exactly this."""
    if not untrusted.is_object(data) or set(data) != {*SIGNED, "signature"}:
        return False
    signed = {name: data[name] for name in SIGNED}
    signature = data["signature"]
    if not isinstance(signature, str) or not all(isinstance(value, (str, int)) for value in signed.values()):
        return False
    return hmac.compare_digest(signature.encode("utf-8", "surrogatepass"), _signature(signed, secret).encode())


def _signature(signed: Mapping[str, object], secret: bytes) -> str:
    text = json.dumps([signed[name] for name in SIGNED], ensure_ascii=True)
    return hmac.new(secret, f"receipt\0{text}".encode(), hashlib.sha256).hexdigest()
