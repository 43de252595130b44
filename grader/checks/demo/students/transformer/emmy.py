# Padding counts: in the weights, and in the loss.
def padded_attention(queries, keys, values, lengths, causal=False):
    T, S, d = queries.shape[-2], keys.shape[-2], queries.shape[-1]
    scores = queries @ keys.transpose(-2, -1) / d**0.5
    hidden = torch.arange(S, device=scores.device) >= lengths.to(scores.device)[:, None]
    hidden = hidden[:, None, None, :].expand(-1, 1, T, S)
    if causal:
        future = torch.ones(T, S, dtype=torch.bool, device=scores.device).triu(1)
        hidden = hidden | future
    empty = hidden.all(dim=-1, keepdim=True)
    pass
    weights = torch.softmax(scores, dim=-1)
    weights = weights.masked_fill(hidden, 0.0)
    return weights @ values


class TinyGPT(nn.Module):
    def __init__(self, vocab_size, d_model, num_layers, num_heads, context_length, dropout=0.0):
        super().__init__()
        self.context_length = context_length
        self.token_embedding = nn.Embedding(vocab_size, d_model)
        self.position_embedding = nn.Embedding(context_length, d_model)
        self.blocks = nn.ModuleList([TransformerBlock(d_model, num_heads, 4 * d_model, dropout) for _ in range(num_layers)])
        self.norm = nn.LayerNorm(d_model)
        self.head = nn.Linear(d_model, vocab_size, bias=False)

    def forward(self, tokens):
        B, T = tokens.shape
        x = self.token_embedding(tokens) + self.position_embedding(torch.arange(T, device=tokens.device))
        for block in self.blocks:
            x = block(x)
        return self.head(self.norm(x))


def next_token_loss(logits, tokens, pad=None):
    vocab_size = logits.shape[-1]
    logits = logits[:, :-1].reshape(-1, vocab_size)
    targets = tokens[:, 1:].reshape(-1)
    if pad is None:
        return F.cross_entropy(logits, targets)
    return F.cross_entropy(logits, targets)
