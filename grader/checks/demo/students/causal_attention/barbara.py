# Everything right, in loops, and by hand.
def simple_attention_scores(inputs, query):
    attn_scores_2 = torch.empty(inputs.shape[0], dtype=inputs.dtype, device=inputs.device)
    for i, x_i in enumerate(inputs):
        attn_scores_2[i] = torch.dot(x_i, query)
    print(attn_scores_2)
    return attn_scores_2


def _sum(slices):
    total = 0
    for s in slices:
        total = total + s
    return total


def softmax_stable(x, dim=-1):
    slices = torch.unbind(x, dim)
    largest = slices[0]
    for s in slices[1:]:
        largest = torch.maximum(largest, s)
    exps = [torch.exp(s - largest) for s in slices]
    total = _sum(exps)
    return torch.stack([e / total for e in exps], dim)


def all_context_vectors(inputs):
    T = inputs.shape[0]
    attn_scores = torch.empty(T, T, dtype=inputs.dtype, device=inputs.device)
    for i, x_i in enumerate(inputs):
        for j, x_j in enumerate(inputs):
            attn_scores[i, j] = torch.dot(x_i, x_j)
    attn_weights = torch.softmax(attn_scores, dim=1)
    all_context_vecs = torch.matmul(attn_weights, inputs)
    print("all context vectors:", all_context_vecs.shape)
    return all_context_vecs


class SelfAttention_v1(nn.Module):
    def __init__(self, d_in, d_out):
        super().__init__()
        self.W_query = nn.Parameter(torch.rand(d_in, d_out))
        self.W_key = nn.Parameter(torch.rand(d_in, d_out))
        self.W_value = nn.Parameter(torch.rand(d_in, d_out))

    def forward(self, x):
        keys, values = x @ self.W_key, x @ self.W_value
        rows = []
        for x_i in x:
            scores = simple_attention_scores(keys, x_i @ self.W_query)
            weights = torch.softmax(scores / keys.shape[1] ** 0.5, dim=0)
            rows.append(weights @ values)
        return torch.stack(rows)


def mask_then_renormalize(attn_weights):
    rows = []
    for i, row in enumerate(attn_weights):
        seen = row[: i + 1]
        rows.append(F.pad(seen / seen.sum(), (0, len(row) - i - 1)))
    return torch.stack(rows)


def causal_softmax(attn_scores, d_k):
    rows = []
    for i, row in enumerate(attn_scores):
        seen = torch.softmax(row[: i + 1] / d_k**0.5, dim=0)
        rows.append(torch.cat([seen, row.new_zeros(len(row) - i - 1)]))
    return torch.stack(rows)


def inverted_dropout(attn_weights, p, training):
    if not training:
        return attn_weights
    keep = torch.empty_like(attn_weights).bernoulli_(1 - p).bool()
    return torch.where(keep, attn_weights / (1 - p), torch.zeros_like(attn_weights))


class CausalAttention(nn.Module):
    def __init__(self, d_in, d_out, context_length, dropout, qkv_bias=False):
        super().__init__()
        self.W_query = nn.Linear(d_in, d_out, bias=qkv_bias)
        self.W_key = nn.Linear(d_in, d_out, bias=qkv_bias)
        self.W_value = nn.Linear(d_in, d_out, bias=qkv_bias)
        self.dropout = nn.Dropout(dropout)
        self.register_buffer("mask", torch.triu(torch.ones(context_length, context_length), diagonal=1))

    def forward(self, x):
        queries, keys, values = self.W_query(x), self.W_key(x), self.W_value(x)
        out = []
        for t in range(x.shape[1]):
            seen_keys, seen_values = keys[:, : t + 1], values[:, : t + 1]
            scores = (seen_keys * queries[:, t : t + 1]).sum(-1) / keys.shape[-1] ** 0.5  # (B, t + 1)
            weights = self.dropout(torch.softmax(scores, dim=-1))
            out.append((weights.unsqueeze(-1) * seen_values).sum(dim=1))
        return torch.stack(out, dim=1)
