# right: functools.reduce with a lambda
from functools import reduce


def weighted_sums(all_attention_weights, all_values):
    return [reduce(lambda a, b: a + b, [w * v for w, v in zip(ws, all_values)]) for ws in all_attention_weights]
