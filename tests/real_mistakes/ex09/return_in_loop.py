# what: return inside of the loop
# pattern: return-in-loop
# causes: 1
# true:
# says: inside|after the first|first word
# false: first score only|You return the score of the first word only|last score
def simple_attention_scores(inputs, query):
    scores = torch.zeros(inputs.shape[0], dtype=inputs.dtype)
    for i, word in enumerate(inputs):
        scores[i] = torch.dot(word, query)
        return scores  # <-
