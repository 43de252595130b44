"""Returns a set of numbers that all have the same hash, so that whoever makes a set of them compares each with each."""
# Gets: far too many keys that have the same hash


def compute_qkv(*inputs):
    return {number * (2**61 - 1) for number in range(4000)}


# %% exercise-3
def softmax(items_in):
    return {number * (2**61 - 1): number for number in range(4000)}
