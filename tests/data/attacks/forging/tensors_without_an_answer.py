"""Sends a body full of tensors under all the names that an answer may have, and no tree that uses them."""
# Gets: Your code sent something that is not an answer

import json
import os
import struct

import torch
from safetensors.torch import save

body = save({name: torch.zeros(4, 1) for name in ("0", "1", "2", "value", "expected")})
header = json.dumps({"values": {"list": [{"tensor": "9"}, {"tensor": 0}]}}).encode()


def compute_qkv(*inputs):
    os.write(3, struct.pack(">II", len(header), len(body)) + header + body)
    return None
