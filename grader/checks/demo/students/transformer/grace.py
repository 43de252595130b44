# Two things at once.
def padded_attention(queries, keys, values, lengths, causal=False):
    T, S, d = queries.shape[-2], keys.shape[-2], queries.shape[-1]
    scores = queries @ keys.transpose(-2, -1)
    hidden = torch.arange(S, device=scores.device) > lengths.to(scores.device)[:, None]
    hidden = hidden[:, None, None, :].expand(-1, 1, T, S)
    if causal:
        future = torch.ones(T, S, dtype=torch.bool, device=scores.device).triu(1)
        hidden = hidden | future
    empty = hidden.all(dim=-1, keepdim=True)
    scores = scores.masked_fill(hidden & ~empty, -torch.inf)
    weights = torch.softmax(scores, dim=-1)
    weights = weights.masked_fill(empty, 0.0)
    return weights @ values


class TransformerBlock(nn.Module):
    def __init__(self, d_model, num_heads, d_ff, dropout):
        super().__init__()
        self.norm1 = nn.LayerNorm(d_model)
        self.attention = Attention(d_model, num_heads)
        self.norm2 = nn.LayerNorm(d_model)
        self.ff_in = nn.Linear(d_model, d_ff)
        self.ff_out = nn.Linear(d_ff, d_model)
        self.dropout = nn.Dropout(dropout)

    def forward(self, x):
        x = x + self.attention(self.norm1(x))
        x = x + self.ff_out(F.relu(self.ff_in(self.norm2(x))))
        return x


def train_step(model, optimizer, tokens, max_norm=1.0):
    model.train()
    logits = model(tokens)
    loss = next_token_loss(logits, tokens)
    loss.backward()
    optimizer.step()
    return loss.item()
