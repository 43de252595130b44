"""What cells leave in the notebook: a sandbox against a real ipykernel, output by output."""

from __future__ import annotations

import base64
import json
import os
import re
import struct
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import nbformat
import pytest

from grader.course.folder import Course
from grader.host.grading import grade_notebook
from grader.host.limits import Limits
from grader.host.sandbox_process import SandboxProcess
from grader.host.scratch import files_beside
from grader.sandbox.cell_outputs import MAX_OUTPUT, NOTICE
from support.kernel import client_of
from support.our_course import OURS

SECONDS = 60

# Run in this order in one session on each side. Each leaves the same outputs in both.
SAME = r'''
# %% no error so far
%tb
import sys
[name for name in vars(sys) if name.startswith("last_")]
# %% magic: %matplotlib inline
%matplotlib inline
import matplotlib.pyplot as plt
# %% figure that is shown
plt.figure(figsize=(3, 2))
plt.plot([1, 2, 3])
plt.show()
# %% figure that nobody shows
plt.plot([3, 2, 1]);
# %% figure and text, in order
print("before")
plt.plot([1, 2])
plt.show()
print("after")
# %% two figures
for height in (1, 2):
    plt.figure(figsize=(2, height))
    plt.plot([1, height])
# %% figure as last expression
fig, ax = plt.subplots(figsize=(2, 2))
fig
# %% closed figure
plt.figure()
plt.close()
# %% object-oriented figure
from matplotlib.figure import Figure
own = Figure(figsize=(2, 1))
own.subplots().plot([1, 2])
own
# %% transparent figure
plt.figure(figsize=(2, 1), facecolor="none")
plt.plot([1, 2]);
# %% figure before an error
plt.plot([1, 2])
1 / 0
# %% list of artists
plt.hist([1, 2, 2], bins=2)
# %% figures as SVG
%config InlineBackend.figure_format = "svg"
plt.rcParams["svg.hashsalt"] = "the same"
plt.figure(figsize=(2, 1))
plt.plot([1, 2]);
# %% figures in retina
%config InlineBackend.figure_format = "retina"
plt.figure(figsize=(2, 1))
plt.plot([1, 2]);
# %% figures through matplotlib_inline
from matplotlib_inline.backend_inline import set_matplotlib_formats
set_matplotlib_formats("png", "svg")
plt.figure(figsize=(2, 1))
plt.plot([1, 2]);
# %% figures that stay open
%config InlineBackend.close_figures = False
%config InlineBackend.figure_formats = ["png"]
plt.figure(figsize=(1, 1))
plt.plot([1, 2]);
# %% drawing into the open figure
plt.title("later")
# %% closing figures again
%config InlineBackend.close_figures = True
plt.close("all")
# %% %config without a value
%config InlineBackend.figure_formats
# %% rc parameters
plt.rcParams["figure.figsize"], plt.rcParams["figure.dpi"], plt.get_backend()
# %% timing: %%time
%%time
sum(range(1000))
# %% timing: %time
%time total = sum(range(1000))
total
# %% timing: %timeit
%timeit -n 10 -r 3 sum(range(10))
# %% timing: %%timeit
%%timeit -n 10 -r 3
x = sum(range(10))
# %% %%capture
%%capture kept
print("unseen")
import sys
print("unseen either", file=sys.stderr)
display("neither")
plt.plot([1, 2])
# %% captured text
print(kept.stdout, kept.stderr)
kept.outputs
# %% show what was captured
kept.show()
# %% %who
%who
# %% %who with types
%who int float
# %% %whos
%whos int
# %% %who_ls
%who_ls str
# %% dir
sorted(name for name in dir() if not name.startswith("_"))
# %% hidden names
import re
sorted(name for name in globals() if name.startswith("_") and not re.fullmatch(r"_i?\d+", name))
# %% help on an object
class Documented:
    """A class with a docstring."""
    def method(self, x, y=2):
        """A method."""
Documented?
# %% help with source
Documented.method??
# %% help on an instance
documented = Documented()
documented?
# %% help with a prefix
?len
# %% help on a magic
%pwd?
# %% help that finds nothing
nowhere?
# %% help with a wildcard
*rint*?
# %% %pinfo
%pinfo sum
# %% %pdoc
%pdoc Documented
# %% help()
help(Documented.method)
# %% top-level await
import asyncio
await asyncio.sleep(0, "slept")
# %% await and print
print(await asyncio.gather(asyncio.sleep(0, 1), asyncio.sleep(0, 2)))
# %% async for
async def count(n):
    for i in range(n):
        yield i
async for i in count(3):
    print(i)
# %% async with
import contextlib
@contextlib.asynccontextmanager
async def manager():
    print("in")
    yield "inside"
    print("out")
async with manager() as value:
    print(value)
# %% async comprehension
[i async for i in count(3)]
# %% error after await
await asyncio.sleep(0)
1 / 0
# %% task of an earlier cell
task = asyncio.get_running_loop().create_task(asyncio.sleep(0, "done"))
# %% await the task
await task
# %% coroutine that is not awaited
count(1)
# %% asyncio.run where a loop runs
coroutine = asyncio.sleep(0)
try:
    asyncio.run(coroutine)
except RuntimeError as error:
    print(error)
coroutine.close()
# %% figure after await
await asyncio.sleep(0)
plt.figure(figsize=(1, 1))
plt.plot([1, 2]);
# %% display
display("a", 1, [2, 3])
# %% display of nothing
display()
# %% display with metadata
display({"text/plain": "x"}, metadata={"custom": 1}, raw=True)
# %% display with an id
handle = display("first", display_id="the id")
handle
# %% display_id=True
moving = display("first", display_id=True)
for i in range(3):
    moving.update(i)
# %% update_display
from IPython.display import update_display
display("one", display_id="shared")
display("two", display_id="other")
update_display("three", display_id="shared")
# %% update of an unknown id
update_display("nothing", display_id="never shown")
# %% handle that displays again
again = display("x", display_id="again")
again.display("y")
# %% clear_output
from IPython.display import clear_output
print("gone")
clear_output()
print("left")
# %% clear_output(wait)
for i in range(3):
    clear_output(wait=True)
    print(i)
# %% clear_output(wait) with figures
for i in range(2):
    plt.figure(figsize=(1, 1))
    plt.plot([i, 1])
    clear_output(wait=True)
    plt.show()
# %% clear_output(wait) before an error
print("gone")
clear_output(wait=True)
1 / 0
# %% display, clear, update
display("one", display_id="cleared")
clear_output()
update_display("two", display_id="cleared")
print("left")
# %% semicolon
1 + 1;
# %% semicolon and comment
1 + 1;  # a comment
# %% None
None
# %% several expressions
1
2
3
# %% all expressions
%config InteractiveShell.ast_node_interactivity = "all"
1
x = 2
x
# %% last expression or assignment
%config InteractiveShell.ast_node_interactivity = "last_expr_or_assign"
y = 5
# %% last expression only
%config InteractiveShell.ast_node_interactivity = "last_expr"
y = 6
# %% _repr_html_
class Html:
    def _repr_html_(self):
        return "<b>bold</b>"
    def __repr__(self):
        return "plain"
Html()
# %% other rich reprs
class Rich:
    def _repr_markdown_(self): return "**bold**"
    def _repr_latex_(self): return "$x^2$"
    def _repr_svg_(self): return "<svg xmlns='http://www.w3.org/2000/svg'><circle r='1'/></svg>"
    def __repr__(self): return "rich"
Rich()
# %% _repr_png_
import base64, io
picture = io.BytesIO()
plt.imsave(picture, [[0, 1], [1, 0]], format="png")
class Png:
    def _repr_png_(self): return picture.getvalue()
    def __repr__(self): return "picture"
Png()
# %% _repr_png_ with size
class Sized(Png):
    def _repr_png_(self): return picture.getvalue(), {"width": 20, "height": 10}
Sized()
# %% _repr_jpeg_
photo = io.BytesIO()
plt.imsave(photo, [[0, 1], [1, 0]], format="jpeg")
class Jpeg:
    def _repr_jpeg_(self): return photo.getvalue()
    def __repr__(self): return "photo"
Jpeg()
# %% _repr_json_
class Json:
    def _repr_json_(self): return {"a": [1, 2.5, None, True]}
    def __repr__(self): return "json"
Json()
# %% _repr_mimebundle_
class Bundle:
    def _repr_mimebundle_(self, include=None, exclude=None):
        data = {"text/plain": "plain", "text/html": "<i>i</i>", "application/vnd.own+json": {"a": 1}}
        return data, {"text/html": {"a": 1}}
Bundle()
# %% _ipython_display_
class Own:
    def _ipython_display_(self):
        print("shown in its own way")
Own()
# %% repr like that of pandas
class Frame:
    """Like a data frame."""
    def to_html(self): return "<table border='1'><tr><th></th><th>a</th></tr><tr><th>0</th><td>1</td></tr></table>"
    def _repr_html_(self): return "<div>" + self.to_html() + "</div>"
    def __repr__(self): return "   a\n0  1"
Frame()
# %% repr that raises
class Bad:
    def __repr__(self): raise ValueError("no repr")
Bad()
# %% rich repr that raises
class BadHtml:
    def _repr_html_(self): raise ValueError("no html")
    def __repr__(self): return "plain"
BadHtml()
# %% repr that prints
class Loud:
    def __repr__(self):
        print("printing")
        return "loud"
Loud()
# %% long list
list(range(2000))
# %% nested containers
{"a": [1, (2, 3)], "b": {"c": {1, 2}}, "long": ["x" * 30] * 5}
# %% long string
"x" * 300
# %% string with line breaks
"a\nb"
# %% types and functions
int, len, Documented, Documented.method
# %% stdout and stderr
import sys
print("out")
print("err", file=sys.stderr)
print("out again")
# %% flushed streams
print("out", flush=True)
print("err", file=sys.stderr, flush=True)
print("out again", flush=True)
# %% sys.stdout.write
print(sys.stdout.write("written\n"))
sys.stdout.writelines(["a\n", "b\n"])
# %% stream properties
print(sys.stdout.encoding.lower(), sys.stdout.isatty(), sys.stdout.name, sys.stderr.name, sys.stdout.writable())
# %% bytes to a stream
try:
    sys.stdout.write(b"bytes")
except TypeError as error:
    print(error)
# %% stdout has no buffer
sys.stdout.buffer
# %% stdout and stderr around a display
print("out")
print("err", file=sys.stderr)
display("shown")
print("out")
# %% redirected stdout
with contextlib.redirect_stdout(io.StringIO()) as text:
    print("caught")
text.getvalue()
# %% threads
import threading
def work(i):
    print("from thread", i)
for i in range(3):
    thread = threading.Thread(target=work, args=(i,))
    thread.start()
    thread.join()
# %% error in a thread
thread = threading.Thread(target=lambda: 1 / 0, name="a thread")
thread.start()
thread.join()
# %% executor
from concurrent.futures import ThreadPoolExecutor
with ThreadPoolExecutor(2) as pool:
    print(list(pool.map(abs, [-1, -2])))
# %% logging
import logging
logging.warning("a warning")
logging.info("unseen")
# %% logging in a later cell
logging.error("an error")
# %% logger of one's own
logger = logging.getLogger("mine")
logger.setLevel(logging.INFO)
handler = logging.StreamHandler(sys.stdout)
handler.setFormatter(logging.Formatter("%(name)s %(levelname)s %(lineno)d %(message)s"))
logger.addHandler(handler)
logger.propagate = False
logger.info("first")
# %% logger in a later cell
logger.info("second")
try:
    1 / 0
except ZeroDivisionError:
    logger.exception("failed")
# %% warnings
import warnings
warnings.warn("a warning")
# %% warning in a function
def warns():
    warnings.warn("from a function", DeprecationWarning, stacklevel=2)
warns()
warns()
# %% warning once
for _ in range(3):
    warnings.warn("once")
# %% warning of a library
import torch
torch.tensor(torch.ones(1))
# %% syntax warning
"\d", 1 is 1
# %% error
def fails(x):
    return 1 / x
fails(0)
# %% error in a function of another cell
def caller():
    # A comment line
    value = 0
    return fails(value)
caller()
# %% error with many lines
total = 0
for i in range(3):
    total += i
    if i == 1:
        raise ValueError(
            f"several lines {i}"
        )
    total += 1
print(total)
# %% cause
try:
    {}["key"]
except KeyError as error:
    raise RuntimeError("no such thing") from error
# %% context
try:
    1 / 0
except ZeroDivisionError:
    undefined_name
# %% cause that is hidden
try:
    1 / 0
except ZeroDivisionError:
    raise ValueError("alone") from None
# %% note on an error
error = ValueError("with a note")
error.add_note("the note")
raise error
# %% exception group
raise ExceptionGroup("several", [ValueError("one"), TypeError("two")])
# %% own exception
class Mine(Exception):
    pass
raise Mine("text", 2)
# %% exception without text
raise ValueError
# %% __str__ raises
class Unspeakable(Exception):
    def __str__(self): raise ValueError("no words")
raise Unspeakable
# %% _render_traceback_
class Rendered(Exception):
    def _render_traceback_(self): return ["my own", "traceback"]
raise Rendered("x")
# %% SyntaxError
print("a"
# %% SyntaxError with text
x = = 1
# %% SyntaxError in the last line
a = 1
b = 2
return a
# %% IndentationError
if True:
print(1)
# %% unexpected indentation
x = 1
    y = 2
# %% TabError
if True:
        x = 1
	y = 2
# %% unterminated string
x = "abc
# %% SyntaxError in exec
exec("x = = 1")
# %% error in eval
eval("1 +")
# %% NameError
undefined_function()
# %% AttributeError
"text".no_such_thing
# %% ImportError
import no_such_module
# %% import of a name
from math import no_such_name
# %% assert with text
assert 1 == 2, "they differ"
# %% bare assert
assert [] == [1]
# %% KeyboardInterrupt
raise KeyboardInterrupt
# %% SystemExit
raise SystemExit("the end")
# %% sys.exit
sys.exit()
# %% sys.exit with a number
print("before")
sys.exit(3)
# %% RecursionError
import inspect
sys.setrecursionlimit(len(inspect.stack()) + 40)
def endless(n):
    return endless(n + 1)
endless(0)
# %% RecursionError caught
try:
    endless(0)
except RecursionError as error:
    print(error)
sys.setrecursionlimit(3000)
# %% GeneratorExit
raise GeneratorExit("x")
# %% StopIteration
next(iter([]))
# %% error in a comprehension
[1 / i for i in (1, 0)]
# %% error in a lambda
(lambda: None.x)()
# %% error in a library
torch.ones(2, 3) @ torch.ones(2, 3)
# %% error in a class body
class Broken:
    x = 1 / 0
# %% error while handling in finally
try:
    1 / 0
finally:
    print("finally")
# %% error that is printed
import traceback
try:
    fails(0)
except ZeroDivisionError:
    traceback.print_exc()
# %% carriage return
for i in range(4):
    print(f"\r{i}/3", end="")
print()
# %% progress bar of text
for i in range(5):
    sys.stderr.write(f"\r{i * 25:3d}%|{'#' * i:4s}|")
    sys.stderr.flush()
# %% backspace
print("ab\bc")
# %% colors
print("\x1b[31mred\x1b[0m plain")
# %% unicode
print("αβγ — ✓ 🎉 \u202e x \x00 end")
"é", "🎉", "\ud83d".encode("utf-8", "replace")
# %% long line
print("x" * 5000)
# %% comment only
# nothing here
# %% magic only
%pwd
# %% underscores
_, __, ___
# %% an underscore
40 + 2
# %% its value
_ + 1, __
# %% named outputs
sorted(Out)[:3], type(Out).__name__, type(In).__name__
# %% inputs
_i, _ii, In[-1]
# %% number of the cell
get_ipython().execution_count
# %% get_ipython
callable(get_ipython), get_ipython().user_ns is globals()
# %% module
__name__, __doc__, __builtins__.__name__, __import__("__main__").__name__
# %% __file__
__file__
# %% %load_ext
%load_ext autoreload
%autoreload 2
# %% unknown extension
%load_ext no_such_extension
# %% unknown magic
%no_such_magic
# %% unknown cell magic
%%no_such_magic
x
# %% line magic with a wrong argument
%precision x
# %% future import
from __future__ import annotations
def annotated(x: not_defined) -> int:
    return 1
annotated.__annotations__
# %% future import holds later
def later(x: still_not_defined): pass
later.__annotations__
# %% dataclass
from dataclasses import dataclass
@dataclass
class Point:
    x: int
    y: int = 2
Point(1)
# %% pickle
import pickle
pickle.loads(pickle.dumps(Point(3)))
# %% type hints of a dataclass
import typing
typing.get_type_hints(Point)
# %% source of a function
import inspect
print(inspect.getsource(caller))
# %% source of a class
print(inspect.getsource(Point))
# %% file of a function
inspect.getsourcelines(caller)[1], caller.__module__, caller.__code__.co_name
# %% IPython.display: text
from IPython.display import HTML, JSON, Audio, Code, Image, Latex, Markdown, Math, Pretty, ProgressBar, SVG
display(HTML("<b>x</b>"), Markdown("*x*"), Latex("$x$"), Math("x"), Pretty("x"))
# %% IPython.display: JSON
JSON({"a": 1}, expanded=True)
# %% IPython.display: Code
Code("x = 1", language="python")
# %% IPython.display: SVG
SVG("<svg xmlns='http://www.w3.org/2000/svg'><rect/></svg>")
# %% IPython.display: Image
Image(picture.getvalue(), width=10, height=20)
# %% IPython.display: Image from a file
open("picture.png", "wb").write(picture.getvalue())
Image("picture.png")
# %% IPython.display: ProgressBar
for i in ProgressBar(2):
    pass
# %% %%html
%%html
<i>html</i>
# %% %%javascript
%%javascript
console.log(1)
# %% %%markdown
%%markdown
**bold**
# %% %%latex
%%latex
$x$
# %% %%svg
%%svg
<svg xmlns='http://www.w3.org/2000/svg'></svg>
# %% tensors
torch.manual_seed(1)
torch.randn(2, 3), torch.arange(3), torch.tensor(1.5), torch.ones(1, requires_grad=True)
# %% parameter and module
torch.nn.Sequential(torch.nn.Linear(2, 3), torch.nn.Parameter and torch.nn.ReLU())
# %% torch.set_printoptions
torch.set_printoptions(precision=2, sci_mode=False)
torch.tensor([1.23456, 1e-5])
# %% numpy
import numpy as np
np.arange(6).reshape(2, 3) / 3
# %% numpy print options
np.set_printoptions(precision=2, suppress=True)
np.array([1.23456, 1e-5])
# %% numpy scalars
np.float32(1.5), np.int64(3), np.pi
# %% %precision
%precision 3
3.14159265
# %% %precision reset
%precision
3.14159265
# %% %%writefile
%%writefile written_module.py
"""Written by a cell."""
def answer():
    return 42
def fail():
    raise ValueError("in a module")
# %% import of the written module
import written_module
written_module.answer(), written_module.__doc__
# %% error in a written module
written_module.fail()
# %% %%writefile again
%%writefile -a written_module.py
later = 1
# %% %run
%run written_module.py
answer()
# %% %run of a script that fails
open("failing.py", "w").write("x = 1\nx / 0\n")
%run failing.py
# %% %run of a missing file
%run no_such_file.py
# %% module beside the notebook
import beside
beside.value
# %% %load
%load beside.py
# %% reading a file
print(open("beside.py").read())
# %% %env
%env NO_SUCH_VARIABLE=1
import os
os.environ["NO_SUCH_VARIABLE"]
# %% %env of an unknown variable
%env NOT_SET_ANYWHERE
# %% %pwd and %cd
os.makedirs("below", exist_ok=True)
%cd below
%cd ..
# %% %history
%history -n 1-3
# %% %%prun is quiet
%%prun -q -s cumulative
sum(range(10))
# %% %macro
%macro -q shout 1
# %% %xmode
%xmode plain
fails(0)
# %% %xmode verbose
%xmode verbose
fails(0)
# %% %xmode context
%xmode context
fails(0)
# %% %tb
%tb
# %% %lsmagic exists
len(get_ipython().magics_manager.lsmagic()["line"]) > 50
# %% %alias_magic
%alias_magic t time
# %% %psource
%psource fails
# %% %pdef
%pdef fails
# %% %reset_selective
%reset_selective -f total
total
# %% %logstop
%logstop
# %% %automagic
%automagic off
# %% %matplotlib with an unknown backend
%matplotlib no_such_backend
# %% %matplotlib list
%matplotlib --list
# %% %colors
%colors nocolor
fails(0)
# %% garbage and weak references
import gc
gc.collect() >= 0
# %% redefining print
print = lambda *args: sys.stdout.write("mine\n")
print("x")
# %% print again
del print
print("x")
# %% assigned underscore
_ = 5
1 + 1
# %% underscore stays
_
# %% replaced displayhook
old_hook = sys.displayhook
sys.displayhook = lambda value: print("hook", value)
7
# %% displayhook is back
8
# %% event callback
def after(result):
    print("after", result.success)
get_ipython().events.register("post_run_cell", after)
# %% event callback is called
1
# %% event callback is removed
get_ipython().events.unregister("post_run_cell", after)
# %% input transformer
get_ipython().input_transformers_cleanup.append(lambda lines: [line.replace("zwei", "2") for line in lines])
# %% input transformer works
zwei + 1
# %% formatter of one's own
get_ipython().display_formatter.formatters["text/html"].for_type(Point, lambda p: f"<b>{p.x}</b>")
Point(4)
# %% custom exception handler
get_ipython().set_custom_exc((Mine,), lambda shell, etype, value, tb, tb_offset=None: print("handled", value))
raise Mine("x")
# %% replaced stdout
kept_stdout = sys.stdout
sys.stdout = io.StringIO()
print("into the text")
# %% replaced stdout holds
text = sys.stdout.getvalue()
sys.stdout = kept_stdout
text
# %% rich
import rich
rich.print("[bold]bold[/bold]")
# %% context variable
import decimal
decimal.getcontext().prec = 5
# %% context variable in a later cell
decimal.Decimal(1) / 3
# %% running loop
asyncio.get_event_loop() is asyncio.get_running_loop()
# %% run_until_complete in a running loop
coroutine = asyncio.sleep(0)
try:
    asyncio.get_event_loop().run_until_complete(coroutine)
except RuntimeError as error:
    print(type(error))
coroutine.close()
# %% display of something that changes
changing = {"a": 1}
display(JSON(changing))
changing["a"] = 2
# %% display of no dict
try:
    display("x", raw=True)
except TypeError as error:
    print(error)
# %% widget
import ipywidgets
ipywidgets.IntSlider()
# %% %matplotlib notebook
%matplotlib notebook
# %% %matplotlib inline again
%matplotlib inline
# %% function that is gone
del fails
fails(0)
'''
CELLS = {name: source.strip("\n") for name, source in re.findall(r"(?ms)^# %% (.*?)\n(.*?)(?=^# %% |\Z)", SAME)}

