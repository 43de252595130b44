"""Questions about code in a submission: made in the sandbox, and hostile code loses nothing but its own."""

from __future__ import annotations

import nbformat
import pytest
from nbformat import NotebookNode

from grader.explaining.question import CodeQuestion
from grader.host.asked_code import ask_about
from grader.host.notebook_settings import Settings
from support.our_course import EXERCISES
from support.solution_cells import from_notebook

IMPORTS = "import torch, math\nfrom torch import nn\nimport torch.nn.functional as F"
CODE = """\
def all_context_vectors(inputs):
    scores = inputs @ inputs.T
    scores = scores / inputs.shape[1] ** 0.5
    weights = torch.softmax(scores, dim=1)
    return weights @ inputs
"""
NUMBER, OTHER = 11, 16


def notebook_with(*cells: str) -> NotebookNode:
    return nbformat.v4.new_notebook(cells=list(map(nbformat.v4.new_code_cell, cells)))


def questions_about(code: str, number: int = NUMBER, count: int = 3) -> list[CodeQuestion]:
    notebook = notebook_with(IMPORTS, code)
    (asked,) = ask_about(notebook, {}, Settings(), [EXERCISES[number]], count)
    return list(asked.questions)


def test_questions_from_a_sandbox_are_about_the_code() -> None:
    questions = questions_about(CODE)
    assert 2 <= len(questions) <= 3
    assert {question.line for question in questions} <= {2, 3, 4, 5}
    assert all(question.inputs.startswith("`inputs` of shape (") for question in questions)


@pytest.fixture(scope="module")
def honest_questions() -> list[CodeQuestion]:
    return questions_about(from_notebook()[OTHER], OTHER)


def test_questions_about_a_class_are_made_of_its_weights(honest_questions: list[CodeQuestion]) -> None:
    assert len(honest_questions) == 3
    assert all(question.inputs.startswith("`CausalAttention(d_in=") for question in honest_questions)


HOSTILE = {
    "raises with notes": "    if '_notes' in globals():\n        raise ValueError\n",
    "prints": "    print('x' * 10**6)\n",
    "reads frames": "    import sys\n    sys._getframe(1).f_globals.clear()\n",
    "sleeps when traced": "    import sys, time\n    sys.gettrace() and time.sleep(1000)\n",
    "sleeps with notes": "    import time\n    '_notes' in globals() and time.sleep(1000)\n",
    "never ends with notes": "    while '_notes' in globals():\n        pass\n",
    "dies with notes": "    import os\n    '_notes' in globals() and os._exit(1)\n",
    "becomes another function": "    all_context_vectors.__code__ = (lambda inputs: inputs).__code__\n",
    "forges what is observed": "    globals().get('_harness', {})['answer'] = lambda _: [{'result': 7}]\n",
    "takes exec away": "    import builtins\n    builtins.exec = lambda *_: None\n",
    "returns far too much": "    globals().update(_answer=lambda request: [torch.zeros(10**8)] * 10)\n",
}


@pytest.mark.parametrize("lines", HOSTILE.values(), ids=HOSTILE)
def test_hostile_code_loses_nothing_but_its_own_questions(lines: str, honest_questions: list[CodeQuestion]) -> None:
    code = CODE.replace("    scores =", f"{lines}    scores =", 1)
    notebook = notebook_with(IMPORTS, code, from_notebook()[OTHER])
    hostile, honest = ask_about(notebook, {}, Settings(), [EXERCISES[NUMBER], EXERCISES[OTHER]], 3)
    assert len(hostile.questions) <= 3
    assert honest.questions == honest_questions
