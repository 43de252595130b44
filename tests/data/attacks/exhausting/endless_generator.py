"""Returns a generator without end. Only lists, tuples and tensors are looked into."""
# Gets: a value of type generator


def compute_qkv(*inputs):
    return (number for number in iter(int, 1))
