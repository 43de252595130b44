# wrong: divided by the sum of the scores, weights instead of scores
# named: divided by the sum
def simple_attention_scores(inputs, query):
    attn_scores_2 = torch.stack([torch.dot(x_i, query) for x_i in inputs])
    attn_weights_2_tmp = attn_scores_2 / attn_scores_2.sum()
    return attn_weights_2_tmp
