# wrong: copies of the gradients are clipped
# named: not clipped
def train_step(model, optimizer, tokens, max_norm=1.0):
    model.train()
    optimizer.zero_grad()
    logits = model(tokens)
    loss = next_token_loss(logits, tokens)
    loss.backward()
    gradients = [p.grad.clone() for p in model.parameters() if p.grad is not None]
    norm = torch.sqrt(sum((g ** 2).sum() for g in gradients))
    gradients = [g * min(1.0, max_norm / norm.item()) for g in gradients]
    optimizer.step()
    return loss.item()
