"""Run notebook cells as Jupyter would, in this process, and keep their outputs in nbformat's form.

Where ipykernel differs from plain IPython, this does as ipykernel does.
"""

from __future__ import annotations

import asyncio
import builtins
import contextlib
import functools
import getpass
import inspect
import io
import linecache
import os
import sys
import zlib
from collections.abc import Coroutine, Iterator
from traceback import walk_tb
from typing import Any, TypeAlias

import stack_data
from IPython.core.compilerop import CachingCompiler
from IPython.core.displayhook import DisplayHook
from IPython.core.displaypub import DisplayPublisher
from IPython.core.error import StdinNotImplementedError
from IPython.core.interactiveshell import InteractiveShell
from IPython.core.magic import Magics, line_magic, magics_class
from IPython.utils.text import LSString, SList
from pygments.formatters import terminal256
from traitlets import Type
from traitlets.config import Config

from grader.sandbox.cell_outputs import Output, Outputs

Data: TypeAlias = dict[str, Any]  # by mime type, or by name

# The colors of errors. IPython works them out for each error again, which takes half of the time.


def remember_colors() -> None:
    """Where IPython looks for them when it shows an error, have each made once: they depend on the style alone."""
    stack_data.style_with_executing_node = functools.cache(stack_data.style_with_executing_node)  # type: ignore[attr-defined]
    terminal256.Terminal256Formatter = functools.cache(terminal256.Terminal256Formatter)


class OutStream(io.TextIOBase):
    """sys.stdout or sys.stderr. The same object for all cells, because loggers keep it."""

    encoding = "UTF-8"

    def __init__(self, name: str, shell: Shell) -> None:
        self.name = name
        self._shell = shell

    def write(self, text: str) -> int:
        if not isinstance(text, str):
            raise TypeError(f"write() argument must be str, not {type(text)}")
        if text:
            self._shell.outputs.write(self.name, text)
        return len(text)

    def writable(self) -> bool:
        return True


class _Publisher(DisplayPublisher):
    """Keeps what display() shows."""

    def publish(
        self,
        data: Data,
        metadata: Data | None = None,
        *_: object,
        transient: Data | None = None,
        update: bool = False,
        **__: object,
    ) -> None:
        self._validate_data(data, metadata)  # type: ignore[no-untyped-call]
        outputs = self.shell.outputs
        display_id = str((transient or {}).get("display_id") or "")
        if display_id:
            outputs.update(display_id, data, metadata or {})
        if not update:
            outputs.add({"output_type": "display_data", "data": data, "metadata": metadata or {}}, display_id)

    def clear_output(self, wait: bool = False) -> None:
        self.shell.outputs.clear(wait)


class _Hook(DisplayHook):
    """Keeps the value of a cell's last expression."""

    def write_output_prompt(self) -> None:
        pass

    def write_format_data(self, format_dict: Data, md_dict: Data | None = None) -> None:
        self.shell.outputs.add(
            {
                "output_type": "execute_result",
                "data": format_dict,
                "metadata": md_dict or {},
                "execution_count": self.prompt_count,
            }
        )

    def finish_displayhook(self) -> None:
        self._is_active = False


class _Compiler(CachingCompiler):
    """Names the files that cells seem to be in, as ipykernel does: the names decide how tracebacks look."""

    def get_code_name(self, raw_code: str, transformed_code: str, number: int) -> str:  # noqa: ARG002
        name = f"/tmp/ipykernel_1/{zlib.crc32(raw_code.encode(errors='replace'))}.py"
        inspect.modulesbyfile[name] = "__main__"  # known, so that tracebacks need not look through all modules
        return name


@magics_class
class _ScreenMagics(Magics):
    """Magics that ipykernel adds for a browser. Here they do nothing, but must not end the cell as unknown ones do."""

    @line_magic
    def autosave(self, line: str) -> None:
        pass

    @line_magic
    def clear(self, line: str) -> None:
        pass


