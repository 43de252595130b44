# right: torch.mv
def simple_attention_scores(inputs, query):
    return torch.mv(inputs, query)
