# right: query times the transposed inputs
def simple_attention_scores(inputs, query):
    attn_scores = query @ inputs.T
    return attn_scores
