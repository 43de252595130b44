# what: // for /
# pattern: integer-division
# causes: 1
# true:
# says: //|whole number
# false: repeats|not scaled
def self_attention(all_queries, all_keys, all_values):
    outputs = []
    for q in all_queries:
        s = torch.stack([torch.sum(q * k) // math.sqrt(q.shape[0]) for k in all_keys])  # <-
        w = softmax(s)
        outputs.append(sum(a * v for a, v in zip(w, all_values)))
    return outputs
