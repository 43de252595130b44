# wrong: recomputes everything from the notebook's all_x and weights, ignores the argument
# named: nothing
def attention_weights(all_attention_scores):
    queries, keys, _ = compute_qkv(all_x, W_q, W_k, W_v, b_q, b_k, b_v)
    return [softmax(s) for s in attention_scores(queries, keys)]
