"""A plain class as an exercise: an account, by students who are right, who make mistakes, and who cheat."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from grader import OBJECTS, Case, Exercise, using, wrong
from grader.host.limits import Limits
from grader.host.sandbox_process import SandboxProcess
from grader.judging.judge import judge
from grader.model.answer import Returned
from grader.model.forms.objects import SHARED
from grader.model.verdict import Reason, Verdict
from grader.sandbox import forms


class Account:
    def __init__(self, balance: int) -> None:
        if balance < 0:
            raise ValueError("nobody owes money here")
        self.balance = balance
        self.entries: list[int] = []

    def deposit(self, amount: int) -> int:
        self.balance += amount  #: add
        self.entries.append(amount)  #: note
        return self.balance

    def withdraw(self, amount: int) -> int:
        if amount > self.balance:  #: enough
            raise ValueError("there is not that much")
        self.balance -= amount
        return self.balance

    def last(self) -> int | None:
        return self.entries[-1] if self.entries else None


EXERCISE = Exercise(
    name="account",
    assignment="bank",
    title="An account",
    solution=Account,
    form=OBJECTS,
    cases=[
        Case(
            "money comes and goes",
            "a balance that does not change",
            lambda rng: using(
                [int(rng.integers(10, 90))],
                ("last",),
                ("deposit", int(rng.integers(2, 9))),
                ("withdraw", 3),
                ("last",),
                "balance",
                "entries",
            ),
            numpy=True,
        ),
        Case(
            "more than there is",
            "debts",
            lambda rng: using([int(rng.integers(10, 90))], ("withdraw", 500), "balance", ("deposit", 1)),
            numpy=True,
        ),
        Case("a debt", "an account that begins with one", lambda _: using([-5], "balance"), once=True),
    ],
    mistakes=[
        wrong("replaces the balance", {"add": "self.balance = amount"}, "A deposit replaces the balance. Add it."),
        wrong("debts", {"enough": "if False:"}, "Your account lets people have more than there is."),
    ],
)
TEXT = """
class Account:
    def __init__(self, balance):
        if balance < 0:
            raise ValueError
        self.balance = balance
        self.entries = []

    def deposit(self, amount):
        self.balance += amount
        self.entries.append(amount)
        return self.balance

    def withdraw(self, amount):
        if amount > self.balance:
            raise ValueError
        self.balance -= amount
        return self.balance

    def last(self):
        return self.entries[-1] if self.entries else None
