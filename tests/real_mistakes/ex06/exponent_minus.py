# what: divided by D ** -0.5
# pattern: wrong-exponent
# causes: 1
# true: multiplied by √D
# says: -0\.5
# false:
def self_attention(all_queries, all_keys, all_values):
    outputs = []
    for q in all_queries:
        D_q = q.shape[0]
        s = torch.stack([torch.sum(q * k) / D_q ** -0.5 for k in all_keys])  # <-
        w = torch.softmax(s, 0)
        outputs.append(sum(a * v for a, v in zip(w, all_values)))
    return outputs
