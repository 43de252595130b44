"""Notebooks run by a real kernel, with widgets in them."""

from __future__ import annotations

from typing import Any

from nbclient import NotebookClient
from nbclient.output_widget import OutputWidget


class DeafOutput(OutputWidget):
    """What a widget shows is kept here, and the kernel is not told of it.

    nbclient would tell it on the very socket on which it waits for the kernel's answer. If that has come by then,
    sending swallows the only sign of it, and nbclient sees it when its time is over. No cell of ours asks for it.
    """

    def send(self, *_: Any, **__: Any) -> None: ...


def client_of(notebook: Any, **settings: Any) -> NotebookClient:
    """It runs this notebook."""
    client = NotebookClient(notebook, kernel_name="python3", **settings)
    client.widget_registry = {"@jupyter-widgets/output": {"OutputModel": DeafOutput}}
    return client
