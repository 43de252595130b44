# wrong: concatenated in numpy: no gradients
import numpy as np


class MultiHeadAttentionWrapper(nn.Module):
    def __init__(self, d_in, d_out, context_length, dropout, num_heads, qkv_bias=False):
        super().__init__()
        self.heads = nn.ModuleList(
            [CausalAttention(d_in, d_out, context_length, dropout, qkv_bias) for _ in range(num_heads)]
        )

    def forward(self, x):
        outs = [head(x).detach().numpy() for head in self.heads]
        return torch.from_numpy(np.concatenate(outs, axis=-1))
