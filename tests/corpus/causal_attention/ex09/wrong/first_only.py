# wrong: return stands in the loop, so it ends after the first word
# named: first score only
def simple_attention_scores(inputs, query):
    for word in inputs:
        score = word.dot(query)
        return score
