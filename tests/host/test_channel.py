"""The trusted end of the channel against a sandbox that sends whatever it likes."""

from __future__ import annotations

import functools
import io
import json
import math
import os
import random
import resource
import socket
import struct
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from safetensors.torch import save

from grader.host import replies, sandbox_process, stand_ins
from grader.host.denials import denied_in_note
from grader.host.limits import Limits
from grader.host.sandbox_process import SandboxLost, SandboxProcess
from grader.judging.judge import judge
from grader.model.answer import Loss, Lost, Missing, Raised, Returned, sentence_of
from grader.model.exercise import Case, SampledCase
from grader.sandbox import decoder, values, wire
from grader.sandbox.forms import decode_value
from grader.sandbox.plain_text import listed
from support.our_course import EXERCISES

MESSAGES = 20_000
BATCH = 100


class Hostile:
    """Stands for the forked process: a thread that plays the sandbox's end of the channel."""

    alive = True
    is_asleep = True
    pid = os.getpid()
    threads = 1
    cpu_seconds = 0.0

    def __init__(self, play: Callable[[socket.socket], None]) -> None:
        self.channel, self._theirs = socket.socketpair()
        self.notes, self._their_notes = socket.socketpair()
        self.notes.setblocking(False)
        self._thread = threading.Thread(target=self._run, args=(play,))
        self._thread.start()

    def _run(self, play: Callable[[socket.socket], None]) -> None:
        try:
            wire.send(self._theirs, {"ready": True}, {})
            play(self._theirs)
        except (OSError, wire.ChannelError):  # the judge hung up
            return

    def receive_memory_peak(self) -> None:
        """Nothing is handed over."""

    def end(self) -> None:
        self.channel.close()
        self.notes.close()
        self._their_notes.close()
        self._theirs.shutdown(socket.SHUT_RDWR)
        self._thread.join()
        self._theirs.close()
        self.alive = False


@contextmanager
def hostile_sandbox(monkeypatch: pytest.MonkeyPatch, play: Callable[[socket.socket], None]) -> Iterator[SandboxProcess]:
    monkeypatch.setattr(sandbox_process, "fork_sandbox", lambda _order: Hostile(play))
    monkeypatch.setattr(sandbox_process, "MAX_STANDIN_CALLS", 20)
    process = SandboxProcess({}, Limits(cell=1, case=1, patience=1))
    try:
        yield process
    finally:
        if process.alive:
            process.close()


def softmax_answer(identity: str = "") -> tuple[dict[str, Any], dict[str, torch.Tensor]]:
    tree, tensors = values.encode([torch.softmax(torch.arange(4.0), 0), [torch.arange(4.0)]])
    return {"to": identity, "values": tree}, tensors


def frame(header: Any, body: bytes = b"") -> bytes:
    head = header if isinstance(header, bytes) else json.dumps(header).encode()
    return struct.pack(">II", len(head), len(body)) + head + body


def reply(channel: socket.socket, **changes: Any) -> None:
    """Answer one request as a sandbox does, but for some entries of the header."""
    header, tensors = softmax_answer(wire.receive(channel).header["id"])
    wire.send(channel, {**header, **changes}, tensors)


FOUR = SampledCase(Case("four numbers", "nothing", lambda _: ()), (torch.arange(4.0),))


def ask(process: SandboxProcess) -> Any:
    (answer,) = process.answers("softmax", [FOUR], {})
    return answer


def test_answers_when_reply_is_honest_are_returned(monkeypatch: pytest.MonkeyPatch) -> None:
    """So the refusals below have their reasons."""
    with hostile_sandbox(monkeypatch, reply) as process:
        answer = ask(process)
    assert isinstance(answer, Returned)
    assert torch.equal(answer.value, torch.softmax(torch.arange(4.0), 0))


def send_early(channel: socket.socket) -> None:
    wire.send(channel, *softmax_answer())
    reply(channel)