Outputs = list[dict[str, Any]]


def in_jupyter(sources: Sequence[str], folder: Path) -> list[Outputs]:
    """The outputs that a kernel sends and JupyterLab shows."""
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(source) for source in sources])
    client = client_of(
        notebook,
        allow_errors=True,
        timeout=SECONDS,
        resources={"metadata": {"path": str(folder)}},
        on_cell_executed=_show_help,
    )
    client.execute(env=_environment(folder))
    return [cell.outputs for cell in notebook.cells]


def _show_help(cell: Any, cell_index: int, execute_reply: Any) -> None:  # noqa: ARG001  the names are nbclient's
    """JupyterLab shows what is meant for a pager (the help that `name?` asks for) below the other outputs."""
    pages = [page for page in execute_reply["content"].get("payload", []) if page["source"] == "page"]
    for page in pages[:1]:
        cell.outputs.append(nbformat.v4.new_output("display_data", page["data"]))


def _environment(folder: Path) -> dict[str, str]:
    """That of a sandbox."""
    return {
        "PATH": os.defpath,
        "HOME": str(folder),
        "TMPDIR": "/tmp",
        "IPYTHONDIR": str(folder / ".ipython"),
        "MPLCONFIGDIR": str(folder / ".matplotlib"),
        "LANG": "C.UTF-8",
        "NBGRADER_EXECUTION": "autograde",
        # Sums come out the same to the last digit when they are made in the same order.
        "OMP_NUM_THREADS": "1",
        "MKL_NUM_THREADS": "1",
    }


