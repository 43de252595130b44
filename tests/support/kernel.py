"""Run notebooks with widgets in a real kernel."""

from __future__ import annotations

from typing import Any

from nbclient import NotebookClient
from nbclient.output_widget import OutputWidget


class DeafOutput(OutputWidget):
    """Keeps what a widget shows, without sending it back to the kernel, which none of our cells need.

    nbclient would send on the same socket where it waits for the kernel's reply. If that has arrived by then, sending
    swallows the only sign of it, and nbclient sees it only when its time is over.
    """

    def send(self, *_: Any, **__: Any) -> None: ...


def client_of(notebook: Any, **settings: Any) -> NotebookClient:
    """A client that runs this notebook."""
    client = NotebookClient(notebook, kernel_name="python3", **settings)
    client.widget_registry = {"@jupyter-widgets/output": {"OutputModel": DeafOutput}}
    return client
