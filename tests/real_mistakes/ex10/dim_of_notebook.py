# what: the notebook's scores are shifted
# pattern: notebook-variables
# causes: 1
# true: the notebook's variables
# says: from the notebook|attn_scores
# false: subtract the (mean|minimum)
# follows: not shifted
def softmax_stable(x, dim=-1):
    m = attn_scores.max()  # <-
    e = torch.exp(x - m)
    return e / e.sum(dim=dim, keepdim=True)
