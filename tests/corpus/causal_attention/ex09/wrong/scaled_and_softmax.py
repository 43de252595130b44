# wrong: two mistakes, scaled by the root of d and softmax applied
# named: scaled by √d + softmax applied
def simple_attention_scores(inputs, query):
    attn_scores = inputs @ query / math.sqrt(inputs.shape[-1])
    return torch.softmax(attn_scores, dim=-1)
