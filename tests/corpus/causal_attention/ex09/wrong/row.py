# wrong: right numbers as a row, (1, T)
# named: nothing
def simple_attention_scores(inputs, query):
    return query.unsqueeze(0) @ inputs.T
