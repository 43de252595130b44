# wrong: divided by the root of the number of words once more
# named: scaled again
def attention_weights(all_attention_scores):
    return [softmax(torch.as_tensor(s) / math.sqrt(len(s))) for s in all_attention_scores]
