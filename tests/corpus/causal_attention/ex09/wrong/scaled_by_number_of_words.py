# wrong: divided by the number of words
# named: divided by T
def simple_attention_scores(inputs, query):
    attn_scores = torch.matmul(inputs, query)
    return attn_scores / len(inputs)
