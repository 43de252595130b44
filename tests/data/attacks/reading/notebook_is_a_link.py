"""Hands in a link to another student's notebook in place of a notebook."""
# Gets: the submission is a link


def attack(notebook, cells, folder):
    (folder / "self_attention.ipynb").symlink_to(f"{COURSE}/submitted/alice/self_attention/self_attention.ipynb")
