# wrong: calls compute_qkv on the notebook's globals and ignores the arguments
# named: nothing
def self_attention(all_queries, all_keys, all_values):
    all_queries, all_keys, all_values = compute_qkv(all_x, W_q, W_k, W_v, b_q, b_k, b_v)
    scores = attention_scores(all_queries, all_keys)
    weights = attention_weights(scores)
    return weighted_sums(weights, all_values)
