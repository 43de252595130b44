"""Returns a list with a million numbers."""
# Gets: a list with far too many items


def compute_qkv(*inputs):
    return [0.0] * 1_000_000
