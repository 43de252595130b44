"""Fails with a message of many megabytes."""
# Gets: printed too much

raise ValueError("x" * 20 * 2**20)
