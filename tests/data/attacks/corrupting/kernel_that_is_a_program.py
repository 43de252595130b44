"""Asks for a kernel of its own, which starts a program outside the sandbox."""
# Gets: still to do


def attack(notebook, cells, folder):
    import json

    kernel = folder / "kernels" / "mine"
    kernel.mkdir(parents=True)
    program = ["/bin/sh", "-c", f"touch {CANARY}/kernel"]
    (kernel / "kernel.json").write_text(json.dumps({"argv": program, "display_name": "mine", "language": "python"}))
    notebook["metadata"]["kernelspec"] = {"name": "mine", "display_name": "mine", "language": "python"}
