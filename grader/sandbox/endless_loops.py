"""A loop that certainly never ends once its body has run through: it is given up when its second pass begins."""

from __future__ import annotations

import ast
import builtins
import signal
import socket

from IPython.core.interactiveshell import InteractiveShell

from grader.sandbox import wire

GIVE_UP, HAS_RUN = "__give_up__", "__has_run__"


class EndlessLoops(ast.NodeTransformer):
    """Has the loop that begins in this line of the next cell tell the grader, which then ends the process."""

    def __init__(self, shell: InteractiveShell, channel: socket.socket) -> None:
        self.line = self.line_of_cell = 0  # none; they differ where a cell begins with blank lines
        self.request = ""  # which is being answered
        self._channel = channel
        shell.ast_transformers.append(self)
        setattr(builtins, GIVE_UP, self._give_up)

    def visit_While(self, loop: ast.While) -> list[ast.stmt]:
        self.generic_visit(loop)
        if loop.lineno != self.line:
            return [loop]
        loop.body[:0] = ast.parse(f"if {HAS_RUN}: {GIVE_UP}({self.line_of_cell})\n{HAS_RUN} = True").body
        return [*ast.parse(f"{HAS_RUN} = False").body, loop]

    def _give_up(self, line: int) -> None:
        wire.send(self._channel, {"to": self.request, "endless": line}, {})
        while True:
            signal.pause()
