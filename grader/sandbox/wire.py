"""What crosses between the judge and the sandbox: frames of JSON plus safetensors, never pickle.

A frame is two lengths, a JSON header and a safetensors body. Both sides treat what they read as hostile.
values.py turns a value into part of a header and a body.
"""

from __future__ import annotations

import json
import socket
import struct
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeAlias

import torch
from safetensors import TensorSpec, deserialize, serialize

MAX_HEADER = 4 * 2**20  # bytes; the outputs of one cell, figures included, fit
MAX_BODY = 8 * 2**20  # bytes; an answer of the course has a few kilobytes
MAX_TENSOR_LIST = 2**20  # bytes of names and shapes at the head of a body
MEANWHILE_SECONDS = 0.1
# As safetensors calls them.
_FLOATS = {"F64": torch.float64, "F32": torch.float32, "F16": torch.float16, "BF16": torch.bfloat16}
_WHOLE = {"I64": torch.int64, "I32": torch.int32, "I16": torch.int16, "I8": torch.int8}
DTYPES = _FLOATS | _WHOLE | {"U8": torch.uint8, "BOOL": torch.bool}
Header: TypeAlias = dict[str, Any]  # of what JSON can hold
_LENGTHS = struct.Struct(">II")
_TENSOR_LIST_LENGTH = struct.Struct("<Q")  # how safetensors begins


class ChannelError(Exception):
    """The other side sent something that is not a frame, or went away."""


class ChannelTimeout(ChannelError):
    """The other side did not finish its frame in time."""


@dataclass(frozen=True)
class Frame:
    header: Header
    tensors: dict[str, torch.Tensor]


def send(
    channel: socket.socket, header: Header, tensors: dict[str, torch.Tensor], deadline: float | None = None
) -> None:
    """Write one frame, until `deadline` on the monotonic clock."""
    message = pack(header, tensors)
    channel.settimeout(None if deadline is None else _seconds_until(deadline))
    try:
        channel.sendall(message)
    except TimeoutError as error:
        raise ChannelTimeout("the message was not read in time") from error
    except OSError as error:
        raise ChannelError("the connection broke") from error


def pack(header: Header, tensors: dict[str, torch.Tensor]) -> bytes:
    """The bytes of a frame."""
    head = json.dumps(header).encode()
    # As safetensors.torch.save does, in a fifth of the time: these are whole, on the CPU, and share no memory.
    body = bytes(serialize({name: _specify(tensor) for name, tensor in tensors.items()})) if tensors else b""
    if len(head) > MAX_HEADER or len(body) > MAX_BODY:
        raise ChannelError("the message is too large")
    return _LENGTHS.pack(len(head), len(body)) + head + body


def _specify(tensor: torch.Tensor) -> TensorSpec:
    dtype = str(tensor.dtype).removeprefix("torch.")
    return TensorSpec(dtype=dtype, shape=tuple(tensor.shape), data_ptr=tensor.data_ptr(), data_len=tensor.nbytes)


def receive(
    channel: socket.socket, deadline: float | None = None, meanwhile: Callable[[bool], None] = lambda _: None
) -> Frame:
    """Read one frame, until `deadline` on the monotonic clock, and call `meanwhile` from time to time.

    It is told whether the other side has been silent since the last time.
    """
    reader = _Reader(channel, deadline, meanwhile)
    head_length, body_length = _LENGTHS.unpack(reader.read_bytes(_LENGTHS.size))
    if head_length > MAX_HEADER or body_length > MAX_BODY:
        raise ChannelError("the message is too large")
    header, tensors = _load_header(reader.read_bytes(head_length)), _load_tensors(reader.read_bytes(body_length))
    return Frame(header, tensors)


def unpack(message: bytes) -> Frame:
    """A frame that somebody has packed."""
    if len(message) < _LENGTHS.size:
        raise ChannelError("the message cannot be read")
    head_length, body_length = _LENGTHS.unpack_from(message)
    head, body = message[_LENGTHS.size :][:head_length], message[_LENGTHS.size + head_length :]
    if head_length > MAX_HEADER or (len(head), len(body)) != (head_length, body_length):
        raise ChannelError("the message cannot be read")
    return Frame(_load_header(head), _load_tensors(body))


def _load_header(head: bytes) -> Header:
    try:
        header = json.loads(head)
    except (ValueError, RecursionError) as error:
        raise ChannelError("the message cannot be read") from error
    if not isinstance(header, dict):
        raise ChannelError("the message has no header")
    return header


def _load_tensors(body: bytes) -> dict[str, torch.Tensor]:
    if not body:
        return {}
    if len(body) < _TENSOR_LIST_LENGTH.size or _TENSOR_LIST_LENGTH.unpack_from(body)[0] > MAX_TENSOR_LIST:
        raise ChannelError("the tensors cannot be read")
    try:
        return {name: _load_tensor(**parts) for name, parts in deserialize(body)}  # type: ignore[no-untyped-call]
    except Exception as error:  # safetensors has its own error type, which shares no base with others
        raise ChannelError("the tensors cannot be read") from error


def _load_tensor(dtype: str, shape: list[int], data: bytearray) -> torch.Tensor:
    torch_dtype = DTYPES[dtype]
    return torch.frombuffer(data, dtype=torch_dtype).reshape(shape) if data else torch.empty(shape, dtype=torch_dtype)


def _seconds_until(deadline: float) -> float:
    seconds = deadline - time.monotonic()
    if seconds <= 0:
        raise ChannelTimeout("no answer in time")
    return seconds


class _Reader:
    """Reads bytes, and does what is to be done meanwhile even if they drip in one by one."""

    def __init__(self, channel: socket.socket, deadline: float | None, meanwhile: Callable[[bool], None]) -> None:
        self._channel = channel
        self._deadline = deadline
        self._meanwhile = meanwhile
        self._next_break = time.monotonic() + MEANWHILE_SECONDS

    def read_bytes(self, length: int) -> bytes:
        chunks = bytearray()
        while len(chunks) < length:
            self._channel.settimeout(
                None if self._deadline is None else min(_seconds_until(self._deadline), MEANWHILE_SECONDS)
            )
            try:
                chunk = self._channel.recv(min(length - len(chunks), 2**20))
            except TimeoutError:
                chunk = None
            except OSError as error:
                raise ChannelError("the connection broke") from error
            if chunk is not None and not chunk:
                raise ChannelError("the other side has gone")
            chunks += chunk or b""
            if time.monotonic() >= self._next_break:
                self._meanwhile(chunk is None)
                self._next_break = time.monotonic() + MEANWHILE_SECONDS
        return bytes(chunks)
