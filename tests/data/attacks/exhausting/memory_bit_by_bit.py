"""Fills memory until the machine stops others."""
# Gets: MemoryError

from world import WON

blocks = []
try:
    while len(blocks) < 2 * 2**10:
        blocks.append(b"x" * 2**20 + bytes([len(blocks) % 256]))
finally:
    full = len(blocks)
    blocks.clear()
print(WON)
