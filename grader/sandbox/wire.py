"""What crosses between the judge and the sandbox: frames of JSON plus safetensors, never pickle.

A frame is two lengths, a JSON header and a safetensors body. Values (tensors, numbers, nested lists) are a
JSON tree that refers to the tensors of the body by name. Both sides treat what they read as hostile.
"""

from __future__ import annotations

import json
import socket
import struct
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from safetensors.torch import load, save

MAX_HEADER = 32 * 2**20  # bytes; the outputs of one cell, figures included, fit many times
MAX_BODY = 64 * 2**20  # bytes; an answer of the course has a few kilobytes
MAX_NODES = 50_000  # list items and numbers in one value
MAX_DEPTH = 8
MEANWHILE_SECONDS = 0.25
_LENGTHS = struct.Struct(">II")


class ChannelError(Exception):
    """The other side sent something that is no frame, or went away."""


class ChannelTimeout(ChannelError):
    """The other side did not finish its frame in time."""


@dataclass(frozen=True)
class Unusable:
    """Stands for a value that cannot be graded, such as a dict or a sparse tensor."""

    reason: str


@dataclass(frozen=True)
class Frame:
    header: dict[str, Any]
    tensors: dict[str, torch.Tensor]


def send(channel: socket.socket, header: dict[str, Any], tensors: dict[str, torch.Tensor]) -> None:
    head = json.dumps(header).encode()
    body = save(tensors) if tensors else b""
    if len(head) > MAX_HEADER or len(body) > MAX_BODY:
        raise ChannelError("the message is too large")
    channel.sendall(_LENGTHS.pack(len(head), len(body)) + head + body)


def receive(
    channel: socket.socket, deadline: float | None = None, meanwhile: Callable[[], None] = lambda: None
) -> Frame:
    """Read one frame, until `deadline` on the monotonic clock, and call `meanwhile` from time to time."""
    head_length, body_length = _LENGTHS.unpack(_read(channel, _LENGTHS.size, deadline, meanwhile))
    if head_length > MAX_HEADER or body_length > MAX_BODY:
        raise ChannelError("the message is too large")
    head = _read(channel, head_length, deadline, meanwhile)
    body = _read(channel, body_length, deadline, meanwhile)
    try:
        header = json.loads(head)
        tensors = load(body) if body else {}
    except (ValueError, RecursionError) as error:
        raise ChannelError("the message cannot be read") from error
    except Exception as error:  # safetensors has its own error type, which shares no base with others
        raise ChannelError("the tensors cannot be read") from error
    if not isinstance(header, dict):
        raise ChannelError("the message has no header")
    return Frame(header, tensors)


def _read(channel: socket.socket, length: int, deadline: float | None, meanwhile: Callable[[], None]) -> bytes:
    chunks = []
    while length:
        try:
            if deadline is not None:
                left = deadline - time.monotonic()
                if left <= 0:
                    raise ChannelTimeout("no answer in time")
                channel.settimeout(min(left, MEANWHILE_SECONDS))
            chunk = channel.recv(min(length, 2**20))
        except TimeoutError:
            meanwhile()
            continue
        except OSError as error:
            raise ChannelError("the connection broke") from error
        if not chunk:
            raise ChannelError("the other side has gone")
        chunks.append(chunk)
        length -= len(chunk)
    return b"".join(chunks)


def encode(value: Any) -> tuple[Any, dict[str, torch.Tensor]]:
    """A value as a JSON tree and the tensors it refers to."""
    tensors: dict[str, torch.Tensor] = {}
    return _encode(value, tensors, [MAX_NODES], MAX_DEPTH), tensors


def _encode(value: Any, tensors: dict[str, torch.Tensor], nodes_left: list[int], depth: int) -> Any:
    nodes_left[0] -= 1
    if nodes_left[0] < 0 or depth < 0:
        return {"unusable": "a list with far too many items"}
    if value is None:
        return None
    if isinstance(value, torch.Tensor):
        return _encode_tensor(value, tensors)
    if isinstance(value, np.ndarray) and value.ndim and value.dtype.kind in "fiub":
        return {**_encode_tensor(torch.from_numpy(np.array(value)), tensors), "numpy": True}
    if isinstance(value, (np.generic, np.ndarray)):
        value = value.item()
    if type(value) in (int, float):
        return {"number": float(value)}
    if isinstance(value, (list, tuple)):
        kind = "tuple" if isinstance(value, tuple) else "list"
        return {kind: [_encode(item, tensors, nodes_left, depth - 1) for item in value]}
    return {"unusable": f"a value of type {type(value).__name__}"}


def _encode_tensor(tensor: torch.Tensor, tensors: dict[str, torch.Tensor]) -> dict[str, Any]:
    if type(tensor) not in (torch.Tensor, torch.nn.Parameter):
        return {"unusable": f"a tensor of the special type {type(tensor).__name__}"}
    if tensor.layout is not torch.strided or tensor.is_quantized or tensor.is_meta or tensor.is_complex():
        return {"unusable": "a tensor that is not plain and real (sparse, quantised, meta or complex)"}
    name = str(len(tensors))
    device = tensor.device.type
    # A copy: safetensors refuses tensors that share memory, which views of one answer do.
    tensors[name] = tensor.detach().cpu().clone(memory_format=torch.contiguous_format)
    return {"tensor": name, "device": device}


def decode(tree: Any, tensors: dict[str, torch.Tensor]) -> Any:
    """The value of a JSON tree. Whatever is not as `encode` writes it becomes Unusable."""
    return _decode(tree, tensors, [MAX_NODES], MAX_DEPTH)


def _decode(tree: Any, tensors: dict[str, torch.Tensor], nodes_left: list[int], depth: int) -> Any:
    nodes_left[0] -= 1
    if tree is None:
        return None
    if nodes_left[0] < 0 or depth < 0 or not isinstance(tree, dict):
        return Unusable("something that cannot be read")
    match tree:
        case {"tensor": str(name)} if name in tensors:
            return tensors[name].numpy() if tree.get("numpy") is True else tensors[name]
        case {"number": float(number)}:
            return number
        case {"list": list(items)}:
            return [_decode(item, tensors, nodes_left, depth - 1) for item in items]
        case {"tuple": list(items)}:
            return tuple(_decode(item, tensors, nodes_left, depth - 1) for item in items)
        case {"unusable": str(reason)}:
            return Unusable(reason[:200])
        case _:
            return Unusable("something that cannot be read")


def devices(tree: Any) -> set[str]:
    """The kinds of device that the tensors of a tree were on."""
    if not isinstance(tree, dict):
        return set()
    if "tensor" in tree:
        return {str(tree.get("device", "cpu"))[:20]}
    found: set[str] = set()
    for items in (tree.get("list"), tree.get("tuple")):
        if isinstance(items, list):
            found.update(*map(devices, items))
    return found
