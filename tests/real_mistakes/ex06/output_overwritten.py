# what: = for += in the sum
# pattern: overwrites
# causes: 1
# true:
# says: overwrit|last (term|value|word)|[Aa]dd
# false: plain average|best value|last query|before the last
def self_attention(all_queries, all_keys, all_values):
    outs = []
    for i in range(len(all_queries)):
        s = torch.stack([torch.sum(all_queries[i] * k) / math.sqrt(k.shape[0]) for k in all_keys])
        w = torch.softmax(s, dim=0)
        for j in range(len(all_values)):
            o = w[j] * all_values[j]  # <-
        outs.append(o)
    return outs
