"""Claims that this platform cannot confine, so that grading stops for all. Only the very first message may say so."""
# Gets: Your code sent something that is not an answer

import json
import os
import struct

header = json.dumps({"refused": "Landlock is missing", "ready": True}).encode()


def compute_qkv(*inputs):
    os.write(3, struct.pack(">II", len(header), 0) + header)
    os._exit(0)