"""
DEPOSITED = "self.entries.append(amount)\n        return self.balance"


@pytest.fixture(scope="module")
def sandbox() -> Iterator[SandboxProcess]:
    process = SandboxProcess({}, Limits(cell=20, case=20))
    yield process
    process.close()


def verdict_on(sandbox: SandboxProcess, text: str) -> Verdict:
    assert not sandbox.run_cell(text, 20).error
    cases = EXERCISE.sample()
    return judge(EXERCISE, cases, list(sandbox.answers("Account", cases, {}, "objects")))


def edited_class(*replaced: str) -> str:
    text = TEXT
    for old, new in zip(replaced[::2], replaced[1::2], strict=True):
        assert old in text
        text = text.replace(old, new)
    return text


RIGHT = {
    "as it is": TEXT,
    "a property": edited_class(
        "self.balance = balance",
        "self.money = balance",
        "self.balance -=",
        "self.money -=",
        "self.balance +=",
        "self.money +=",
        "    def last",
        "    @property\n    def balance(self):\n        return self.money\n\n    def last",
    ),
    "an error of its own": "class TooMuch(ValueError): pass\n"
    + edited_class("raise ValueError", "raise TooMuch('no')"),
    "a tuple of entries": edited_class(
        "self.entries = []", "self.entries = ()", "self.entries.append(amount)", "self.entries += (amount,)"
    ),
    "attributes from a dict": edited_class(
        "    def __init__",
        "    def __getattr__(self, name):\n        return vars(self)['_' + name]\n\n    def __init__",
        "self.entries = []",
        "self._entries = []",
    ),
    "a dataclass": "import dataclasses\n"
    + edited_class(
        "class Account",
        "@dataclasses.dataclass\nclass Account",
        "    def __init__(self, balance):\n        if balance < 0:\n            raise ValueError\n"
        "        self.balance = balance\n        self.entries = []\n",
        "    balance: int\n    entries: list = dataclasses.field(default_factory=list)\n\n"
        "    def __post_init__(self):\n        if self.balance < 0:\n            raise ValueError\n",
    ),
}


@pytest.mark.parametrize("text", RIGHT.values(), ids=RIGHT.keys())
def test_plain_class_in_another_style_is_right(sandbox: SandboxProcess, text: str) -> None:
    verdict = verdict_on(sandbox, text)
    assert verdict.right, verdict.sentences


SHARED_STATE = {
    "a list of the class": edited_class(
        "        self.entries = []\n", "", "class Account:", "class Account:\n    entries = []"
    ),
    "a list as a default": edited_class(
        "(self, balance)", "(self, balance, entries=[])", "entries = []", "entries = entries"
    ),
    "numbers of the class": edited_class(
        "self.balance = balance",
        "Account.balance = balance",
        "self.balance +=",
        "Account.balance +=",
        "self.balance -=",
        "Account.balance -=",
    ),
    "a global list": "ENTRIES = []\n" + edited_class("self.entries = []", "self.entries = ENTRIES"),
}


@pytest.mark.parametrize("text", SHARED_STATE.values(), ids=SHARED_STATE.keys())
def test_plain_class_with_shared_state_is_named(sandbox: SandboxProcess, text: str) -> None:
    assert verdict_on(sandbox, text).sentences[0] == SHARED


WRONG = {
    "None for a number": (
        edited_class(DEPOSITED, "self.entries.append(amount)"),
        "The result of `deposit` is None, but a whole number was expected.",
    ),
    "a number for None": (
        edited_class("else None", "else 0"),
        "The result of `last` is a number, but None was expected.",
    ),
    "itself": (edited_class(DEPOSITED, "return self"), "`deposit` should not return `self`."),
    "a generator": (
        edited_class(DEPOSITED, "return (n for n in [1])"),
        "Your class returned a value of type generator.",
    ),
    "another error": (
        edited_class(
            "            raise ValueError\n        self.balance -=",
            "            raise KeyError\n        self.balance -=",
        ),
        "`withdraw` should raise ValueError, and raises KeyError instead.",
    ),
    "an error too many": (
        edited_class("self.balance -= amount", "raise ValueError"),
        "`withdraw` raises ValueError, where it should not.",
    ),
    "no error when made": (
        edited_class("if balance < 0:", "if 0:"),
        "Making an object should raise ValueError, and does not.",
    ),
    "a method that is not there": (
        edited_class("def withdraw", "def take"),
        "Your class stopped with AttributeError: 'Account' object has no attribute 'withdraw'.",
    ),
    "too few arguments": (
        edited_class("withdraw(self, amount)", "withdraw(self)"),
        "Your class stopped with TypeError",
    ),
    "a slip": (
        edited_class("self.balance -= amount", "self.balanse -= amount"),
        "Your class stopped with AttributeError: 'Account' object has no attribute 'balanse', at the line "
        "`self.balanse -= amount`.",
    ),
    "a function": ("def Account(balance):\n    return balance", "Your class stopped with AttributeError"),
    "an error that is returned": (
        edited_class(
            "            raise ValueError\n        self.balance -=",
            "            return {'step': 'withdraw', 'raises': ['ValueError']}\n        self.balance -=",
        ),
        "`withdraw` should raise ValueError, and does not.",
    ),
    "everything is there": (
        "class Account:\n    def __init__(self, *_): pass\n    def __getattr__(self, name): return lambda *_: self",
        "Your class returned a value of type function.",
    ),
}


@pytest.mark.parametrize(("text", "said"), WRONG.values(), ids=WRONG.keys())
def test_plain_class_sentence_names_the_wrong_step(sandbox: SandboxProcess, text: str, said: str) -> None:
    verdict = verdict_on(sandbox, text)
    assert verdict.credit == (0.25 if 4 * verdict.cases_right >= 3 * verdict.cases else 0)  # right but for one kind
    assert verdict.sentences[0].startswith(said)


@pytest.mark.parametrize("mistake", EXERCISE.mistakes, ids=lambda mistake: mistake.name)
def test_plain_class_misconceptions_are_named(sandbox: SandboxProcess, mistake: object) -> None:
    lines = {
        "replaces the balance": edited_class("self.balance += amount", "self.balance = amount"),
        "debts": edited_class("if amount > self.balance:", "if amount > 10**9:"),
    }
    verdict = verdict_on(sandbox, lines[mistake.name])  # type: ignore[attr-defined]
    assert (verdict.credit, verdict.misconceptions) == (0.5, (mistake.name,))  # type: ignore[attr-defined]


def test_plain_class_when_empty_is_still_to_do(sandbox: SandboxProcess) -> None:
    empty = "class Account:\n    def __init__(self, balance):\n        raise NotImplementedError()"
    assert verdict_on(sandbox, empty).reason is Reason.TO_DO


def test_put_of_objects_gives_arguments_then_copies() -> None:
    """The first object gets the arguments themselves, the second one copies."""

    class Basket:
        def __init__(self, items: list[int]) -> None:
            self.items = items

        def add(self, item: int) -> int:
            self.items.append(item)
            return len(self.items)

    items = [1, 2]
    first, second = forms.put_case("objects", Basket, using([items], ("add", 3), "items"))
    assert first == second == [{"step": "add", "value": 3}, {"step": "items", "value": [1, 2, 3]}]
    assert items == [1, 2, 3]


@pytest.mark.parametrize("forged", [None, 1, [], [[], 1], [[1], []], [[{"step": 1, "value": 2}], []], [[{}], [{}]]])
def test_plain_class_forged_observation_earns_nothing(forged: object) -> None:
    cases = EXERCISE.sample()
    assert judge(EXERCISE, cases, [Returned(forged, list(case.inputs)) for case in cases]).credit == 0
