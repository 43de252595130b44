"""Returns a list with millions of numbers."""
# Gets: a list with far too many items


def compute_qkv(*inputs):
    return [0.0] * 10_000_000
