# what: the logarithm of negative numbers
# pattern: all-nan
# causes: 1
# true:
# says: NaN
# false: same result|whatever
def self_attention(all_queries, all_keys, all_values):
    result = []
    for query in all_queries:
        scores = torch.stack([(query * key).sum() for key in all_keys])
        scores = torch.log(-scores ** 2) / len(query) ** 0.5  # <-
        weights = torch.softmax(scores, dim=0)
        result.append(sum(w * v for w, v in zip(weights, all_values)))
    return result
