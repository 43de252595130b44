# wrong: exponentials that are not normalised
# named: not normalised
def attention_weights(all_attention_scores):
    return [torch.exp(torch.as_tensor(s)) for s in all_attention_scores]
