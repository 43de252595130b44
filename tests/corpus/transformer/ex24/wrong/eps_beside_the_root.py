# wrong: the norms add eps to the root, not under it
# named: nothing
class N(nn.Module):
    def __init__(self, d):
        super().__init__(); self.weight=nn.Parameter(torch.ones(d)); self.bias=nn.Parameter(torch.zeros(d))
    def forward(self, x):
        m=x.mean(-1,keepdim=True); v=x.var(-1,keepdim=True,unbiased=False)
        return self.weight*(x-m)/(v.sqrt()+1e-5)+self.bias

class TransformerBlock(nn.Module):
    def __init__(self, d_model, num_heads, d_ff, dropout):
        super().__init__()
        self.norm1 = N(d_model); self.norm2 = N(d_model)
        self.attention = Attention(d_model, num_heads)
        self.ff_in = nn.Linear(d_model, d_ff); self.ff_out = nn.Linear(d_ff, d_model)
        self.dropout = nn.Dropout(dropout)
    def forward(self, x):
        x = x + self.dropout(self.attention(self.norm1(x)))
        return x + self.dropout(self.ff_out(F.gelu(self.ff_in(self.norm2(x)))))

