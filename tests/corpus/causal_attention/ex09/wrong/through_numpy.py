# wrong: right numbers, but numpy lets no gradient through
# named: gradients cut off
def simple_attention_scores(inputs, query):
    return torch.from_numpy(inputs.numpy() @ query.numpy())
