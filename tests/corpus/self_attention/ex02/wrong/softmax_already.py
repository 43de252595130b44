# wrong: softmax is applied here already
# named: softmax already applied
def attention_scores(all_queries, all_keys):
    out = []
    for q in all_queries:
        s = torch.stack([(q * k).sum() / math.sqrt(q.shape[0]) for k in all_keys])
        out.append(list(torch.softmax(s, dim=0)))
    return out
