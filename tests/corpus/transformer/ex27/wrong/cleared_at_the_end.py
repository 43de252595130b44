# wrong: gradients are cleared at the end only
# named: gradients cleared too late
def train_step(model, optimizer, tokens, max_norm=1.0):
    model.train()
    logits = model(tokens)
    loss = next_token_loss(logits, tokens)
    loss.backward()
    torch.nn.utils.clip_grad_norm_(model.parameters(), max_norm)
    optimizer.step()
    optimizer.zero_grad()
    return loss.item()
