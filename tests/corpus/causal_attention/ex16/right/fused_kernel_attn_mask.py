# right: F.scaled_dot_product_attention with the boolean mask, True is visible
class CausalAttention(nn.Module):
    def __init__(self, d_in, d_out, context_length, dropout, qkv_bias=False):
        super().__init__()
        self.W_query = nn.Linear(d_in, d_out, bias=qkv_bias)
        self.W_key = nn.Linear(d_in, d_out, bias=qkv_bias)
        self.W_value = nn.Linear(d_in, d_out, bias=qkv_bias)
        self.dropout = nn.Dropout(dropout)
        self.register_buffer("mask", torch.ones(context_length, context_length).tril().bool())

    def forward(self, x):
        n = x.shape[1]
        out = F.scaled_dot_product_attention(
            self.W_query(x).unsqueeze(1),
            self.W_key(x).unsqueeze(1),
            self.W_value(x).unsqueeze(1),
            attn_mask=self.mask[:n, :n],
            dropout_p=self.dropout.p if self.dropout.training else 0,
        )
        return out.squeeze(1)
