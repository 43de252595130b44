# wrong: divided by the root of eight, copied from a text about heads of size 64
# named: divided by √8
def simple_attention_scores(inputs, query):
    # 8 = root of the size of a key in the paper, take the root of that
    scale = torch.sqrt(torch.tensor(8.0, device=inputs.device))
    return (inputs @ query).div(scale)
