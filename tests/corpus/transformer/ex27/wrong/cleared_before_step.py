# wrong: cleared between backward and the step
# named: nothing learned
def train_step(model, optimizer, tokens, max_norm=1.0):
    model.train()
    logits = model(tokens)
    loss = next_token_loss(logits, tokens)
    loss.backward()
    torch.nn.utils.clip_grad_norm_(model.parameters(), max_norm)
    optimizer.zero_grad()
    optimizer.step()
    return loss.item()
