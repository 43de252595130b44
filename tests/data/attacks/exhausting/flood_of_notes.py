"""Floods the second channel, on which a sandbox notes what the kernel denied, with garbage and long packets."""
# Gets: This exercise is still to do

import json
import os

os.set_blocking(4, False)
notes = [b"", b"\xff" * 1000, b"[" * 100_000, b"{}", b"[1, 2]", b"null", json.dumps(["read", "x" * 50_000]).encode()]
notes += [json.dumps(["read", f"<script>{number}</script>"]).encode() for number in range(2000)]
for note in notes:
    try:
        os.write(4, note)
    except OSError:
        continue
