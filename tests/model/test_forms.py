"""The forms of what an exercise asks for: how cases are put on one side, and how results are compared on the other."""

from __future__ import annotations

import pkgutil
from importlib import import_module

from grader.model import forms as trusted
from grader.model.forms.function import Form
from grader.model.forms.module import with_gradients_in_order
from grader.sandbox import forms


def test_sandbox_forms_each_have_a_trusted_form() -> None:
    modules = [import_module(f"{trusted.__name__}.{one.name}") for one in pkgutil.iter_modules(trusted.__path__)]
    named = {one.name for module in modules for one in vars(module).values() if isinstance(one, Form)}
    assert set(forms.FORMS) == named


def test_with_gradients_in_order_keeps_forged_names() -> None:
    value = {"gradients": {"W": 1, "0": 2, "1": 3, "7": 4, "²": 5}}
    assert with_gradients_in_order(value, [1, 0]) == {"gradients": {"W": 1, "0": 3, "1": 2, "7": 4, "²": 5}}
    assert with_gradients_in_order({"gradients": {"1": 3}}, [1, 0]) == {"gradients": {"0": 3}}