def half_a_frame(channel: socket.socket) -> None:
    wire.receive(channel)
    channel.sendall(frame({"to": "x" * 50})[:20])


def drip(channel: socket.socket) -> None:
    """A frame without end, a byte whenever there is room."""
    wire.receive(channel)
    channel.sendall(struct.pack(">II", wire.MAX_HEADER, 0))
    while True:
        channel.sendall(b" ")


def silence(channel: socket.socket) -> None:
    wire.receive(channel)


def never_reads(_channel: socket.socket) -> None:
    return


def hang_up(channel: socket.socket) -> None:
    wire.receive(channel)
    channel.shutdown(socket.SHUT_RDWR)


def call_without_end(channel: socket.socket) -> None:
    identity = wire.receive(channel).header["id"]
    while True:
        wire.send(channel, {"to": identity, "call": "softmax", "arguments": None, "names": []}, {})
        wire.receive(channel)


def send_bytes(data: bytes) -> Callable[[socket.socket], None]:
    def play(channel: socket.socket) -> None:
        wire.receive(channel)
        channel.sendall(data)

    return play


REFUSED = {
    "too early": (send_early, "not an answer"),
    "the answer to another request": (lambda channel: reply(channel, to="0" * 16), "not an answer"),
    "an identity of another type": (lambda channel: reply(channel, to=math.nan), "not an answer"),
    "no values": (lambda channel: reply(channel, values=None), "not an answer"),
    "values that are a number": (lambda channel: reply(channel, values={"number": 1.0}), "not an answer"),
    "three values": (lambda channel: reply(channel, values={"list": [None, None, None]}), "not an answer"),
    "nothing": (silence, "1 second"),
    "half a frame": (half_a_frame, "1 second"),
    "a frame in drops": (drip, "1 second"),
    "hanging up": (hang_up, "ended the Python process"),
    "lengths beyond all bounds": (send_bytes(b"\xff" * 8), "ended the Python process"),
    "no JSON": (send_bytes(frame(b"{]")), "ended the Python process"),
    "a list as header": (send_bytes(frame([])), "ended the Python process"),
    "absurd nesting": (send_bytes(frame(b"[" * 100_000)), "ended the Python process"),
    "a number of a million digits": (send_bytes(frame(b'{"to": ' + b"9" * 10**6 + b"}")), "ended the Python process"),
    "bytes that are no text": (send_bytes(frame(b'{"to": "\xff"}')), "ended the Python process"),
    "tensors that are none": (send_bytes(frame({}, b"\x00" * 100)), "ended the Python process"),
    "a pickle": (send_bytes(frame({}, b"\x80\x04\x95K.")), "ended the Python process"),
    "a list of tensors of a terabyte": (
        send_bytes(frame({}, struct.pack("<Q", 2**40) + b"{}")),
        "ended the Python process",
    ),
    "calls without end": (call_without_end, "far too often"),
}


