# Pairs as Llama has them, and no positions in the model.
def sinusoidal_positions(length, d_model, base=10000.0):
    t = torch.arange(length, dtype=torch.float32)[:, None]
    even = torch.arange(0, d_model, 2, dtype=torch.float32)
    angles = t / base ** (even / d_model)
    table = torch.zeros(length, d_model)
    table[:, : d_model // 2] = torch.sin(angles)
    table[:, d_model // 2 :] = torch.cos(angles)
    return table


def apply_rope(x, positions, base=10000.0):
    d = x.shape[-1]
    rates = base ** (-torch.arange(0, d, 2, device=x.device).float() / d)
    angles = positions.float()[:, None] * rates
    cos, sin = angles.cos(), angles.sin()
    a, b = x.chunk(2, dim=-1)
    turned = torch.cat([a * cos - b * sin, a * sin + b * cos], dim=-1)
    return turned.to(x.dtype)


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
        x = self.token_embedding(tokens)
        for block in self.blocks:
            x = block(x)
        return self.head(self.norm(x))


def next_token_loss(logits, tokens, pad=None):
    vocab_size = logits.shape[-1]
    logits = logits[:, :-1].reshape(-1, vocab_size)
    targets = tokens[:, 1:].reshape(-1)
    if pad is None:
        return F.cross_entropy(logits, targets)
    return F.cross_entropy(logits, targets, ignore_index=pad)
