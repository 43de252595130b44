"""Writes an answer to the channel before anything was asked. It belongs to no request."""
# Gets: Your code sent something that is not an answer

import json
import os
import struct

header = json.dumps({"values": {"list": [{"number": 1.0}, {"list": []}]}, "credit": 1.0}).encode()
os.write(3, struct.pack(">II", len(header), 0) + header)


def compute_qkv(all_x, *parameters):
    return all_x, all_x, all_x
