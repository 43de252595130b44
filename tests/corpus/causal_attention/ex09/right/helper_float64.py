# right: a helper function beside, float64 inside, cast back
def dot(a, b):
    return (a.double() * b.double()).sum()


def simple_attention_scores(inputs, query):
    return torch.stack([dot(x, query) for x in inputs]).to(inputs.dtype)
