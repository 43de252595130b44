# wrong: sigmoid instead of softmax
# named: sigmoid
def attention_weights(all_attention_scores):
    return [torch.sigmoid(torch.as_tensor(s)) for s in all_attention_scores]
