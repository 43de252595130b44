"""What a sandbox does: run the cells it is sent, and answer the cases it is asked."""

from __future__ import annotations

import contextlib
import copy
import ctypes
import functools
import io
import math
import random
import signal
import socket
import sys
import warnings
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, NoReturn, TypeAlias

import numpy.random
import torch

from grader.sandbox import accelerator, wire
from grader.sandbox.accelerator import device_of, on_device
from grader.sandbox.decoder import decode
from grader.sandbox.endless_loops import EndlessLoops
from grader.sandbox.forms import decode_value, encode_value, put_case
from grader.sandbox.nested import map_leaves
from grader.sandbox.probes import load_probe
from grader.sandbox.restoring import InitialState
from grader.sandbox.shell import OutStream, Shell, report_error, run_cell
from grader.sandbox.standin_classes import standin_class
from grader.sandbox.values import encode

# What a case gives to a student's code, and whether the code changed it.

Inputs: TypeAlias = list[Any]  # whatever a case gives to a function
Names: TypeAlias = dict[str, object]  # of a notebook, or lent to it
Ask: TypeAlias = Callable[..., Any]  # has something computed on the other side

MOST_COPIED = 2**20  # bytes: what is larger may be all that a case has room for
_NEVER_CHANGED = (type(None), bool, int, float, str)


class CaseInputs:
    """The inputs of a case. Code gets a copy: if it leaves them alone, they need not be sent back."""

    def __init__(
        self, form: str, tree: object, tensors: Mapping[str, torch.Tensor], device: str, probe: str = ""
    ) -> None:
        self.form = form
        self.device = device
        self.probe = probe
        self._tree = tree
        self._tensors = tensors

    def inputs(self, again: bool) -> Inputs:
        """For a call: a copy, unless that takes much room and the inputs are not needed `again`."""
        is_small = sum(tensor.nbytes for tensor in self._tensors.values()) <= MOST_COPIED
        return map_leaves(_copy_of_leaf, self._inputs) if again or is_small else self._inputs

    @functools.cached_property
    def _inputs(self) -> Inputs:
        inputs: Inputs = on_device(decode_value(self.form, self._tree, self._tensors, pandas=True), self.device)
        return inputs

    def is_unchanged(self, inputs: Inputs) -> bool:
        """Whether a copy is certainly unchanged. In all other cases, the judge looks."""
        return inputs is not self._inputs and is_same(inputs, self._inputs)


def _copy_of_leaf(leaf: Any) -> Any:
    if type(leaf) is torch.Tensor:
        return leaf.clone()
    return leaf if type(leaf) in _NEVER_CHANGED else copy.deepcopy(leaf)


def is_same(value: Any, before: Any) -> bool:
    """Whether a value of a plain kind is what it was before; False for any other kind."""
    if type(value) is not type(before):
        return False
    if type(value) is torch.Tensor:
        kinds = {(tensor.dtype, tensor.layout, tensor.device) for tensor in (value, before)}
        return len(kinds) == 1 and torch.equal(value, before)
    if type(value) in (list, tuple):
        return len(value) == len(before) and all(map(is_same, value, before))
    if type(value) is dict:
        return value.keys() == before.keys() and all(is_same(value[key], before[key]) for key in value)
    return type(value) in _NEVER_CHANGED and value == before


# A process without autograd: nothing that is computed there has gradients, in any thread or mode.

NO_AUTOGRAD = "compute the gradients by formulas: neither autograd nor a backward function of PyTorch's own is there"


def take_autograd_away(device: str) -> None:
    """Remove autograd from PyTorch's table of operators for good: nothing in this process can put it back.

    Modes and guards would hold in one thread only, and any code can leave them.
    """
    kind = "CPU" if device == "cpu" else torch.device(device).type.upper()
    operators = torch._C._dispatch_library("IMPL", "aten", "")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # that an operator is replaced
        # On every device: what autograd does for tensors without numbers could be traced, and repeated with numbers.
        for name in torch._C._dispatch_get_registrations_for_dispatch_key("Autograd"):
            if name.startswith("aten::"):
                operators.impl(name.removeprefix("aten::"), "Autograd", torch.library.fallthrough_kernel)
        for name in torch._C._dispatch_get_all_op_names():
            if name.startswith("aten::") and "backward" in name:
                operators.impl(name.removeprefix("aten::"), kind, _refuse)
    ctypes.pythonapi.Py_IncRef(ctypes.py_object(operators))  # nobody has it, and it is not let go


def _refuse(*_values: object, **_options: object) -> NoReturn:
    raise RuntimeError(NO_AUTOGRAD)


# PyTorch's settings for the whole process are those of a new one while a case is put.
#
# Code may turn gradients off, or change the default size of numbers, and leave it at that. It must not cost the
# exercises that come after.


