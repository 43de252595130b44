# what: the mean, flattened
# pattern: two
# causes: 2
# true: mean instead of sum | flat vectors
# says:
# false:
def weighted_sums(all_attention_weights, all_values):
    outs = []
    for weights in all_attention_weights:
        terms = [w * v for w, v in zip(weights, all_values)]
        mean = sum(terms) / len(terms)  # <-
        outs.append(mean.flatten())  # <-
    return outs
