# right: everything in loops, no earlier function used
def self_attention(all_queries, all_keys, all_values):
    d = all_queries[0].shape[0]
    outputs = []
    for q in all_queries:
        scores = []
        for k in all_keys:
            s = 0
            for i in range(d):
                s = s + q[i, 0] * k[i, 0]
            scores.append(s / math.sqrt(d))
        exps = [torch.exp(s) for s in scores]
        z = sum(exps)
        out = 0
        for e, v in zip(exps, all_values):
            out = out + (e / z) * v
        outputs.append(out)
    return outputs
