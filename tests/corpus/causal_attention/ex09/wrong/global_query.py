# wrong: the scores of the notebook's inputs with its second word, from globals
# named: nothing
word_vectors = torch.tensor(
    [[0.43, 0.15, 0.89], [0.55, 0.87, 0.66], [0.57, 0.85, 0.64], [0.22, 0.58, 0.33], [0.77, 0.25, 0.10], [0.05, 0.80, 0.55]]
)


def simple_attention_scores(inputs, query):
    return word_vectors @ word_vectors[1]
