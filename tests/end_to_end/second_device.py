"""A device besides the CPU, called "second", for machines without a GPU. Its tensors lie in the CPU's memory.

PyTorch treats it like a GPU: inputs and modules move there, new tensors are on the CPU unless the code says otherwise,
and tensors of both devices cannot be mixed. Each operation is computed by the CPU, on tensors that share the memory.

Making it cannot be undone, so only processes of sandboxes do.
"""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from types import SimpleNamespace
from typing import Any

import torch
from torch.utils import backend_registration
from torch.utils._pytree import tree_leaves, tree_map

NAME = "second"
CPU_KIND, SECOND_KIND = 1, 12  # as DLPack numbers them
# Whose tensors may be on two devices: copies, and indices.
MAY_MIX = tuple(f"aten::{name}" for name in ("copy_", "_copy_from", "_to_copy", "index", "index_put_"))
MIXED = f"Expected all tensors to be on the same device, but found at least two devices, {NAME}:0 and cpu!"

# What PyTorch and the sandbox ask of torch.second, as they would of torch.cuda.
MODULE = SimpleNamespace(
    is_available=lambda: True,
    is_initialized=lambda: True,
    _is_in_bad_fork=lambda: False,
    device_count=lambda: 1,
    current_device=lambda: 0,
    manual_seed_all=lambda _seed: None,
    synchronize=lambda: None,
    mem_get_info=lambda: (2**30, 2**30),
    set_per_process_memory_fraction=lambda _fraction: None,
)


class DLTensor(ctypes.Structure):
    """The beginning of a tensor in DLPack's form."""

    _fields_ = (("data", ctypes.c_void_p), ("kind", ctypes.c_int32))


pointer_in = ctypes.pythonapi.PyCapsule_GetPointer
pointer_in.restype, pointer_in.argtypes = ctypes.c_void_p, (ctypes.py_object, ctypes.c_char_p)


def moved(tensor: torch.Tensor, kind: int) -> torch.Tensor:
    """A tensor with the same memory, on the other device."""
    capsule = torch._C._to_dlpack(tensor)
    DLTensor.from_address(pointer_in(capsule, b"dltensor")).kind = kind
    twin: torch.Tensor = torch._C._from_dlpack(capsule)
    return twin


def compute(operation: Any, *arguments: Any, **named: Any) -> Any:
    """Run an operation that takes or makes a tensor of this device."""
    name = operation._schema.name
    if name == "aten::as_strided":
        return strided(*arguments)
    tensors = [leaf for leaf in tree_leaves((arguments, named)) if isinstance(leaf, torch.Tensor)]
    if name not in MAY_MIX:
        refuse_mixture(tensors)
    pairs = [(tensor, twin_of(tensor)) for tensor in tensors if tensor.device.type == NAME]
    twins = {id(tensor): twin for tensor, twin in pairs}
    stays = torch.device(named.get("device") or NAME).type == NAME
    if named.get("device") is not None:
        named["device"] = "cpu"

    def on_cpu(value: Any) -> Any:
        return twins.get(id(value), value)

    def returned(value: Any) -> Any:
        return on_second(value, pairs) if isinstance(value, torch.Tensor) and stays else value

    if name == "aten::_copy_from":  # which the CPU lacks
        source, target = map(on_cpu, arguments[:2])
        return returned(target.copy_(source))
    result = operation(*tree_map(on_cpu, arguments), **tree_map(on_cpu, named))
    for tensor, twin in pairs:
        if twin.shape != tensor.shape:  # it was empty, and is filled
            tensor.data = moved(twin, SECOND_KIND)
    return tree_map(returned, result)


def twin_of(tensor: torch.Tensor) -> torch.Tensor:
    """The tensor as the CPU sees it. An empty one may be filled, but shared memory cannot grow."""
    twin = moved(tensor, CPU_KIND)
    return twin if twin.numel() else torch.empty_like(twin)


def on_second(result: torch.Tensor, pairs: list[tuple[torch.Tensor, torch.Tensor]]) -> torch.Tensor:
    """The argument that was written to, a view of one, or a new tensor."""
    for tensor, twin in pairs:
        if result is twin:
            return tensor
        same_storage = result.untyped_storage().data_ptr() == twin.untyped_storage().data_ptr()
        if same_storage and result.dtype == tensor.dtype and result.numel():
            offset = int(tensor.storage_offset() + result.storage_offset())
            return strided(tensor, result.shape, result.stride(), offset)
    return moved(result, SECOND_KIND)


def strided(
    tensor: torch.Tensor, shape: Sequence[int], stride: Sequence[int], offset: int | None = None
) -> torch.Tensor:
    """A view in the tensor's own storage, since gradients of slices depend on its offset there."""
    view: torch.Tensor = torch.ops.aten.alias.default(tensor)
    return view.as_strided_(shape, stride, offset)


def refuse_mixture(tensors: list[torch.Tensor]) -> None:
    """Numbers, which are tensors without dimensions, may be on the CPU."""
    if any(tensor.device.type != NAME and tensor.dim() > 0 for tensor in tensors):
        raise RuntimeError(MIXED)


def make() -> torch.library.Library:
    """Make the device, which computes for as long as somebody holds the result."""
    backend_registration._setup_privateuseone_for_python_backend(NAME, MODULE)
    operations = torch.library.Library("_", "IMPL")  # type: ignore[no-untyped-call]
    operations.fallback(compute, "PrivateUse1")  # type: ignore[no-untyped-call]
    return operations