class Sandbox:
    """A sandbox whose outputs are seen as it sends them: how they are sanitised afterwards is tested elsewhere."""

    def __init__(self, files: Path | None = None) -> None:
        self.process = SandboxProcess(files_beside(files), Limits(cell=SECONDS))

    def run(self, source: str) -> Outputs:
        outputs = self.process._ask({"do": "cell", "source": source}, {}, SECONDS).header["outputs"]
        assert isinstance(outputs, list)
        return outputs


@pytest.fixture(scope="module")
def sandbox() -> Iterator[Sandbox]:
    one = Sandbox()
    yield one
    one.process.close()


@pytest.fixture(scope="module")
def outputs_of_both(tmp_path_factory: pytest.TempPathFactory) -> dict[str, tuple[Outputs, Outputs]]:
    """The outputs of each cell, ours and Jupyter's."""
    folder = tmp_path_factory.mktemp("both")
    (folder / "beside.py").write_text("value = 'beside'\n")
    ours = Sandbox(folder)
    try:
        our_outputs = [ours.run(source) for source in CELLS.values()]
    finally:
        ours.process.close()
    return dict(zip(CELLS, zip(our_outputs, in_jupyter(list(CELLS.values()), folder), strict=True), strict=True))


@pytest.mark.slow
@pytest.mark.parametrize("name", CELLS)
def test_cell_outputs_equal_those_of_jupyter(name: str, outputs_of_both: dict[str, tuple[Outputs, Outputs]]) -> None:
    ours, theirs = outputs_of_both[name]
    timed = name.startswith("timing")
    assert comparable(ours, timed) == comparable(theirs, timed)


