# right: torch.autograd.grad, gradients put in place
def train_step(model, optimizer, tokens, max_norm=1.0):
    model.train()
    optimizer.zero_grad()
    logits = model(tokens)
    loss = next_token_loss(logits, tokens)
    parameters = list(model.parameters())
    for parameter, gradient in zip(parameters, torch.autograd.grad(loss, parameters, allow_unused=True)):
        parameter.grad = gradient
    torch.nn.utils.clip_grad_norm_(model.parameters(), max_norm)
    optimizer.step()
    return loss.item()
