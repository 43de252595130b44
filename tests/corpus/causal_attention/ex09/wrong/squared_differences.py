# wrong: the sum of squared differences
# named: squared distance
def simple_attention_scores(inputs, query):
    attn = torch.zeros_like(inputs[:, 0])
    for j in range(inputs.size(1)):
        attn += (inputs[:, j] - query[j]) ** 2
    return attn
