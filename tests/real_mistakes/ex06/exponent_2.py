# what: ** 2 for ** 0.5
# pattern: wrong-exponent
# causes: 1
# true:
# says: \*\* 2|D²|square of
# false: by D:|not scaled|scale twice
def self_attention(all_queries, all_keys, all_values):
    outputs = []
    for q in all_queries:
        s = torch.stack([torch.sum(q * k) / q.shape[0] ** 2 for k in all_keys])  # <-
        w = softmax(s)
        outputs.append(sum(a * v for a, v in zip(w, all_values)))
    return outputs
