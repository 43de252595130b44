# wrong: two mistakes, one more scaling and rounding
# named: nothing
def attention_weights(all_attention_scores):
    return [torch.round(softmax(torch.as_tensor(s) / len(s)), decimals=2) for s in all_attention_scores]
