# wrong: two mistakes, softmax over the queries and one tensor per key
# named: softmax over queries, one list per key
def attention_weights(all_attention_scores):
    S = torch.tensor([[float(s) for s in row] for row in all_attention_scores])
    return list(torch.softmax(S, dim=0).T)
