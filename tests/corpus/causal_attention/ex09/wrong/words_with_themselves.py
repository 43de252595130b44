# wrong: the dot product of each word with itself
# named: every word with itself
def simple_attention_scores(inputs, query):
    attn_scores = [torch.dot(inputs[i], inputs[i]) for i in range(inputs.shape[0])]
    return torch.stack(attn_scores)
