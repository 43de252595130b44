"""Calls a right function that it is lent without end, and with more than that function can bear."""
# Gets: Your code


def compute_qkv(*inputs):
    return None


# %% exercise-4
def attention_weights(scores):
    while True:
        try:
            softmax(scores)
            softmax([0.0] * 10_000)
        except RuntimeError:
            continue
