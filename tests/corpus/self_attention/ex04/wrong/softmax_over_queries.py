# wrong: softmax runs over the queries instead of over the keys
# named: softmax over queries
def attention_weights(all_attention_scores):
    S = torch.tensor([[float(s) for s in row] for row in all_attention_scores])
    return list(torch.softmax(S, dim=0))
