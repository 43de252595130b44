# right: vmap over sentences and heads
def linear_attention(queries, keys, values):
    def head(q, k, v):
        kv = torch.einsum("td,te->tde", k, v).cumsum(0)
        return torch.einsum("td,tde->te", q, kv) / torch.einsum("td,td->t", q, k.cumsum(0))[:, None]
    phi = lambda t: F.elu(t) + 1.0
    return torch.vmap(torch.vmap(head))(phi(queries), phi(keys), values)
