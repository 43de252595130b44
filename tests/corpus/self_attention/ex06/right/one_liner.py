# right: one nested comprehension over the own softmax
def self_attention(all_queries, all_keys, all_values):
    return [sum(w * v for w, v in zip(softmax([(q * k).sum() / len(q) ** 0.5 for k in all_keys]), all_values)) for q in all_queries]
