# wrong: exp of the dot products, the first half of softmax
# named: exponentials
def simple_attention_scores(inputs, query):
    dots = inputs @ query
    return dots.exp()
