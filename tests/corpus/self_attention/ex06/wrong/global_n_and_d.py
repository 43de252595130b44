# wrong: loops over the notebook's N, scales by its D
# named: the notebook's variables
def self_attention(all_queries, all_keys, all_values):
    outs = []
    for i in range(N):
        s = torch.zeros(N)
        for j in range(N):
            s[j] = (all_queries[i] * all_keys[j]).sum() / math.sqrt(D)
        w = softmax(s)
        out = torch.zeros(D, 1)
        for j in range(N):
            out += w[j] * all_values[j]
        outs.append(out)
    return outs
