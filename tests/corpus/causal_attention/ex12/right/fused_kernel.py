# right: F.scaled_dot_product_attention on a batch of one
class SelfAttention_v1(nn.Module):
    def __init__(self, d_in, d_out):
        super().__init__()
        self.W_query = nn.Parameter(torch.rand(d_in, d_out))
        self.W_key = nn.Parameter(torch.rand(d_in, d_out))
        self.W_value = nn.Parameter(torch.rand(d_in, d_out))

    def forward(self, x):
        x = x.unsqueeze(0)
        out = F.scaled_dot_product_attention(x @ self.W_query, x @ self.W_key, x @ self.W_value)
        return out.squeeze(0)
