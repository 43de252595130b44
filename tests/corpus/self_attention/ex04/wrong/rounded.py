# wrong: rounded to two decimals
# named: nothing
def attention_weights(all_attention_scores):
    return [torch.round(softmax(s), decimals=2) for s in all_attention_scores]
