# wrong: one softmax over all scores of all words
# named: softmax over everything
def self_attention(all_queries, all_keys, all_values):
    S = torch.tensor([[float(s) for s in row] for row in attention_scores(all_queries, all_keys)])
    A = softmax(S)
    return weighted_sums(list(A), all_values)