@contextlib.contextmanager
def as_in_a_new_process() -> Iterator[None]:
    """Gradients are on, and numbers have 32 bits by default. Afterwards, the settings are what they were before."""
    before = torch.get_default_dtype()
    torch.set_default_dtype(torch.float32)
    try:
        with torch.inference_mode(False), torch.enable_grad():
            yield
    finally:
        torch.set_default_dtype(before)


VERSION_SECONDS = 0.3  # of the processor; a right version takes a hundredth of it in most cases
ALONE_SECONDS = 1.5  # for one that may be right, and is put to the long cases as well
VERSION_CALLS = 500  # of stand-ins: an endless loop of them ends here, before its time is up, on any machine

Reply = tuple[wire.Header, dict[str, torch.Tensor]]  # a header, and the tensors it refers to


def serve(shell: Shell, initial: InitialState, channel: socket.socket, device: str, has_disk: bool) -> None:
    """Answer requests until the judge closes the channel."""
    # The files it imports lie next to the notebook. Last, so that no student file shadows a library.
    sys.path.append(str(Path.cwd()))
    sys.stdout, sys.stderr = OutStream("stdout", shell), OutStream("stderr", shell)
    endless = EndlessLoops(shell, channel)
    wire.send(channel, {"ready": True, "disk": has_disk}, {})
    while True:
        try:
            request = wire.receive(channel)
        except wire.ChannelError:
            return
        endless.request = request.header["id"]
        endless.line, endless.line_of_cell = request.header.get("endless", (0, 0))
        for reply in _replies(shell, initial, channel, request, device):
            # What was computed for this request belongs to it, and nothing is read of a device that has failed.
            header, tensors = reply if accelerator.is_usable(device) else ({"unusable": True}, {})
            wire.send(channel, {**header, "to": request.header["id"]}, tensors)


def _replies(
    shell: Shell, initial: InitialState, channel: socket.socket, request: wire.Frame, device: str
) -> Iterator[Reply]:
    match request.header["do"]:
        case "cell":
            outputs, error = run_cell(shell, request.header["source"], request.header.get("number"))
            yield {"outputs": outputs, "error": error}, {}
        case "take autograd away":
            take_autograd_away(device)
            yield {}, {}
        case "test":
            yield _run_test(shell, initial, request.header)
        case "edited":
            yield _answer_edited(shell, channel, request, device)
        case _:
            yield from _answers(shell, channel, request, device)


def _run_test(shell: Shell, initial: InitialState, header: wire.Header) -> Reply:
    """Run an ordinary test: a cell of the course, with the names that it uses as they were."""
    with initial.during(header["uses"]) as changed:
        outputs, error = run_cell(shell, header["source"], header.get("number"))
    return {"outputs": outputs, "error": error, "changed": changed}, {}


def _answers(shell: Shell, channel: socket.socket, request: wire.Frame, device: str) -> Iterator[Reply]:
    """Put one case after the other to the student's code, and stop if there is no such code."""
    header = request.header
    standins = _standins(channel, header["id"], header["standins"], _Calls())
    for case in header["cases"]:
        variables = on_device(decode_value(header["form"], case["lent"], request.tensors, pandas=True), device)
        with _lending(shell.user_ns, standins | variables):
            inputs = CaseInputs(header["form"], case["inputs"], request.tensors, device, header["probe"])
            reply = _call(shell, header["entry"], shell.user_ns, inputs)
        yield reply
        if "missing" in reply[0]:
            return


@contextlib.contextmanager
def _lending(notebook: Names, lent: Names) -> Iterator[None]:
    """Other functions and values in the notebook, in place of its own if the judge says so."""
    replaced = {name: notebook[name] for name in lent if name in notebook}
    notebook.update(lent)
    try:
        yield
    finally:
        # Keeping a stand-in is useless: the judge answers it only while it is lent.
        for name in lent:
            notebook.pop(name, None)
        notebook.update(replaced)


def _answer_edited(shell: Shell, channel: socket.socket, request: wire.Frame, device: str) -> Reply:
    """Put one case to several versions of the student's definitions, each with names of its own for all it reads."""
    identity, header = request.header["id"], request.header
    calls = _Calls()
    standins = _standins(channel, identity, header["standins"], calls)
    inputs = CaseInputs(header["form"], header["inputs"], request.tensors, device, header["probe"])
    answers: list[bytes] = []  # each by itself, so that those are the same that say the same
    seconds = VERSION_SECONDS if len(header["sources"]) > 1 else ALONE_SECONDS
    for source, variables in zip(header["sources"], header["lent"], strict=True):
        names = {**shell.user_ns, **standins, **variables}
        calls.left = VERSION_CALLS
        reply = _define_and_call(shell, source, header["entry"], names, inputs, seconds)
        answers.append(wire.pack(*reply))
    all_bytes = torch.frombuffer(bytearray(b"".join(answers)), dtype=torch.uint8)
    return {"lengths": list(map(len, answers))}, {"answers": all_bytes}


