"""A device called "second", whose tensors are plain tensors in the CPU's memory.

PyTorch treats it like a GPU: modules move, gradients flow in a thread of the device, new tensors are on the CPU by
default, and tensors of both devices cannot be mixed. The CPU does the computing: each operation gets the same memory
under the CPU's name. Like a GPU, the device notices an index out of range too late, and is then useless for the rest of
the process; and its memory is limited.

It starts as CUDA does: it reads the memory map, listens on an abstract socket, and starts a thread, which it names.
docs/gpu.md lists the calls that a real driver makes.

Importing this makes the device, which cannot be undone: tests do it in processes of their own.
"""

from __future__ import annotations

import ctypes
import functools
import math
import os
import select
import socket
import threading
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from torch.utils import backend_registration

NAME = "second"
MEMORY = 2**28  # bytes
_CPU, _SECOND = 1, 12  # DLPack's numbers for kinds of devices
_MAY_MEET = ("copy_", "_copy_from", "_to_copy", "set_")  # take tensors of two devices
_MAY_BE_INDEXED = ("index", "index_put_", "index_put", "_index_put_impl_", "_unsafe_index")  # by CPU tensors
_MAKES_ONE = ("cat", "stack")  # refuse even single numbers on the CPU
_TAKE_INDICES = ("index", "index_select", "embedding")
_DIFFERENT = "Expected all tensors to be on the same device, but found at least two devices, second:0 and cpu!"
_TOO_LATE = "second error: device-side assert triggered"


class _Device(ctypes.Structure):
    _fields_ = (("kind", ctypes.c_int32), ("index", ctypes.c_int32))


class _Head(ctypes.Structure):
    """The start of a tensor in DLPack's form."""

    _fields_ = (("data", ctypes.c_void_p), ("device", _Device))


_inside = ctypes.pythonapi.PyCapsule_GetPointer
_inside.restype, _inside.argtypes = ctypes.c_void_p, (ctypes.py_object, ctypes.c_char_p)


class Driver(threading.Thread):
    """What CUDA leaves in a process: a socket, and a thread that waits for connections which never come.

    Tests let the thread call things, since it must not be allowed more than a notebook's code.
    """

    def __init__(self) -> None:
        super().__init__(name="driver", daemon=True)
        Path("/proc/self/maps").read_bytes()
        self.listens = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self.listens.bind(f"\0second-device-{os.getpid()}")
        self.listens.listen()
        self._asked, self._hears = socket.socketpair()
        self._call: Any = None
        self.start()
        self.path = Path(f"/proc/self/task/{self.native_id}/comm")
        self.path.write_text("second-EvtHandlr")

    def ask(self, call: Any) -> str:
        """Let the thread make a call, and return its value or its error as text."""
        self._call = call
        self._asked.send(b"x")
        return self._asked.recv(1000).decode()

    def run(self) -> None:
        waiting = select.poll()
        waiting.register(self.listens, select.POLLIN)
        waiting.register(self._hears, select.POLLIN)
        while True:
            for number, _ in waiting.poll():
                if number == self._hears.fileno():
                    self._hears.recv(1)
                    self._hears.send(self._answer().encode())

    def _answer(self) -> str:
        try:
            return repr(self._call())
        except Exception as error:
            return f"{type(error).__name__}: {error}"


class _Module:
    """The module torch.second, like torch.cuda for CUDA."""

    broken = False
    memory = MEMORY
    driver: Driver | None = None

    def is_available(self) -> bool:
        return True

    def is_initialized(self) -> bool:
        return True

    def _is_in_bad_fork(self) -> bool:
        return False

    def device_count(self) -> int:
        return 1

    def current_device(self) -> int:
        return 0

    def manual_seed_all(self, seed: int) -> None:
        """Nothing to do: the CPU draws random numbers."""

    def synchronize(self, device: Any = None) -> None:  # noqa: ARG002
        self.check()

    def mem_get_info(self, device: Any = None) -> tuple[int, int]:  # noqa: ARG002
        """The first call to a device, which starts it."""
        self.driver = self.driver or Driver()
        return MEMORY, MEMORY

    def set_per_process_memory_fraction(self, fraction: float, device: Any = None) -> None:  # noqa: ARG002
        self.memory = int(MEMORY * fraction)

    def check(self) -> None:
        """Raise an error if the device is broken."""
        if self.broken:
            raise torch.AcceleratorError(_TOO_LATE)


