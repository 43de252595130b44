# wrong: divided by the root of the notebook's N, which is always 3
# named: the notebook's variables
def attention_scores(all_queries, all_keys):
    scale = 1 / math.sqrt(N)
    out = []
    for q in all_queries:
        line = []
        for k in all_keys:
            line.append(scale * torch.matmul(q.T, k).item())
        out.append(line)
    return out
