# what: * 0.5 for ** 0.5
# pattern: wrong-exponent
# causes: 1
# true:
# says: half|0\.5
# false: by D:|whatever D|√N|not scaled
def self_attention(all_queries, all_keys, all_values):
    outputs = []
    for q in all_queries:
        root = q.shape[0] * 0.5  # <-
        s = torch.stack([torch.sum(q * k) / root for k in all_keys])
        w = torch.softmax(s, 0)
        outputs.append(sum(a * v for a, v in zip(w, all_values)))
    return outputs