@pytest.mark.slow
@pytest.mark.parametrize("is_solved", [True, False], ids=["solved", "unsolved"])
def test_course_notebook_outputs_equal_those_of_jupyter(
    is_solved: bool, released_course: Course, solved: dict[int, str], make_notebook: Callable[..., Any], tmp_path: Path
) -> None:
    notebook = make_notebook(released_course, solved if is_solved else {}, demos=True)
    sources = [cell.source for cell in notebook.cells if cell.cell_type == "code"]
    files = released_course.notebook("release", "self_attention").parent
    process = SandboxProcess(files_beside(files), Limits(cell=SECONDS))
    try:
        ours = [process.run_cell(source, SECONDS).outputs for source in sources]
    finally:
        process.close()
    for file in files.glob("*.py"):
        (tmp_path / file.name).write_bytes(file.read_bytes())
    theirs = in_jupyter(sources, tmp_path)
    for source, our_outputs, their_outputs in zip(sources, ours, theirs, strict=True):
        timed = "perf_counter" in source
        if "show_with_slider" in source:  # in the sandbox, nobody would move it
            assert our_outputs == []
            continue
        assert comparable(our_outputs, timed) == comparable(their_outputs, timed), source
    assert {output["output_type"] for outputs in ours for output in outputs} == {"stream", "display_data"}


