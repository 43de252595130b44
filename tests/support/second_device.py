"""A second device called "second", whose tensors are plain tensors that lie in the CPU's memory.

PyTorch treats it as it treats a GPU: modules move, gradients flow in a thread of the device, new tensors are on the CPU
unless somebody says otherwise, and tensors of both do not meet. What computes is the CPU: each operation gets the same
memory under the CPU's name. Like a GPU, the device finds out late about an index that is out of range, and is of no
further use to the process then; and it has less memory than one can ask for.

It starts as CUDA does: it reads where its memory lies, listens on a socket under a name of the machine's, and leaves
a thread behind, which it names. docs/gpu.md lists the calls that a real driver makes.

Importing this makes the device, for good: tests do so in processes of their own.
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
_CPU, _SECOND = 1, 12  # as DLPack counts kinds of devices
_MAY_MEET = ("copy_", "_copy_from", "_to_copy", "set_")  # tensors of two devices
_MAY_BE_INDEXED = ("index", "index_put_", "index_put", "_index_put_impl_", "_unsafe_index")  # by tensors of the CPU
_MAKES_ONE = ("cat", "stack")  # for which a single number of the CPU is no exception
_TAKE_INDICES = ("index", "index_select", "embedding")
_DIFFERENT = "Expected all tensors to be on the same device, but found at least two devices, second:0 and cpu!"
_TOO_LATE = "second error: device-side assert triggered"


class _Device(ctypes.Structure):
    _fields_ = (("kind", ctypes.c_int32), ("index", ctypes.c_int32))


class _Head(ctypes.Structure):
    """How a tensor begins in DLPack's form."""

    _fields_ = (("data", ctypes.c_void_p), ("device", _Device))


_inside = ctypes.pythonapi.PyCapsule_GetPointer
_inside.restype, _inside.argtypes = ctypes.c_void_p, (ctypes.py_object, ctypes.c_char_p)


class Driver(threading.Thread):
    """What CUDA leaves in a process: a socket, and a thread that waits for somebody who never comes.

    What the thread is asked to call, it calls: it shall be no freer than the code of a notebook.
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
        """What came of a call that the thread has made: its value or its error, as a text."""
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
    """torch.second, as torch.cuda is the module of CUDA."""

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
        """The CPU draws its random numbers."""

    def synchronize(self, device: Any = None) -> None:  # noqa: ARG002
        self.check()

    def mem_get_info(self, device: Any = None) -> tuple[int, int]:  # noqa: ARG002
        """What is asked first of a device that starts."""
        self.driver = self.driver or Driver()
        return MEMORY, MEMORY

    def set_per_process_memory_fraction(self, fraction: float, device: Any = None) -> None:  # noqa: ARG002
        self.memory = int(MEMORY * fraction)

    def check(self) -> None:
        """Once broken, nothing works any more."""
        if self.broken:
            raise torch.AcceleratorError(_TOO_LATE)


MODULE = _Module()


class _Generator(torch.Generator):
    """The CPU draws for this device, so that is where its generators are."""

    def __new__(cls, device: Any = "cpu") -> _Generator:
        here = "cpu" if torch.device(device).type == NAME else device
        return super().__new__(cls, device=here)  # type: ignore[call-arg]


@dataclass(frozen=True)
class _Parameter:
    """What an operation takes."""

    name: str
    holds_tensors: bool
    is_written: bool
    may_be_elsewhere: bool  # as indices may, and what is copied
    may_be_a_number: bool  # of the CPU, in a tensor without dimensions


@dataclass(frozen=True)
class _Operation:
    """What is worth knowing of an operation, and is worked out once."""

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
        self.arguments: list[tuple[_Parameter, torch.Tensor, torch.Tensor]] = []  # each with what stands for it

    def of(self, parameter: _Parameter, value: Any) -> Any:
        if not parameter.holds_tensors:
            return value
        if isinstance(value, torch.Tensor):
            return self._of_tensor(parameter, value)
        if type(value) is int:  # of which some operations make no tensor by themselves
            return torch.tensor(value)
        return [self.of(parameter, one) for one in value] if isinstance(value, list | tuple) else value

    def _of_tensor(self, parameter: _Parameter, one: torch.Tensor) -> torch.Tensor:
        if one.device.type == NAME:
            same = _lent(one, _CPU)
            # What is empty may be filled, and memory that is lent cannot grow.
            same = same if one.numel() else torch.empty_like(same)
        else:
            same = one
        self.arguments.append((parameter, one, same))
        return same

    def look_at_devices(self) -> None:
        """Tensors of two devices do not meet, but for numbers, copies and indices."""
        if not any(one.device.type == NAME for parameter, one, _ in self.arguments if parameter.name != "indices"):
            raise RuntimeError(_DIFFERENT)
        for parameter, one, _ in self.arguments:
            is_number = parameter.may_be_a_number and one.dim() == 0
            if not (one.device.type == NAME or is_number or parameter.may_be_elsewhere):
                raise RuntimeError(_DIFFERENT)

    def give_back(self) -> None:
        """What has another shape or place now has it here, too."""
        for parameter, one, same in self.arguments:
            if parameter.is_written and one is not same and _place(one) != _place(same):
                one.data = _lent(same, _SECOND)

    def returned(self, found: Any, here: bool) -> Any:
        """What the call returns: arguments that it has written, or new tensors."""
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
    """Any operation with a tensor of this device, or that makes one."""
    MODULE.check()
    operation = _known(op)
    if operation.name == "as_strided":  # which counts from the beginning of the storage
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
    if operation.name == "_copy_from":  # which the CPU does not have
        return given[1].copy_(given[0])
    try:
        return op(*given, **named)
    except IndexError:
        if operation.name not in _TAKE_INDICES:
            raise
    MODULE.broken = True  # and nobody knows it yet
    is_index = [name in ("index", "indices") for name in operation.parameters]
    return op(*(_zeros(one) if index else one for index, one in zip(is_index, given, strict=False)), **named)


def _zeros(index: Any) -> Any:
    """Indices of this shape that are never out of range."""
    return [one if one is None else torch.zeros_like(one) for one in index] if isinstance(index, list) else index * 0


def _lent(tensor: torch.Tensor, kind: int) -> torch.Tensor:
    """The same memory as a tensor of the other device."""
    capsule = torch._C._to_dlpack(tensor)
    _Head.from_address(_inside(capsule, b"dltensor")).device.kind = kind
    found: torch.Tensor = torch._C._from_dlpack(capsule)
    return found


def _view(viewed: torch.Tensor, same: torch.Tensor) -> torch.Tensor:
    """A view as the CPU sees it, of the storage here: gradients of slices ask where they begin there."""
    if viewed.dtype is not same.dtype or not same.numel():  # what is empty is nowhere
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
