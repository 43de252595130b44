# wrong: the root of the notebook's three numbers in a word is written into the function
# named: divided by √3
def simple_attention_scores(inputs, query):
    scores = torch.matmul(inputs, query)
    return scores / math.sqrt(3)
