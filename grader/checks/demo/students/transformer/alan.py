# Everything right, in few lines.
def sinusoidal_positions(length, d_model, base=10000.0):
    column = torch.arange(d_model)
    rates = base ** (-(column - column % 2) / d_model)
    angles = torch.arange(length)[:, None] * rates
    return torch.sin(angles + (column % 2) * (math.pi / 2))


def rotate_every_two(x):
    return torch.stack((-x[..., 1::2], x[..., ::2]), dim=-1).reshape(x.shape)

def apply_rope(x, positions, base=10000.0):
    d = x.shape[-1]
    rates = torch.exp(-math.log(base) * torch.arange(0, d, 2, device=x.device) / d)
    angles = torch.einsum("t,i->ti", positions.to(torch.float32), rates).repeat_interleave(2, dim=-1)
    return x * angles.cos().to(x.dtype) + rotate_every_two(x) * angles.sin().to(x.dtype)


def padded_attention(queries, keys, values, lengths, causal=False):
    T, S = queries.shape[-2], keys.shape[-2]
    seen = torch.arange(S, device=keys.device)[None, :] < lengths.to(keys.device)[:, None]
    seen = seen[:, None, None, :].expand(-1, -1, T, -1)
    if causal:
        seen = seen & torch.ones(T, S, dtype=torch.bool, device=keys.device).tril()
    any_seen = seen.any(-1, keepdim=True)
    out = F.scaled_dot_product_attention(queries, keys, values, attn_mask=seen | ~any_seen)
    return torch.where(any_seen, out, torch.zeros_like(out))


class RMSNorm(nn.Module):
    def __init__(self, d_model: int, eps: float = 1e-6):
        super().__init__()
        self.eps = eps
        self.weight = nn.Parameter(torch.ones(d_model))

    def _norm(self, x):
        return x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + self.eps)

    def forward(self, x):
        output = self._norm(x.float()).type_as(x)
        return output * self.weight.to(x.dtype)


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
        return self.second(self.first(x))

    def first(self, x):
        return x + self.dropout(self.attention(self.norm1(x)))

    def second(self, x):
        return x + self.dropout(self.ff_out(F.gelu(self.ff_in(self.norm2(x)))))


class TinyGPT(nn.Module):
    def __init__(self, vocab_size, d_model, num_layers, num_heads, context_length, dropout=0.0):
        super().__init__()
        self.context_length = context_length
        self.token_embedding = nn.Embedding(vocab_size, d_model)
        self.position_embedding = nn.Embedding(context_length, d_model)
        self.blocks = nn.Sequential(*(TransformerBlock(d_model, num_heads, 4 * d_model, dropout) for _ in range(num_layers)))
        self.norm = nn.LayerNorm(d_model)
        self.head = nn.Linear(d_model, vocab_size, bias=False)

    def forward(self, tokens):
        B, T = tokens.shape
        x = self.token_embedding(tokens) + self.position_embedding(torch.arange(T, device=tokens.device))
        x = self.blocks(x)
        return self.head(self.norm(x))


def next_token_loss(logits, tokens, pad=None):
    vocab_size = logits.shape[-1]
    logits = logits[:, :-1].reshape(-1, vocab_size)
    targets = tokens[:, 1:].reshape(-1)
    if pad is None:
        return F.cross_entropy(logits, targets)
    return F.cross_entropy(logits, targets, ignore_index=pad)


@torch.no_grad()
def generate(model, tokens, count, temperature=1.0, top_k=None, generator=None):
    was_training = model.training
    model.eval()
    for _ in range(count):
        logits = model(tokens[:, -model.context_length:])[:, -1, :]
        if temperature == 0:
            new = logits.argmax(dim=-1, keepdim=True)
        else:
            logits = logits / temperature
            if top_k is not None:
                kth = torch.topk(logits, top_k).values[:, [-1]]
                logits = torch.where(logits < kth, float("-inf"), logits)
            new = torch.multinomial(torch.softmax(logits, dim=-1), num_samples=1, generator=generator)
        tokens = torch.cat((tokens, new), dim=1)
    model.train(was_training)
    return tokens


def train_step(model, optimizer, tokens, max_norm=1.0):
    model.train()
    optimizer.zero_grad()
    logits = model(tokens)
    loss = next_token_loss(logits, tokens)
    loss.backward()
    torch.nn.utils.clip_grad_norm_(model.parameters(), max_norm)
    optimizer.step()
    return loss.item()