@pytest.mark.parametrize(("play", "reason"), REFUSED.values(), ids=REFUSED.keys())
def test_answers_when_reply_is_malformed_are_lost(
    play: Callable[[socket.socket], None], reason: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    with hostile_sandbox(monkeypatch, play) as process:
        answer = ask(process)
    assert isinstance(answer, Lost)
    assert reason in sentence_of(answer)


def first_then(*after: Callable[[socket.socket, str], None]) -> Callable[[socket.socket], None]:
    """Answer the first case of a request, and do something else after that."""

    def play(channel: socket.socket) -> None:
        identity = wire.receive(channel).header["id"]
        wire.send(channel, *softmax_answer(identity))
        for act in after:
            act(channel, identity)

    return play


def send_header(**header: Any) -> Callable[[socket.socket, str], None]:
    return lambda channel, identity: wire.send(channel, {"to": identity, **header}, {})


LATER = {
    "another answer": ([lambda channel, identity: wire.send(channel, *softmax_answer(identity))], Returned),
    "no such function any more": ([send_header(missing=True)], Missing),
    "an error": ([send_header(raised={"type": "ValueError"})], Raised),
    "nothing": ([], Lost),
    "no answer": ([send_header(values=None)], Lost),
    "the answer to another request": ([send_header(to="0" * 16)], Lost),
    "hanging up": ([lambda channel, _: channel.shutdown(socket.SHUT_RDWR)], Lost),
}


@pytest.mark.parametrize(("acts", "expected"), LATER.values(), ids=LATER.keys())
def test_answers_before_a_failure_stay(
    acts: list[Callable[[socket.socket, str], None]], expected: type, monkeypatch: pytest.MonkeyPatch
) -> None:
    with hostile_sandbox(monkeypatch, first_then(*acts)) as process:
        asked = process.answers("softmax", [FOUR] * 2, {})
        answers = [next(asked), next(asked)]
        assert not list(asked)
        assert process.alive == (expected is not Lost)
    assert [type(answer) for answer in answers] == [Returned, expected]


def test_answers_of_many_cases_take_several_requests(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = []

    def answer_all(channel: socket.socket) -> None:
        while True:
            header = wire.receive(channel).header
            asked.append(len(header["cases"]))
            for _ in header["cases"]:
                wire.send(channel, *softmax_answer(header["id"]))

    monkeypatch.setattr(sandbox_process, "MOST_BYTES", 200)
    with hostile_sandbox(monkeypatch, answer_all) as process:
        answers = list(process.answers("softmax", [FOUR] * 7, {}))
    assert all(isinstance(answer, Returned) for answer in answers)
    assert len(asked) > 1
    assert sum(asked) == len(answers) == 7


def test_batches_keep_the_inputs_of_each_case(monkeypatch: pytest.MonkeyPatch) -> None:
    """Few large ones, and then more small ones than these."""
    cases = [
        replace(FOUR, inputs=(torch.full((size,), float(index)),)) for index, size in enumerate([100, 100, *[2] * 6])
    ]
    monkeypatch.setattr(sandbox_process, "MOST_BYTES", 1000)
    found = list(sandbox_process.batches("function", cases))
    assert [len(batch.cases) for batch in found] == [2, 6]
    sent = [decode_value("function", one["inputs"], batch.tensors) for batch in found for one in batch.cases]
    assert [[tensor.tolist() for tensor in inputs] for inputs in sent] == [[case.inputs[0].tolist()] for case in cases]


def test_answers_after_a_second_reply_are_lost(monkeypatch: pytest.MonkeyPatch) -> None:
    def twice(channel: socket.socket) -> None:
        identity = wire.receive(channel).header["id"]
        for _ in range(2):
            wire.send(channel, *softmax_answer(identity))

    with hostile_sandbox(monkeypatch, twice) as process:
        assert isinstance(ask(process), Returned)
        assert isinstance(ask(process), Lost)


@pytest.mark.slow
def test_run_cell_when_request_is_never_read_times_out(monkeypatch: pytest.MonkeyPatch) -> None:
    with hostile_sandbox(monkeypatch, never_reads) as process, pytest.raises(SandboxLost, match="1 second"):
        process.run_cell("x" * 2**20, 1)


def test_run_cell_when_source_is_too_long_does_not_send_it(monkeypatch: pytest.MonkeyPatch) -> None:
    with hostile_sandbox(monkeypatch, never_reads) as process:
        assert process.run_cell("x" * (sandbox_process.MAX_SOURCE + 1), 1).error.startswith("CellTooLong")


class Lying(list[Any]):
    """A list that has no end, or lies about it."""

    def __len__(self) -> int:
        return 3

    def __iter__(self) -> Iterator[Any]:
        while True:
            yield 1.0


class Subclass(torch.Tensor):
    pass


def nested_lists(depth: int) -> Any:
    return 1.0 if depth == 0 else [nested_lists(depth - 1)]


def containing_itself() -> Any:
    value: list[Any] = []
    value += [value] * 50
    return value


UNUSABLE = {
    "a list without end": (lambda: Lying(), "far too many items"),
    "a list of itself": (containing_itself, "lists in lists"),
    "deep lists": (lambda: nested_lists(50), "lists in lists"),
    "a million numbers in a list": (lambda: [1.0] * 10**6, "far too many items"),
    "a billion numbers": (lambda: torch.zeros(1).expand(2**15, 2**15), "far too many numbers"),
    "many large tensors": (lambda: [torch.zeros(2**10, 2**9)] * 10, "far too many numbers"),
    "a subclass": (lambda: torch.zeros(3).as_subclass(Subclass), "special type Subclass"),
    "sparse": (lambda: torch.eye(3).to_sparse(), "not plain"),
    "compressed rows": (lambda: torch.ones(3).to_sparse(), "not plain"),
    "meta": (lambda: torch.zeros(3, device="meta"), "not plain"),
    "complex": (lambda: torch.zeros(3, dtype=torch.complex64), "not plain"),
    "eight-bit floats": (lambda: torch.zeros(3).to(torch.float8_e5m2), "float8_e5m2 numbers"),
    "many dimensions": (lambda: torch.zeros([1] * 40), "40 dimensions"),
    "no numbers in a row without end": (lambda: torch.zeros(2**40, 0), "far too long"),
    "a huge whole number": (lambda: 10**400, "far too large"),
    "a generator": (lambda: iter(Lying()), "type generator"),
    "a complex number": (lambda: 1j, "type complex"),
    "objects in an array": (lambda: np.array([None, object()]), "type"),
}


@pytest.mark.parametrize("is_observation", [False, True])
def test_decode_when_a_list_is_longer_than_the_limit_reads_no_further(is_observation: bool) -> None:
    limit = values.MAX_OBSERVED if is_observation else values.MAX_ANSWER  # the list itself is one of these

    def last_item(length: int) -> object:
        return decoder.decode({"list": [1.0] * length}, {}, is_observation=is_observation)[-1]

    assert last_item(limit - 1) == 1.0
    assert last_item(limit) == decoder.decode({"no": "kind"}, {})


@pytest.mark.parametrize(("make", "reason"), UNUSABLE.values(), ids=UNUSABLE.keys())
def test_decode_when_observation_cannot_be_graded_names_the_reason(make: Callable[[], Any], reason: str) -> None:
    value = decoder.decode(*values.encode(make(), is_observation=True), is_observation=True)
    while isinstance(value, list):
        value = value[0]
    assert isinstance(value, values.Unusable)
    assert reason in value.reason


@pytest.mark.parametrize("tensor", [torch.zeros(3).to(torch.float8_e5m2), torch.zeros([1] * 40)])
def test_decode_refuses_unusable_tensors_by_itself(tensor: torch.Tensor) -> None:
    """The sandbox's own care may have been patched away."""
    assert isinstance(decoder.decode({"tensor": "0"}, {"0": tensor}), values.Unusable)
    for tree in ({"tensor": "0"}, {"tensor": "0", "numpy": True}):
        assert isinstance(decoder.decode(tree, {"0": tensor}, is_observation=True), values.Unusable)


NOT_OBSERVED: list[tuple[Any, dict[str, torch.Tensor]]] = [
    ({"set": [1]}, {}),
    ({"frozenset": []}, {}),
    ({"large": "f" * 20}, {}),
    ({"bytes": "00"}, {}),
    ({"scalar": "<f4", "is": 1.0}, {}),
    ({"texts": ["a"], "shape": [1]}, {}),
    ({"array": "<M8[ns]", "shape": [1], "bytes": "0"}, {"0": torch.zeros(8, dtype=torch.uint8)}),
    ({"table": [["a", {"list": [1]}, ""]], "index": [None, {"list": [0]}, ""]}, {}),
]


@pytest.mark.parametrize(("tree", "tensors"), NOT_OBSERVED, ids=str)
def test_decode_of_observation_accepts_few_types(tree: Any, tensors: dict[str, torch.Tensor]) -> None:
    assert not isinstance(decoder.decode(tree, tensors), values.Unusable)
    assert isinstance(decoder.decode(tree, tensors, is_observation=True), values.Unusable)


def test_decode_of_observation_makes_keys_names() -> None:
    tree = {"dict": [[0, 1], [{"tuple": [True]}, 2]]}
    assert decoder.decode(tree, {}, is_observation=True) == {"0": 1, "(True,)": 2}


def test_decode_when_a_tensor_is_named_often_returns_it_once() -> None:
    """A tensor that is named a thousand times counts once."""
    read = decoder.decode({"list": [{"tensor": "0"}] * 1000}, {"0": torch.zeros(9)})
    assert sum(isinstance(value, torch.Tensor) for value in read) == 1


@pytest.mark.parametrize("kind", ["set", "frozenset", "dict"])
def test_read_when_keys_share_one_hash_is_unusable(kind: str) -> None:
    def of(keys: list[Any]) -> Any:
        return decode_value("function", {kind: [[key, 0] for key in keys] if kind == "dict" else keys}, {})

    alike = [{"large": f"{number * (2**61 - 1):x}"} for number in range(1, 2000)]
    assert isinstance(of(alike), values.Unusable)
    assert len(of([*alike[:9], *range(5000)])) == 5009


def call(arguments: list[Any]) -> dict[str, Any]:
    tree, tensors = values.encode([arguments, [], None])
    frame = wire.Frame({"call": "product", "arguments": tree, "names": []}, tensors)
    return stand_ins.compute(frame, {"product": lambda *factors: functools.reduce(torch.mul, factors)})[0]


def test_standin_computes_for_small_arguments_only() -> None:
    """Its results must not become large, either."""
    assert "value" in call([torch.ones(9, 9), torch.ones(9, 9)])
    assert "refused" in call([torch.ones(99, 99), torch.ones(99, 99)])
    assert "refused" in call([torch.ones(9999, 0), torch.ones(0, 9999)])
    assert "refused" in call([[1.0] * 4000])
    assert "value" in call([torch.ones(50, 1, 1), torch.ones(1, 50, 1)])
    assert "refused" in call([torch.ones(50, 1, 1), torch.ones(1, 50, 1), torch.ones(1, 1, 50)])
    assert "value" in call([torch.ones(2, 3, 4, 1), torch.ones(2, 3, 1, 5), torch.ones(2, 3, 4, 5)])  # heads of queries


def named(argument: str) -> dict[str, Any]:
    """What becomes of a call of softmax_stable with an argument of that name."""
    tree, tensors = values.encode([[torch.ones(3)], [0], None])
    frame = wire.Frame({"call": "softmax_stable", "arguments": tree, "names": [argument]}, tensors)
    return stand_ins.compute(frame, {"softmax_stable": EXERCISES[10].solution})[0]


def test_standin_accepts_only_named_arguments_of_the_exercise() -> None:
    assert "value" in named("dim")
    for name in ("shift", "no_such_step"):
        assert named(name) == {"refused": f"softmax_stable(): got an unexpected keyword argument '{name}'"}


def count_up(number: Any) -> Any:
    end: Any = torch.as_tensor(number).flatten()[0]
    return torch.arange(end)


def counted(number: Any) -> dict[str, Any]:
    """What becomes of a number that a sandbox has counted up to."""
    tree, tensors = values.encode([[number], [], None])
    frame = wire.Frame({"call": "count_up", "arguments": tree, "names": []}, tensors)
    return stand_ins.compute(frame, {"count_up": count_up})[0]


@pytest.mark.parametrize(
    "number",
    [2e7, torch.tensor(2e7), torch.tensor(5000), np.array(5000), torch.tensor([20_000_000]), np.array([20_000_000])],
    ids=repr,
)
def test_standin_when_a_number_is_large_is_refused(number: Any) -> None:
    before = resource.getrlimit(resource.RLIMIT_AS)
    found = counted(number)
    assert "refused" in found or "unusable" in found["value"]  # where the process has kept room, it may be made
    assert resource.getrlimit(resource.RLIMIT_AS) == before
    assert "value" in counted(9)
    for kind in (torch.float64, torch.int64, torch.int8, torch.uint8, torch.bool):
        assert "value" in counted(torch.tensor([1, 0, 1]).to(kind))
    assert "value" in counted(np.array([9, 100], dtype="u1"))
    assert "value" in counted(torch.tensor([3000, 30_000]))  # positions, tokens


def test_judge_when_answer_is_long_does_not_take_it_apart() -> None:
    """A judge that makes a tensor of each of its rows would be at it for minutes."""
    answer = Returned(torch.zeros(values.MAX_SIZE, dtype=torch.uint8), [torch.arange(4.0)])
    assert judge(EXERCISES[1], EXERCISES[1].sample()[:2], [answer] * 2).credit == 0


class Canned:
    """A channel that holds some bytes and then its end."""

    def __init__(self, data: bytes) -> None:
        self._data = io.BytesIO(data)

    def settimeout(self, seconds: float | None) -> None:
        pass

    def recv(self, length: int) -> bytes:
        return self._data.read(length)


ODD = [
    *[None, True, -1, 0, 2**31, 10**30, -0.0, math.nan, math.inf, -math.inf, "", "0", "9", "\ud800", "\x00", "x" * 999],
    *[[], {}, [[]], [None] * 99, {"list": []}, {"tuple": [{}]}, {"tensor": "0"}, {"tensor": 0}, {"tensor": "none"}],
    *[
        {"large": "1"},
        {"scalar": "<f4", "is": math.nan},
        {"scalar": "<f4", "is": {}},
        {"unusable": "\u202e"},
        {"unusable": 5},
        {"dict": {"list": []}},
        {"dict": []},
        {"dict": [["\ud800", 1]]},
        {"dict": [[None, 10**30]]},
        {"set": [True]},
        {"texts": ["\ud800"], "shape": [1]},
        {"list": {"0": 1}},
    ],
]
STREAM = {"output_type": "stream", "name": "stdout", "text": "t"}
PICTURE = {"output_type": "display_data", "data": {"text/html": "<b>", "image/png": "iVBO"}, "metadata": {}}
ERROR = {"type": "ValueError", "message": "m", "line": "x", "function": "f"}
CALL = {"call": "softmax", "arguments": {"list": [{"list": [{"tensor": "0"}]}, {"list": []}, None]}, "names": []}
GRADIENT = {**CALL, "arguments": {"list": [{"list": [{"tensor": "0"}]}, {"list": []}, {"tensor": "1"}]}}
OBSERVED = {"dict": [["parameters", {"dict": [["W", {"list": [2]}]]}], ["ok", True], ["x", "t"]]}
TENSORS = {"0": torch.eye(3, dtype=torch.bfloat16), "1": torch.zeros(8, dtype=torch.uint8)}
OF_TENSORS = {"list": [{"tensor": "0", "device": "cpu"}, {"array": "<i2", "shape": [2, 2], "bytes": "1"}]}
SEEDS: list[tuple[dict[str, Any], dict[str, torch.Tensor]]] = [
    softmax_answer(),
    ({"raised": ERROR}, {}),
    ({"missing": True}, {}),
    ({"outputs": [STREAM, PICTURE], "error": {"type": "E", "message": ""}}, {}),
    (CALL, {"0": torch.arange(3.0)}),
    (GRADIENT, {"0": torch.arange(3.0), "1": torch.ones(3)}),
    ({"values": {"list": [OBSERVED, {"list": []}]}}, {}),
    ({"values": {"list": [OF_TENSORS, {"list": []}]}}, TENSORS),
]


def malformed(chance: random.Random) -> bytes:
    """A frame of a sandbox, with one or more things wrong."""
    header, tensors = chance.choice(SEEDS)
    body = save(tensors) if tensors else b""
    for _ in range(chance.randint(0, 3)):
        header = altered_tree(header, chance)
    if body and chance.random() < 0.5:
        body = with_altered_list(body, chance)
    data = bytearray(frame(header, body))
    match chance.randrange(6):
        case 0:
            data = data[: chance.randrange(len(data))]
        case 1:
            data += chance.randbytes(chance.randint(1, 50))
        case 2:
            data[chance.randrange(8)] = chance.randrange(256)
        case 3:
            for _ in range(chance.randint(1, 5)):
                data[chance.randrange(len(data))] ^= 1 << chance.randrange(8)
        case 4:
            data = bytearray(chance.randbytes(chance.randint(0, 100)))
    return bytes(data)


def altered_tree(tree: Any, chance: random.Random) -> Any:
    """A JSON tree with something odd in one place."""
    if chance.random() < 0.2 or not isinstance(tree, (list, dict)) or not tree:
        return chance.choice(ODD)
    if isinstance(tree, list):
        place = chance.randrange(len(tree))
        return [altered_tree(item, chance) if index == place else item for index, item in enumerate(tree)]
    key = chance.choice(list(tree))
    if chance.random() < 0.1:
        return {chance.choice([*"ab", *tree]): value for value in tree.values()}
    return {**tree, key: altered_tree(tree[key], chance)}


def with_altered_list(body: bytes, chance: random.Random) -> bytes:
    """Safetensors with another list of names, types, shapes and places."""
    (length,) = struct.unpack_from("<Q", body)
    listed = altered_tree(json.loads(body[8 : 8 + length]), chance)
    head = json.dumps(listed).encode()
    for one, other in (("F32", chance.choice(["F8_E4M3", "BOOL", "U64", "C64", "I8", "F4"])), ("4", "400")):
        if chance.random() < 0.3:
            head = head.replace(one.encode(), other.encode())
    return struct.pack("<Q", len(head)) + head + body[8 + length :]


EXERCISE = replace(EXERCISES[3], mistakes=())  # they are compared with as the reference is
DRAWN = EXERCISE.sample()[:2]


def process_message(data: bytes) -> None:
    """All that the trusted side does with a message."""
    try:
        received = wire.receive(Canned(data), None)  # type: ignore[arg-type]
    except wire.ChannelError:
        return
    for form in ("module", "function"):
        answer = replies.read_answer(received.header, received.tensors, form)
        assert isinstance(answer, (Returned, Raised, Missing, Lost))
    verdict = judge(EXERCISE, DRAWN, [answer] * len(DRAWN))
    assert verdict.credit < 1
    json.dumps(verdict.to_json()).encode()
    str(denied_in_note(json.dumps(received.header.get("values")).encode())).encode()
    result = replies.read_cell(received)
    json.dumps(result.outputs)
    result.error.encode()
    if "call" in received.header:
        stand_ins.compute(received, {"softmax": EXERCISE.reference})


@pytest.mark.slow
@settings(max_examples=MESSAGES // BATCH, deadline=None, suppress_health_check=list(HealthCheck), derandomize=True)
@given(seed=st.integers(0, 2**64 - 1))
def test_malformed_messages_raise_nothing(seed: int) -> None:
    chance = random.Random(seed)
    for _ in range(BATCH):
        data = malformed(chance)
        try:
            process_message(data)
        except Exception as error:
            error.add_note(f"the message: {data!r}")
            raise


def test_decode_of_observation_keeps_texts_on_one_line() -> None:
    tree = {"dict": [["a\nb\x1b", "c\u202ed"], ["ä b", "e" * 300]]}
    assert decoder.decode(tree, {}, is_observation=True) == {"a b ": "c d", "ä b": "e" * 200}


@pytest.mark.parametrize(
    ("names", "said"),
    [
        ([], ""),
        (["a"], "a"),
        (["a", "b\n"], "a or b "),
        (["a", "b", "c"], "a, b or c"),
        (["a", "b", "c", "d"], "a, b, c or 1 more"),
    ],
)
def test_listed_joins_names_as_people_read_them(names: list[str], said: str) -> None:
    assert listed(names, 3, last="or") == said


def test_devices_finds_nested_tensors() -> None:
    leaves = [{"tensor": str(number), "device": device} for number, device in enumerate(("cpu", "cuda", "\nmeta"))]
    tree = {"list": [leaves[0], {"tuple": [leaves[1], None]}, {"dict": [["x", {"list": [leaves[2]]}]]}, {"list": 3}, 7]}
    assert decoder.devices(tree) == {"cpu", "cuda", " meta"}


def answers_of_versions(*parts: bytes, lengths: Any = None) -> wire.Frame:
    packed = torch.frombuffer(bytearray(b"".join(parts)), dtype=torch.uint8)
    return wire.Frame({"lengths": list(map(len, parts)) if lengths is None else lengths}, {"answers": packed})


ONE, OTHER = (
    wire.pack({"values": {"list": [{"tensor": "0"}, None]}}, {"0": torch.tensor([number])}) for number in (1.0, 2.0)
)


def test_answers_of_edited_when_equal_are_one_object() -> None:
    read_here = replies.AnswersOfEdited("function")
    first, second, third = read_here.read_answers(answers_of_versions(ONE, OTHER, ONE), 3)
    assert isinstance(first, Returned)
    assert isinstance(second, Returned)
    assert (first.value, second.value) == (torch.tensor([1.0]), torch.tensor([2.0]))
    assert third is first
    assert read_here.read_answers(answers_of_versions(ONE), 1)[0] is first


def test_answers_of_edited_are_kept_up_to_a_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(replies, "MAX_KEPT", len(ONE))
    read_here = replies.AnswersOfEdited("function")
    (first,), (second,) = (read_here.read_answers(answers_of_versions(part), 1) for part in (ONE, OTHER))
    assert read_here.read_answers(answers_of_versions(ONE), 1)[0] is first
    assert read_here.read_answers(answers_of_versions(OTHER), 1)[0] is not second


@pytest.mark.parametrize(
    "frame",
    [
        pytest.param(answers_of_versions(ONE), id="fewer than were asked for"),
        pytest.param(answers_of_versions(ONE, OTHER, ONE), id="more"),
        pytest.param(answers_of_versions(ONE, OTHER, lengths=[len(ONE), len(OTHER) + 1]), id="longer"),
        pytest.param(answers_of_versions(ONE, OTHER, lengths=[2 * len(ONE), 0]), id="nothing"),
        pytest.param(answers_of_versions(ONE, OTHER, lengths=[3 * len(ONE), -len(ONE)]), id="less than nothing"),
        pytest.param(answers_of_versions(ONE, OTHER, lengths=[float(len(ONE)), len(OTHER)]), id="no whole number"),
        pytest.param(answers_of_versions(ONE, OTHER, lengths="no"), id="no list"),
        pytest.param(answers_of_versions(ONE, OTHER, lengths=[len(ONE) - 1, len(OTHER) + 1]), id="cut elsewhere"),
        pytest.param(wire.Frame({"lengths": [2, 2]}, {}), id="no bytes"),
        pytest.param(wire.Frame({"lengths": [2, 2]}, {"answers": torch.zeros(4)}), id="other numbers"),
    ],
)
def test_answers_of_edited_when_lengths_are_wrong_are_lost(frame: wire.Frame) -> None:
    assert replies.AnswersOfEdited("function").read_answers(frame, 2) == [Lost(Loss.FORGED)] * 2


@pytest.mark.parametrize("broken", [b"", b"1234567", ONE[:-1], ONE + b"1", b"\xff" * 8, b"\0\0\0\2\0\0\0\0{]"])
def test_unpacked_when_bytes_are_no_frame_raises(broken: bytes) -> None:
    with pytest.raises(wire.ChannelError):
        wire.unpack(broken)
