# wrong: logarithm of the weights
# named: logarithm
def attention_weights(all_attention_scores):
    return [torch.log(softmax(s)) for s in all_attention_scores]
