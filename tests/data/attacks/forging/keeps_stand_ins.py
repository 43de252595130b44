"""Keeps the right functions that exercise 6 was lent, to solve exercises 2 to 5 with them. They end with exercise 6."""
# Gets: name 'kept' is not defined

import gc


def compute_qkv(all_x, *parameters):
    return kept["compute_qkv"](all_x, *parameters)


# %% exercise-5
def weighted_sums(*inputs):
    return kept["weighted_sums"](*inputs)


# %% exercise-6
kept = {}


def self_attention(*inputs):
    for lent in (compute_qkv, attention_scores, softmax, attention_weights, weighted_sums):
        kept[lent.__name__] = globals()[lent.__name__] = lent
    open("kept", "w").write(str(kept))
    return None
