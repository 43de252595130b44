# wrong: one softmax over all N*N scores
# named: softmax over everything
def attention_weights(all_attention_scores):
    S = torch.tensor([[float(s) for s in row] for row in all_attention_scores])
    return list(torch.softmax(S.flatten(), dim=0).reshape(S.shape))
