# wrong: the eps of the last norm is 1e-6
# named: nothing
class TinyGPT(nn.Module):
    def __init__(self, vocab_size, d_model, num_layers, num_heads, context_length, dropout=0.0):
        super().__init__()
        self.token_embedding = nn.Embedding(vocab_size, d_model)
        self.position_embedding = nn.Embedding(context_length, d_model)
        self.blocks = nn.ModuleList(TransformerBlock(d_model, num_heads, 4*d_model, dropout) for _ in range(num_layers))
        self.norm = nn.LayerNorm(d_model, eps=1e-6)
        self.head = nn.Linear(d_model, vocab_size, bias=False)
        self.context_length = context_length
    def forward(self, tokens):
        x = self.token_embedding(tokens) + self.position_embedding(torch.arange(tokens.shape[1], device=tokens.device))
        for b in self.blocks: x = b(x)
        return self.head(self.norm(x))
