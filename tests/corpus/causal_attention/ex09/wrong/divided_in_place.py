# wrong: right numbers, but a tensor that the gradient of exp needs is changed in place
# named: gradients ruined in place
def simple_attention_scores(inputs, query):
    scores = inputs @ query
    largest = scores.abs().max() + 1
    scaled = torch.exp(scores / largest)
    scores = torch.log(scaled) * largest
    scaled.zero_()
    return scores