MODULE = _Module()


class _Generator(torch.Generator):
    """The CPU draws for this device, so its generators are there."""

    def __new__(cls, device: Any = "cpu") -> _Generator:
        here = "cpu" if torch.device(device).type == NAME else device
        return super().__new__(cls, device=here)  # type: ignore[call-arg]


@dataclass(frozen=True)
class _Parameter:
    """A parameter of an operation."""

    name: str
    holds_tensors: bool
    is_written: bool
    may_be_elsewhere: bool  # like indices, or a tensor to copy
    may_be_a_number: bool  # on the CPU, in a tensor without dimensions


@dataclass(frozen=True)
class _Operation:
    """Facts about an operation, collected once."""

    name: str
    parameters: dict[str, _Parameter]
    returns_views: bool


@functools.cache
def _known(op: Any) -> _Operation:
    name = op._schema.name.removeprefix("aten::")
    parameters = [_parameter(name, one) for one in op._schema.arguments]
    views = any(one.alias_info is not None and not one.alias_info.is_write for one in op._schema.returns)
    return _Operation(name, {one.name: one for one in parameters}, views)


def _parameter(operation: str, one: Any) -> _Parameter:
    written = one.alias_info is not None and one.alias_info.is_write
    elsewhere = operation in _MAY_MEET or (one.name == "indices" and operation in _MAY_BE_INDEXED)
    number = not written and operation not in _MAKES_ONE
    return _Parameter(one.name, "Tensor" in str(one.type), written, elsewhere, number)


class _Loan:
    """The arguments of one call, under the CPU's names."""

    def __init__(self, of_views: bool) -> None:
        self.of_views = of_views
        self.arguments: list[tuple[_Parameter, torch.Tensor, torch.Tensor]] = []  # each with its stand-in

    def of(self, parameter: _Parameter, value: Any) -> Any:
        if not parameter.holds_tensors:
            return value
        if isinstance(value, torch.Tensor):
            return self._of_tensor(parameter, value)
        if type(value) is int:  # some operations do not make a tensor of it
            return torch.tensor(value)
        return [self.of(parameter, one) for one in value] if isinstance(value, list | tuple) else value

    def _of_tensor(self, parameter: _Parameter, one: torch.Tensor) -> torch.Tensor:
        if one.device.type == NAME:
            same = _lent(one, _CPU)
            # An empty tensor may be filled, but lent memory cannot grow.
            same = same if one.numel() else torch.empty_like(same)
        else:
            same = one
        self.arguments.append((parameter, one, same))
        return same

    def look_at_devices(self) -> None:
        """Refuse tensors of two devices, except for numbers, copies and indices."""
        if not any(one.device.type == NAME for parameter, one, _ in self.arguments if parameter.name != "indices"):
            raise RuntimeError(_DIFFERENT)
        for parameter, one, _ in self.arguments:
            is_number = parameter.may_be_a_number and one.dim() == 0
            if not (one.device.type == NAME or is_number or parameter.may_be_elsewhere):
                raise RuntimeError(_DIFFERENT)

    def give_back(self) -> None:
        """Update tensors here whose stand-ins now have a different shape or place."""
        for parameter, one, same in self.arguments:
            if parameter.is_written and one is not same and _place(one) != _place(same):
                one.data = _lent(same, _SECOND)

    def returned(self, found: Any, here: bool) -> Any:
        """The results of the call: arguments that it wrote to, or new tensors."""
        if isinstance(found, list | tuple):
            return type(found)(self.returned(one, here) for one in found)
        if not isinstance(found, torch.Tensor):
            return found
        for _, one, same in self.arguments:
            if same is found:
                return one
        if not here:
            return found
        return _view(self.arguments[0][1], found) if self.of_views else _kept(found)


