# right: grad = None for every parameter, the loss read before the step
def train_step(model, optimizer, tokens, max_norm=1.0):
    model.train()
    for parameter in model.parameters():
        parameter.grad = None
    logits = model(tokens)
    loss = next_token_loss(logits, tokens)
    value = loss.detach().cpu().item()
    loss.backward()
    torch.nn.utils.clip_grad_norm_(model.parameters(), max_norm)
    optimizer.step()
    return value
