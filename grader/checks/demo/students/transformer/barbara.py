# Everything right, step by step.
def sinusoidal_positions(length, d_model, base=10000.0):
    rows = []
    for t in range(length):
        row = []
        for i in range(d_model // 2):
            angle = t / base ** (2 * i / d_model)
            row += [math.sin(angle), math.cos(angle)]
        rows.append(row)
    return torch.tensor(rows)


def apply_rope(x, positions, base=10000.0):
    d = x.shape[-1]
    columns = []
    for i in range(d // 2):
        angle = positions.to(torch.float32) * base ** (-2 * i / d)
        a, b = x[..., 2 * i].float(), x[..., 2 * i + 1].float()
        columns.append(a * torch.cos(angle) - b * torch.sin(angle))
        columns.append(a * torch.sin(angle) + b * torch.cos(angle))
    return torch.stack(columns, dim=-1).to(x.dtype)


def padded_attention(queries, keys, values, lengths, causal=False):
    outputs = []
    for q, k, v, n in zip(queries, keys, values, lengths.tolist()):
        if n == 0:
            outputs.append(q.new_zeros(*q.shape[:-1], v.shape[-1]))
            continue
        scores = q @ k[:, :n].mT / math.sqrt(q.shape[-1])
        if causal:
            later = torch.arange(n, device=q.device) > torch.arange(q.shape[1], device=q.device)[:, None]
            scores = scores.masked_fill(later, float("-inf"))
        outputs.append(scores.softmax(-1) @ v[:, :n])
    return torch.stack(outputs)


class RMSNorm(nn.Module):
    def __init__(self, d_model, eps=1e-6):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(d_model))
        self.eps = eps

    def forward(self, x):
        half = x.dtype in (torch.float16, torch.bfloat16)
        z = x.float() if half else x
        mean = torch.einsum("...d,...d->...", z, z)[..., None] / z.shape[-1]
        z = torch.einsum("...d,d->...d", z * (mean + self.eps).rsqrt(), self.weight)
        return z.to(x.dtype)


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
        normalised = self.norm1(x)
        attended = self.attention(normalised)
        dropped = self.dropout(attended)
        after_attention = x + dropped
        normalised = self.norm2(after_attention)
        hidden = self.ff_in(normalised)
        activated = F.gelu(hidden)
        output = self.ff_out(activated)
        dropped = self.dropout(output)
        x = after_attention + dropped
        return x


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
    losses = []
    for b in range(tokens.shape[0]):
        for t in range(tokens.shape[1] - 1):
            target = tokens[b, t + 1]
            if pad is not None and target == pad:
                continue
            losses.append(-torch.log_softmax(logits[b, t], dim=0)[target])
    return torch.stack(losses).mean()


def generate(model, tokens, count, temperature=1.0, top_k=None, generator=None):
    was_training = model.training
    model.eval()
    with torch.no_grad():
        for _ in range(count):
            logits = model(tokens[:, -model.context_length:])[:, -1, :]
            if temperature == 0:
                new = logits.argmax(dim=-1, keepdim=True)
            else:
                logits = logits / temperature
                if top_k is not None:
                    kth = torch.topk(logits, top_k).values[:, [-1]]
                    logits = torch.where(logits < kth, float("-inf"), logits)
                chances = torch.softmax(logits, dim=-1)
                new = torch.stack([torch.multinomial(row, 1, generator=generator) for row in chances])
            tokens = torch.cat((tokens, new), dim=1)
    model.train(was_training)
    return tokens


def train_step(model, optimizer, tokens, max_norm=1.0):
    model.train()
    optimizer.zero_grad()
    logits = model(tokens)
    loss = next_token_loss(logits, tokens)
    loss.backward()
    gradients = [parameter.grad for parameter in model.parameters() if parameter.grad is not None]
    norm = torch.sqrt(sum((gradient ** 2).sum() for gradient in gradients))
    if norm > max_norm:
        for gradient in gradients:
            gradient.mul_(max_norm / norm)
    optimizer.step()
    return loss.item()