def compute(op: Any, *args: Any, **kwargs: Any) -> Any:
    """Run any operation that takes or makes a tensor of this device."""
    MODULE.check()
    operation = _known(op)
    if operation.name == "as_strided":  # counts from the start of the storage
        return _strided(*args, **kwargs)
    loan = _Loan(operation.returns_views)
    given = [loan.of(*pair) for pair in zip(operation.parameters.values(), args, strict=False)]
    named = {name: loan.of(operation.parameters[name], value) for name, value in kwargs.items()}
    if loan.arguments:
        loan.look_at_devices()
    here = True
    if named.get("device") is not None:
        here = torch.device(named["device"]).type == NAME
        named["device"] = "cpu"
    if operation.name in ("empty", "empty_strided"):
        _need_memory(math.prod(given[0]) * (named.get("dtype") or torch.float32).itemsize)
    found = _computed(op, operation, given, named)
    loan.give_back()
    return loan.returned(found, here)


def _computed(op: Any, operation: _Operation, given: list[Any], named: dict[str, Any]) -> Any:
    if operation.name == "_copy_from":  # the CPU does not have it
        return given[1].copy_(given[0])
    try:
        return op(*given, **named)
    except IndexError:
        if operation.name not in _TAKE_INDICES:
            raise
    MODULE.broken = True  # but nothing reports it yet
    is_index = [name in ("index", "indices") for name in operation.parameters]
    return op(*(_zeros(one) if index else one for index, one in zip(is_index, given, strict=False)), **named)


def _zeros(index: Any) -> Any:
    """Indices of this shape that are never out of range."""
    return [one if one is None else torch.zeros_like(one) for one in index] if isinstance(index, list) else index * 0


def _lent(tensor: torch.Tensor, kind: int) -> torch.Tensor:
    """A tensor of the other device with the same memory."""
    capsule = torch._C._to_dlpack(tensor)
    _Head.from_address(_inside(capsule, b"dltensor")).device.kind = kind
    found: torch.Tensor = torch._C._from_dlpack(capsule)
    return found


def _view(viewed: torch.Tensor, same: torch.Tensor) -> torch.Tensor:
    """A view like the CPU's, but of the storage here, since gradients of slices need its offset there."""
    if viewed.dtype is not same.dtype or not same.numel():  # empty tensors have no place
        return _lent(same, _SECOND)
    begins = int(viewed.storage_offset()) + (same.data_ptr() - viewed.data_ptr()) // same.element_size()
    return _strided(viewed, same.shape, same.stride(), begins)


def _strided(
    viewed: torch.Tensor, size: Sequence[int], stride: Sequence[int], storage_offset: int | None = None
) -> torch.Tensor:
    found: torch.Tensor = torch.ops.aten.alias.default(viewed)
    return found.as_strided_(size, stride, storage_offset)


def _kept(new: torch.Tensor) -> torch.Tensor:
    _need_memory(new.numel() * new.element_size())
    return _lent(new, _SECOND)


def _need_memory(size: int) -> None:
    if size > MODULE.memory:
        raise torch.OutOfMemoryError(f"second out of memory. Tried to allocate {size / 2**30:.2f} GiB.")


def _place(one: torch.Tensor) -> tuple[Any, ...]:
    return one.shape, one.stride(), one.data_ptr()


backend_registration._setup_privateuseone_for_python_backend(NAME, MODULE)
_OPERATIONS = torch.library.Library("_", "IMPL")  # type: ignore[no-untyped-call]  # for as long as the process lives
_OPERATIONS.fallback(compute, "PrivateUse1")  # type: ignore[no-untyped-call]
torch.Generator = _Generator  # type: ignore[misc]