class Shell(InteractiveShell):
    """An IPython shell without terminal, kernel, history file or start-up files."""

    displayhook_class = Type(_Hook)
    display_pub_class = Type(_Publisher)
    compiler_class = Type(_Compiler)

    def __init__(self, **kwargs: object) -> None:
        self.outputs = Outputs()
        self._loop: asyncio.AbstractEventLoop | None = None
        super().__init__(loop_runner=self._run_coroutine, **kwargs)  # type: ignore[no-untyped-call]

    @contextlib.contextmanager
    def in_running_loop(self) -> Iterator[None]:
        """Cells may start tasks and must not start loops, as if they ran in a kernel's loop."""
        if self._loop is None:  # not before the fork: processes must not share one
            self._loop = asyncio.new_event_loop()
        asyncio._set_running_loop(self._loop)
        try:
            yield
        finally:
            asyncio._set_running_loop(None)

    def _run_coroutine(self, cell: Coroutine[Any, Any, object]) -> object:
        """Run a cell with a top-level await. This is when tasks of earlier cells go on, too."""
        assert self._loop is not None
        asyncio._set_running_loop(None)
        try:
            return self._loop.run_until_complete(cell)
        finally:
            asyncio._set_running_loop(self._loop)

    def system(self, cmd: str) -> None:
        """`!command`: one that fails does not end a cell, so one that cannot even start does not either."""
        try:
            super().system(cmd)  # type: ignore[no-untyped-call]
        except OSError:
            self._say_not_run(cmd)

    def getoutput(self, cmd: str, split: bool = True, depth: int = 0) -> Any:
        """`files = !command`, the same way."""
        try:
            return super().getoutput(cmd, split, depth + 1)  # type: ignore[no-untyped-call]
        except OSError:
            self._say_not_run(cmd)
            return SList() if split else LSString()

    def _say_not_run(self, command: str) -> None:
        sys.stderr.write(f"{command}: not run, because no program can be started during grading\n")
        self.user_ns["_exit_code"] = 126  # what shells say when they cannot execute something

    def ask_exit(self) -> None:
        """`exit` ends a kernel some time after the cell; here the next cell follows."""

    def init_magics(self) -> None:
        super().init_magics()  # type: ignore[no-untyped-call]
        self.register_magics(_ScreenMagics)

    def enable_gui(self, gui: object = None) -> None:
        """There is no event loop to integrate with; figures are drawn inline."""

    def init_virtualenv(self) -> None:
        pass

    @contextlib.contextmanager
    def _tee(self, channel: str) -> Iterator[None]:  # noqa: ARG002
        """IPython would keep all that is printed a second time, without a limit."""
        yield

    def _format_exception_for_storage(self, exception: BaseException, *args: object, **kwargs: object) -> Data:
        """IPython formats each error a second time, for `%notebook`. Only of those that can fail at that it is seen."""
        is_plain = type(exception).__module__ == "builtins" and not (exception.__cause__ or exception.__context__)
        return {} if is_plain else super()._format_exception_for_storage(exception, *args, **kwargs)  # type: ignore[no-untyped-call]

    def _showtraceback(self, etype: type, evalue: object, stb: list[str]) -> None:
        self.outputs.add_error(etype.__name__, str(evalue), list(stb))


Shell.__name__ = "ZMQInteractiveShell"  # as in ipykernel: libraries look for this name to know a notebook


def _no_input(*_: object, **__: object) -> str:
    raise StdinNotImplementedError("input() cannot be used here: nobody is there to answer during grading.")


def start_shell() -> Shell:
    """The shell of this process, with `__main__` as the notebook's namespace."""
    os.environ["MPLBACKEND"] = "module://matplotlib_inline.backend_inline"
    config = Config()
    config.HistoryManager.enabled = False
    config.InteractiveShell.display_page = True  # help goes to the output, where JupyterLab shows it
    builtins.input = _no_input
    getpass.getpass = _no_input
    sys.breakpointhook = lambda *_, **__: None  # as in a notebook whose debugger is off
    shell: Shell = Shell.instance(config=config)
    shell.db = {}  # of bookmarks and visited folders, which IPython would keep in a file
    return shell


def run_cell(shell: Shell, source: str, number: int | None = None) -> tuple[list[Output], Data | None]:
    """Run one cell; its outputs, and the error that ended it, if one did."""
    shell.outputs = Outputs()
    if number is not None:
        shell.execution_count = number
    failure: BaseException | None
    try:
        with shell.in_running_loop():
            result = shell.run_cell(source, store_history=True)  # type: ignore[no-untyped-call]
        failure = result.error_in_exec if result.error_before_exec is None else result.error_before_exec
    except BaseException as escaped:  # SystemExit and friends end the cell, not the notebook
        failure = escaped
    if failure is None:
        return shell.outputs.as_list(), None
    cell = shell.compile.get_code_name(source, "", 0)
    message, line = message_of(failure, cell), _line_of(failure, cell)
    return shell.outputs.as_list(), {"type": type(failure).__name__[:100], "message": message, "line": line}


def _line_of(error: BaseException, cell: str) -> int:
    """Where in a cell, which has this name as a file, it ended; 0 if that is not known."""
    lines = [number for frame, number in walk_tb(error.__traceback__) if frame.f_code.co_filename == cell]
    return lines[-1] if lines else 0


def report_error(error: BaseException, compiler: CachingCompiler) -> dict[str, str]:
    """Type, message, and the line and function of the notebook where it happened."""
    line = function = ""
    for frame, number in walk_tb(error.__traceback__):
        code = frame.f_code
        if compiler.format_code_name(code.co_filename):
            text = linecache.getline(code.co_filename, number).strip()
            if text:
                line, function = text, code.co_qualname
    return {"type": type(error).__name__[:100], "message": message_of(error), "line": line[:200], "function": function}


def message_of(error: BaseException, cell: str = "") -> str:
    """The text of an error, also of one that has none to give."""
    try:
        return (_syntax_error(error, cell) or str(error))[:500]
    except BaseException:
        return ""


def _syntax_error(error: BaseException, cell: str) -> str:
    """A syntax error of a cell, with the number of the line instead of a file name."""
    match error:
        case SyntaxError(msg=message, filename=str() as file, lineno=number, text=str() as line) if file == cell:
            return f"{message}, in line {number}: {line.strip()}"
    return ""
