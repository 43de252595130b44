# wrong: gradients are always scaled to max_norm
# named: always brought to max_norm
def train_step(model, optimizer, tokens, max_norm=1.0):
    model.train()
    optimizer.zero_grad()
    logits = model(tokens)
    loss = next_token_loss(logits, tokens)
    loss.backward()
    norm = torch.sqrt(sum((p.grad ** 2).sum() for p in model.parameters() if p.grad is not None))
    for p in model.parameters():
        if p.grad is not None:
            p.grad *= max_norm / norm
    optimizer.step()
    return loss.item()
