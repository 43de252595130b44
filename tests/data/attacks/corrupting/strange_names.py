"""Lays files with strange names beside the notebook: control characters, no UTF-8, very long."""
# Gets: still to do


def attack(notebook, cells, folder):
    import os

    for name in (b"a\nb", b"\xff\xfe", b"x" * 250, b"-rf", b"$(touch mine)", b" "):
        with open(os.path.join(os.fsencode(folder), name), "w") as file:
            file.write("mine")