def comparable(outputs: Outputs, timed: bool = False) -> list[Any]:
    """Outputs without what differs from one run to the next, or for a reason that is given here."""
    result: list[Any] = []
    for output in outputs:
        if output["output_type"] == "stream":
            # A kernel gathers each stream for a moment before it sends it, so how many pieces there are
            # and how the two streams mix is a matter of time. JupyterLab joins what follows each other.
            if not (result and isinstance(result[-1], dict) and "stdout" in result[-1]):
                result.append({"stdout": "", "stderr": ""})
            result[-1][output["name"]] += output["text"]
        else:
            result.append(output)
    return [_steady(one, timed) for one in result]


def _steady(value: Any, timed: bool) -> Any:
    if isinstance(value, dict):
        items = {key: _picture_size(one) if timed and key == "image/png" else one for key, one in value.items()}
        return {key: _steady(one, timed) for key, one in items.items()}
    if isinstance(value, list):
        return _without_own_frames([_steady(one, timed) for one in value])
    if not isinstance(value, str):
        return value
    for pattern, replacement in STEADY + (TIMES if timed else []):
        value = re.sub(pattern, replacement, value)
    return value


STEADY = [
    (r"0x[0-9a-f]{6,}", "ADDRESS"),
    (r"(/tmp/ipykernel_\d+/)?\d{5,}\.py", "CELL"),  # named after the process and a checksum that is not ours
    (r"<dc:date>.*</dc:date>", "DATE"),  # in SVG
    (r"/tmp/sandbox-\w+|/\S*/both\d+", "FOLDER"),
    (r"\b[0-9a-f]{32}\b", "ID"),  # of a widget
    (r"(<>:1: SyntaxWarning: .*\n)\1+", r"\1"),  # a kernel compiles once more than needed
]
TIMES = [
    (r"[\d.]+(e\+\d+)? (ns|[μu]s|ms|s)\b", "TIME"),
    (r"The slowest run .*\n", ""),  # said when a busy machine makes runs differ
    (r"[\d,]+ times as fast", "N times as fast"),
    (r"base64,[^\"]+|\b\de-\d\d\b", "TIMES"),  # as a plot, and in its description
]


