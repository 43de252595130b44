# what: the number of words is that of the notebook's list
# pattern: notebook-variables
# causes: 1
# true: the notebook's variables
# says: from the notebook|`words`
# false: last score|ends too early|six words of the notebook
def simple_attention_scores(inputs, query):
    attn_scores_2 = torch.zeros(len(words), dtype=inputs.dtype)  # <-
    for i, x_i in enumerate(inputs):
        attn_scores_2[i] = torch.dot(x_i, query)
    return attn_scores_2