def _define_and_call(shell: Shell, source: str, entry: str, names: Names, inputs: CaseInputs, seconds: float) -> Reply:
    try:
        with _not_for_ever(seconds), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            exec(compile(source, "<edited>", "exec"), names)
            return _call(shell, entry, names, inputs, again=True)
    except BaseException as error:
        return {"raised": report_error(error, shell.compile)}, {}


@contextlib.contextmanager
def _not_for_ever(seconds: float) -> Iterator[None]:
    """Stop a change that makes a loop endless. If code catches even that, the judge ends the sandbox."""

    def stop(_signal: int, _frame: object) -> None:
        raise TimeoutError

    signal.signal(signal.SIGVTALRM, stop)
    signal.setitimer(signal.ITIMER_VIRTUAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)


@as_in_a_new_process()
def _call(shell: Shell, entry: str, names: Names, case_inputs: CaseInputs, again: bool = False) -> Reply:
    """Call the student's function on one case and report what came back."""
    function = names.get(entry)
    if not callable(function):
        return {"missing": True}, {}
    form, device, inputs = case_inputs.form, case_inputs.device, case_inputs.inputs(again)
    try:
        with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
            probe = load_probe(case_inputs.probe) if case_inputs.probe else None
            _seed(device)
            value = put_case(form, function, inputs, probe)
            accelerator.finish(device)
        answer, tensors = encode_value(form, value)
        if case_inputs.is_unchanged(inputs):
            return {"values": {"list": [answer]}}, tensors
        # Else the inputs go back, too: the judge looks what was modified.
        after, input_tensors = encode_value(form, inputs, "input")
    except BaseException as error:  # whatever the student raises, SystemExit included, is an answer
        return {"raised": report_error(error, shell.compile)}, {}
    return {"values": {"list": [answer, after]}}, {**tensors, **input_tensors}


def _seed(device: str) -> None:
    """Draw the same random numbers for every answer, from whichever library they come."""
    random.seed(0)
    numpy.random.seed(0)
    if device == "cpu":  # torch.manual_seed formats a traceback for each kind of device that has not been used yet
        torch.default_generator.manual_seed(0)
    else:
        torch.manual_seed(0)


class _Calls:
    """How many calls of stand-ins are left. If there are far too many, the judge ends the sandbox."""

    def __init__(self) -> None:
        self.left = math.inf

    def count(self) -> None:
        self.left -= 1
        if self.left < 0:
            raise TimeoutError


def _standins(channel: socket.socket, request_id: str, kinds: dict[str, str], calls: _Calls) -> Names:
    """Functions and classes in place of a student's own, by name."""
    standins: Names = {}
    for name, kind in kinds.items():
        function = _standin(channel, request_id, name, calls)
        standins[name] = standin_class(name, function) if kind == "class" else function
    return standins


def _standin(channel: socket.socket, request_id: str, name: str, calls: _Calls) -> Ask:
    """A function that looks like an earlier exercise's and is computed on the other side of the channel."""

    def ask(
        positional: list[object], keywords: list[object], names: list[str], gradient: torch.Tensor | None = None
    ) -> object:
        calls.count()
        tree, tensors = encode([positional, keywords, gradient])
        wire.send(channel, {"to": request_id, "call": name, "arguments": tree, "names": names}, tensors)
        reply = wire.receive(channel)
        if "refused" in reply.header:
            raise RuntimeError(reply.header["refused"])
        # As a right function would return it: on the device of its arguments, whatever the student made them on.
        value = decode(reply.header["value"], reply.tensors, pandas=True)
        return on_device(value, device_of([positional, keywords]) or "cpu")

    def standin(*args: object, **kwargs: object) -> object:
        if any(isinstance(value, torch.Tensor) and value.requires_grad for value in (*args, *kwargs.values())):
            return _Differentiable.apply(ask, len(args), list(kwargs), *args, *kwargs.values())  # type: ignore[no-untyped-call]
        return ask(list(args), list(kwargs.values()), list(kwargs))

    standin.__name__ = name
    return standin


class _Differentiable(torch.autograd.Function):
    """A stand-in through which gradients flow: they, too, are computed on the other side."""

    @staticmethod
    def forward(ctx: Any, ask: Ask, count: int, names: list[str], *values: object) -> object:
        ctx.ask, ctx.arguments = ask, (list(values[:count]), list(values[count:]), names)
        return ask(*ctx.arguments)

    @staticmethod
    def backward(ctx: Any, gradient: torch.Tensor) -> tuple[object, ...]:
        return (None, None, None, *ctx.ask(*ctx.arguments, gradient))
