# wrong: the scores pass through bfloat16
# named: nothing
def attention_weights(all_attention_scores):
    return [softmax(torch.as_tensor(s).to(torch.bfloat16)).float() for s in all_attention_scores]