def _without_own_frames(lines: list[Any]) -> list[Any]:
    """Tracebacks without frames of the kernel and of the sandbox, and with one line for a line that calls itself:
    how often it does so before Python stops it depends on how deep the kernel's own calls are."""
    own = re.compile(r"/ipykernel/|/grader/sandbox/")
    lines = [line for line in lines if not (isinstance(line, str) and own.search(line))]
    return [line for i, line in enumerate(lines) if i == 0 or line != lines[i - 1]]


def _picture_size(picture: str) -> str:
    """Of a PNG."""
    width, height = struct.unpack(">II", base64.b64decode(picture)[16:24])
    return f"{width} x {height}"


# Where a sandbox differs from a kernel, on purpose.


@pytest.mark.parametrize("source", ["input('name? ')", "__import__('getpass').getpass()"])
def test_input_says_that_nobody_answers(source: str, sandbox: Sandbox) -> None:
    (error,) = sandbox.run(source)
    assert error["ename"] == "StdinNotImplementedError"
    assert "nobody is there to answer" in error["evalue"]


@pytest.mark.parametrize("source", ["%debug", "import pdb; pdb.set_trace()", "%pdb on\n1 / 0"])
def test_debugger_says_that_nobody_answers(source: str, sandbox: Sandbox) -> None:
    sandbox.run("1 / 0")
    outputs = sandbox.run(source)
    sandbox.run("%pdb off")
    assert "StdinNotImplementedError" in [output.get("ename") for output in outputs]


