# right: dropout on the embeddings, as GPT-2 has it
class TinyGPT(nn.Module):
    def __init__(self, vocab_size, d_model, num_layers, num_heads, context_length, dropout=0.0):
        super().__init__()
        self.context_length = context_length
        self.token_embedding = nn.Embedding(vocab_size, d_model)
        self.position_embedding = nn.Embedding(context_length, d_model)
        self.blocks = nn.ModuleList([TransformerBlock(d_model, num_heads, 4 * d_model, dropout) for _ in range(num_layers)])
        self.drop = nn.Dropout(dropout)
        self.norm = nn.LayerNorm(d_model)
        self.head = nn.Linear(d_model, vocab_size, bias=False)

    def forward(self, tokens):
        B, T = tokens.shape
        x = self.drop(self.token_embedding(tokens) + self.position_embedding(torch.arange(T, device=tokens.device)))
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
