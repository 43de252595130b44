# right: the (N, N) stack returned where a list is asked for, keepdim sum
def attention_weights(all_attention_scores):
    S = torch.tensor(all_attention_scores)
    E = torch.exp(S)
    return E / E.sum(dim=-1, keepdim=True)