def test_breakpoint_when_forgotten_changes_nothing(sandbox: Sandbox) -> None:
    """As in a kernel that has debugpy, which JupyterLab's own debugger needs."""
    sandbox.run("def f(x):\n    breakpoint()\n    return x")
    assert sandbox.run("f(1)")[0]["data"] == {"text/plain": "1"}


def test_shell_commands_are_not_run_and_do_not_end_the_cell(sandbox: Sandbox) -> None:
    """A cell that installs something and then imports it must go on."""
    message, result = sandbox.run("!pip install torch\nfiles = !ls\nimport torch\nfiles, _exit_code")
    assert message["name"] == "stderr"
    assert [line.split(":")[0] for line in message["text"].splitlines()] == ["pip install torch", "ls"]
    assert "no program can be started during grading" in message["text"]
    assert result["data"]["text/plain"] == "([], 126)"
    assert sandbox.run("%pip install torch")[0]["name"] == "stderr"


@pytest.mark.parametrize("source", ["%%bash\nls", "import subprocess; subprocess.run(['ls'])"])
def test_starting_a_program_is_a_permission_error(source: str, sandbox: Sandbox) -> None:
    assert sandbox.run(source)[-1]["ename"] == "PermissionError"


@pytest.mark.parametrize("source", ["exit", "quit()", "%autosave 60", "%clear"])
def test_commands_for_the_browser_do_nothing(source: str, sandbox: Sandbox) -> None:
    assert sandbox.run(f"x = 1\n{source}\nx = 2") == []
    assert sandbox.run("x")[0]["data"] == {"text/plain": "2"}


def test_writes_past_the_streams_go_nowhere(sandbox: Sandbox) -> None:
    assert sandbox.run("import os; os.write(1, b'unseen'); os.write(2, b'unseen');") == []


def test_streams_stay_in_order(sandbox: Sandbox) -> None:
    outputs = sandbox.run(
        "import sys\nfor i in range(2):\n    print(i)\n    print(-i, file=sys.stderr)\n    display(i)"
    )
    assert [output.get("name") for output in outputs] == ["stdout", "stderr", None] * 2


def test_progress_bar_is_one_output(sandbox: Sandbox) -> None:
    (bar,) = sandbox.run("for i in range(3):\n    print(f'\\r{i}', end='', flush=True)")
    assert bar["text"] == "\r0\r1\r2"


