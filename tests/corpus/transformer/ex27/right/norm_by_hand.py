# right: gradients are emptied and clipped by hand
def train_step(model, optimizer, tokens, max_norm=1.0):
    model.train()
    for group in optimizer.param_groups:
        for p in group["params"]:
            p.grad = None
    loss = next_token_loss(model(tokens), tokens)
    loss.backward()
    grads = [p.grad for p in model.parameters() if p.grad is not None]
    norm = torch.linalg.vector_norm(torch.stack([g.norm() for g in grads]))
    if norm > max_norm:
        for g in grads:
            g.mul_(max_norm / norm)
    optimizer.step()
    return loss.detach().item()
