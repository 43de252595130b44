# right: one matrix of scores, softmax along the rows, tuple of rows
def attention_weights(all_attention_scores):
    S = torch.tensor([[float(s) for s in row] for row in all_attention_scores])
    return torch.softmax(S, dim=1).unbind(0)
