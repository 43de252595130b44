# wrong: backward of minus the loss
# named: uphill
def train_step(model, optimizer, tokens, max_norm=1.0):
    model.train()
    optimizer.zero_grad()
    logits = model(tokens)
    loss = next_token_loss(logits, tokens)
    (-loss).backward()
    torch.nn.utils.clip_grad_norm_(model.parameters(), max_norm)
    optimizer.step()
    return loss.item()
