# wrong: the scores are only made tensors
# named: raw scores as weights
def attention_weights(all_attention_scores):
    return [torch.as_tensor(s) for s in all_attention_scores]
