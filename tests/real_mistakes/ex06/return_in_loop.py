# what: return stands inside of the loop
# pattern: return-in-loop
# causes: 1
# true: first output only
# says: after the first|inside
# false: last
def self_attention(all_queries, all_keys, all_values):
    outputs = []
    for q in all_queries:
        s = torch.stack([torch.sum(q * k) / math.sqrt(q.shape[0]) for k in all_keys])
        w = softmax(s)
        outputs.append(sum(a * v for a, v in zip(w, all_values)))
        return outputs  # <-
