# wrong: a score below zero is replaced by zero
# named: negatives cut off
def simple_attention_scores(inputs, query):
    attn_scores = (query * inputs).sum(dim=1)
    attn_scores = torch.where(attn_scores > 0, attn_scores, torch.zeros_like(attn_scores))
    return attn_scores
