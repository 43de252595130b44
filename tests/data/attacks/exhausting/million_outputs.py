"""Displays a million small things: each is short, and their number is what hurts."""
# Gets: printed too much

for number in range(8000):
    get_ipython().display_pub.publish({"text/plain": "."})
