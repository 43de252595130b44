# wrong: scores of all words with all words, the query is not used
# named: every word with every word
def simple_attention_scores(inputs, query):
    return inputs @ inputs.T
