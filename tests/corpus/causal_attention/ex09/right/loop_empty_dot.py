# right: loop that fills torch.empty with torch.dot
def simple_attention_scores(inputs, query):
    attn_scores_2 = torch.empty(inputs.shape[0], dtype=inputs.dtype, device=inputs.device)
    for i, x_i in enumerate(inputs):
        attn_scores_2[i] = torch.dot(x_i, query)
    print(attn_scores_2)
    return attn_scores_2
