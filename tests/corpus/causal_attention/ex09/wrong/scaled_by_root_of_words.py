# wrong: divided by the root of the number of words
# named: divided by √T
def simple_attention_scores(inputs, query):
    T = len(inputs)
    attn_scores = torch.zeros(T, device=inputs.device)
    for i in range(T):
        attn_scores[i] = torch.dot(inputs[i], query) / math.sqrt(T)
    return attn_scores
