# wrong: only the words up to the query get a weight
# named: future hidden
def attention_weights(all_attention_scores):
    out = []
    for i, s in enumerate(all_attention_scores):
        s = torch.as_tensor(s).clone()
        s[i + 1 :] = -float("inf")
        out.append(torch.softmax(s, dim=0))
    return out