def test_json_display_of_nan_and_infinity_is_text(sandbox: Sandbox) -> None:
    (result,) = sandbox.run("from IPython.display import JSON\nJSON({'a': float('nan'), 'b': float('-inf')})")
    assert result["data"]["application/json"] == {"a": "nan", "b": "-inf"}


@pytest.mark.parametrize(
    ("body", "error"),
    [
        ("def __str__(self): raise ValueError('no words')", "ValueError: no words"),
        ("def __len__(self): return 0", "Odd: "),
        ("_render_traceback_ = __str__ = lambda self: 1", "TypeError: "),
    ],
)
def test_run_cell_when_error_is_odd_still_reports_it(body: str, error: str, sandbox: Sandbox) -> None:
    result = sandbox.process.run_cell(f"class Odd(Exception):\n    {body}\nraise Odd", SECONDS)
    assert result.error.startswith(error)
    assert result.outputs[-1]["output_type"] == "error"


def test_execution_counts_equal_those_of_the_notebook() -> None:
    """Cells that the judge answers count, too."""
    test_cell = nbformat.v4.new_code_cell("check(1)")
    test_cell.metadata["nbgrader"] = {"grade": True, "solution": False, "grade_id": "test-exercise-1", "points": 1}
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell("1"), test_cell])
    notebook.cells += [nbformat.v4.new_code_cell("2"), nbformat.v4.new_code_cell("1 / 0")]
    grade_notebook(notebook, settings=OURS)
    cells = notebook.cells
    assert [cell.execution_count for cell in cells] == [1, 2, 3, 4]
    assert cells[2].outputs[0].execution_count == 3
    assert "In[4]" in re.sub(r"\x1b\[[\d;]*m", "", "".join(cells[3].outputs[0].traceback))


# What a cell may leave is bounded. Those that write much would take minutes if the time grew with the square.
FLOODS = {
    "ten billion characters": "text = 'x' * 10**6\nfor _ in range(10**4):\n    print(text)",
    "a million lines": "for _ in range(10**6):\n    print('ab')",
    "a million switches": "import sys\nfor i in range(10**6):\n    print(file=(sys.stdout, sys.stderr)[i % 2])",
    "many displays": "for _ in range(10**5):\n    display({}, raw=True)",
    "a huge display": "display({'text/plain': 'x' * 10**8}, raw=True)",
    "a huge picture": "display({'image/png': bytes(10**7)}, raw=True)",
    "a huge repr": "type('Huge', (), {'__repr__': lambda self: 'x' * 10**7})()",
    "huge metadata": "display({'text/plain': 'x'}, metadata={'x': 'x' * 10**7}, raw=True)",
    "a display that grows": "h = display('x', display_id=True)\nfor i in range(30):\n    h.update('x' * 10**5 * i)",
    "updates of many": "for i in range(100):\n    display('x', display_id='a')\n"
    "from IPython.display import update_display\nupdate_display('x' * 10**5, display_id='a')",
    "an error with a huge name": "raise type('x' * 10**7, (Exception,), {})",
    "many errors": "for _ in range(100):\n    try:\n        raise ValueError('x' * 10**4)\n"
    "    except ValueError:\n        get_ipython().showtraceback()",
}


@pytest.mark.slow
@pytest.mark.parametrize("source", FLOODS.values(), ids=FLOODS.keys())
def test_cell_output_is_bounded(source: str, sandbox: Sandbox) -> None:
    outputs = sandbox.run(source)
    assert _size(outputs) < 1.1 * MAX_OUTPUT
    assert any(output.get("text") == NOTICE for output in outputs)


def _size(outputs: Outputs) -> int:
    """In characters; JSON has two for a line break."""
    return len(json.dumps(outputs, ensure_ascii=False).replace("\\n", "\n"))


@pytest.mark.parametrize("text", ["'x'", "'x' * 10**7"])
def test_cell_output_when_too_long_still_shows_the_error(text: str, sandbox: Sandbox) -> None:
    outputs = sandbox.run(f"print('x' * 2 * 10**6)\nraise ValueError({text})")
    assert [output["output_type"] for output in outputs] == ["stream", "stream", "error"]
    assert outputs[-1]["ename"] == "ValueError"
    assert _size(outputs) < 1.1 * MAX_OUTPUT


def test_cell_output_that_is_cleared_does_not_count(sandbox: Sandbox) -> None:
    (left,) = sandbox.run(
        "from IPython.display import clear_output\n"
        "for i in range(5):\n    clear_output(wait=True)\n    print('x' * 10**6)\n"
        "clear_output()\nprint('left')"
    )
    assert left["text"] == "left\n"


def test_cell_output_within_the_limit_is_kept_whole(sandbox: Sandbox) -> None:
    (whole,) = sandbox.run("for _ in range(10**5):\n    print('nine char')")
    assert len(whole["text"]) == 10**6
