"""Run notebook cells as Jupyter would, in this process, and keep their outputs in nbformat's form."""

from __future__ import annotations

import io
import os
import sys
import types
from typing import Any

from IPython.core.displayhook import DisplayHook
from IPython.core.displaypub import DisplayPublisher
from IPython.core.error import UsageError
from IPython.core.interactiveshell import InteractiveShell
from traitlets import Type
from traitlets.config import Config

MAX_OUTPUT = 2**20  # characters of output that a cell may leave

Output = dict[str, Any]


class Outputs:
    """The outputs of the running cell, with neighbouring stream texts joined, up to a limit."""

    def __init__(self) -> None:
        self.items: list[Output] = []
        self._size = 0
        self._clear_next = False

    def add(self, output: Output) -> None:
        if self._clear_next:
            self.clear()
        self._size += _size(output)
        if self._size > MAX_OUTPUT:
            self._say_full()
        elif output["output_type"] == "stream" and self.items and self._same_stream(output):
            self.items[-1]["text"] += output["text"]
        else:
            self.items.append(output)

    def clear(self, wait: bool = False) -> None:
        self._clear_next = wait
        if not wait:
            self.items.clear()
            self._size = 0

    def _same_stream(self, output: Output) -> bool:
        last = self.items[-1]
        return bool(last["output_type"] == "stream" and last["name"] == output["name"])

    def _say_full(self) -> None:
        notice = "\n[This cell printed too much; the rest is left out.]\n"
        if not (self.items and self.items[-1].get("text") == notice):
            self.items.append({"output_type": "stream", "name": "stderr", "text": notice})


def _size(output: Output) -> int:
    if output["output_type"] == "stream":
        return len(output["text"])
    return len(repr(output))


class Stream(io.TextIOBase):
    """sys.stdout or sys.stderr while a cell runs."""

    encoding = "utf-8"

    def __init__(self, name: str, outputs: Outputs) -> None:
        self.name = name
        self._outputs = outputs

    def write(self, text: str) -> int:
        if not isinstance(text, str):
            raise TypeError(f"write() argument must be str, not {type(text).__name__}")
        if text:
            self._outputs.add({"output_type": "stream", "name": self.name, "text": text})
        return len(text)

    def writable(self) -> bool:
        return True


class _Publisher(DisplayPublisher):
    """Keeps what display() shows."""

    def publish(
        self,
        data: Any,
        metadata: Any = None,
        source: Any = None,  # noqa: ARG002  IPython has this parameter and does not use it either
        *,
        transient: Any = None,
        update: Any = False,
        **_: Any,
    ) -> None:
        display_id = (transient or {}).get("display_id")
        outputs = self.shell.outputs
        if update:
            for item in outputs.items:
                if display_id is not None and item.get("_display_id") == display_id:
                    item.update(data=data, metadata=metadata or {})
            return
        output = {"output_type": "display_data", "data": data, "metadata": metadata or {}}
        if display_id is not None:
            output["_display_id"] = display_id
        outputs.add(output)

    def clear_output(self, wait: bool = False) -> None:
        self.shell.outputs.clear(wait)


class _Hook(DisplayHook):
    """Keeps the value of a cell's last expression."""

    def write_output_prompt(self) -> None:
        pass

    def write_format_data(self, format_dict: dict[str, Any], md_dict: Any = None) -> None:
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


class Shell(InteractiveShell):
    """An IPython shell without terminal, kernel, history file or start-up files."""

    displayhook_class = Type(_Hook)
    display_pub_class = Type(_Publisher)

    def __init__(self, **kwargs: Any) -> None:
        self.outputs = Outputs()
        super().__init__(**kwargs)  # type: ignore[no-untyped-call]

    def enable_gui(self, gui: Any = None) -> None:
        """There is no event loop to integrate with; figures are drawn inline."""

    def init_virtualenv(self) -> None:
        pass

    def _showtraceback(self, etype: type, evalue: Any, stb: list[str]) -> None:
        self.outputs.add(
            {"output_type": "error", "ename": etype.__name__, "evalue": str(evalue), "traceback": list(stb)}
        )


def _no_input(*_: object) -> str:
    raise UsageError("input() cannot be used here: nobody is there to answer when your notebook is graded.")


def start_shell() -> Shell:
    """The shell of this process, with `__main__` as the notebook's namespace."""
    os.environ["MPLBACKEND"] = "module://matplotlib_inline.backend_inline"
    config = Config()
    config.HistoryManager.enabled = False
    config.InteractiveShell.colors = "linux"
    config.InteractiveShell.autocall = 0
    main = types.ModuleType("__main__")
    sys.modules["__main__"] = main
    shell: Shell = Shell.instance(config=config, user_module=main)
    main.__dict__.update(input=_no_input)
    return shell


def run_cell(shell: Shell, source: str) -> tuple[list[Output], dict[str, str] | None]:
    """Run one cell; its outputs, and the error that ended it, if one did."""
    shell.outputs = Outputs()
    failure: BaseException | None
    streams = sys.stdout, sys.stderr
    sys.stdout, sys.stderr = Stream("stdout", shell.outputs), Stream("stderr", shell.outputs)
    try:
        result = shell.run_cell(source, store_history=True)  # type: ignore[no-untyped-call]
        failure = result.error_before_exec or result.error_in_exec
    except BaseException as escaped:  # SystemExit and friends end the cell, not the notebook
        failure = escaped
    finally:
        sys.stdout, sys.stderr = streams
    outputs = [{key: item[key] for key in item if key != "_display_id"} for item in shell.outputs.items]
    error = None if failure is None else {"type": type(failure).__name__, "message": message_of(failure)}
    return outputs, error


def message_of(error: BaseException) -> str:
    """The text of an error, also of one that has none to give."""
    try:
        return str(error)[:500]
    except BaseException:
        return ""
