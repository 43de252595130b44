# wrong: right softmax, but one tensor per key instead of per query
# named: one list per key
def attention_weights(all_attention_scores):
    W = torch.stack([softmax(s) for s in all_attention_scores])
    return [W[:, j] for j in range(W.shape[1])]
