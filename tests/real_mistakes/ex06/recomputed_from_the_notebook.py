# what: calls compute_qkv with the notebook's data
# pattern: notebook-variables
# causes: 1
# true: the notebook's variables
# says: all_x|notebook
# false: plain average
def self_attention(all_queries, all_keys, all_values):
    q, k, v = compute_qkv(all_x, W_q, W_k, W_v, b_q, b_k, b_v)  # <-
    scores = attention_scores(q, k)
    weights = attention_weights(scores)
    return weighted_sums(weights, v)
