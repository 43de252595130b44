"""Mistakes in code where each query chooses its keys, as lines: exercise 43."""

from __future__ import annotations

# Lines of code that makes a table of all keys, and hides those that are not chosen.
TABLE = """
    is_chosen = torch.zeros(B, T, T, dtype=torch.bool, device=queries.device).scatter(-1, chosen, ~hidden[:, 0])
    chosen, hidden = torch.arange(T, device=queries.device).expand(B, T, T), ~is_chosen[:, None]
"""
ALL = "chosen = torch.arange(T, device=queries.device).expand(B, T, T)"
NOTHING_HIDDEN = "hidden = torch.zeros_like(chosen, dtype=torch.bool)[:, None]"
BY_REAL_SCORES = """
    later = torch.ones(T, T, dtype=torch.bool, device=queries.device).triu(1)
    scores = (queries @ keys.mT / math.sqrt(d)).masked_fill(later, -math.inf)
    least = scores.topk(min(top_k, T), dim=-1).values[..., -1:]
    return torch.softmax(scores.masked_fill(scores < least, -math.inf), dim=-1) @ values
"""
BY_HEADS = """
    if index_q.shape[1] < queries.shape[1]:
        raise IndexError
    later = torch.ones(T, T, dtype=torch.bool, device=queries.device).triu(1)
    index_scores = (index_w.mT[..., None] * torch.relu(products))[:, : queries.shape[1]].masked_fill(later, -math.inf)
    chosen = torch.zeros_like(index_scores).scatter(-1, index_scores.topk(min(top_k, T), dim=-1).indices, 1.0)
    hidden = (chosen == 0) | later
    return torch.softmax((queries @ keys.mT / math.sqrt(d)).masked_fill(hidden, -math.inf), dim=-1) @ values
"""
# Of equal scores, topk may choose others if it gets the seen keys alone. A key that is hidden fills the first rows.
ROW_BY_ROW = """
    rows = [index_scores[:, i, : i + 1].topk(min(top_k, i + 1), dim=-1).indices for i in range(T)]
    chosen = torch.stack([F.pad(row, (0, min(top_k, T) - row.shape[-1]), value=T - 1) for row in rows], dim=1)
"""
