# right: batched matrix product, flattened
def simple_attention_scores(inputs, query):
    return torch.bmm(inputs.unsqueeze(0), query.reshape(1, -1, 1)).flatten()
