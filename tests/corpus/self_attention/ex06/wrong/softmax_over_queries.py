# wrong: softmax over the wrong axis
# named: softmax over queries
def self_attention(all_queries, all_keys, all_values):
    S = torch.tensor([[float(s) for s in row] for row in attention_scores(all_queries, all_keys)])
    A = torch.softmax(S, dim=0)
    return weighted_sums(list(A), all_values)
