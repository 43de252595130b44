"""Hands in links, to the gradebook and to others' folders, beside the notebook. Links are not followed."""
# Gets: This exercise is still to do


def attack(notebook, cells, folder):
    (folder / "book.db").symlink_to(f"{COURSE}/gradebook.db")
    (folder / "canary.txt").symlink_to(f"{CANARY}/canary.txt")
    (folder / "others").symlink_to(f"{COURSE}/submitted/alice")
    (folder / "reader.py").symlink_to(f"{GRADER}/judging/judge.py")
    cells["exercise-1"]["source"] = (
        "import os, glob\n"
        "for path in glob.glob('**', recursive=True):\n"
        "    if os.path.isfile(path) and path != 'world.py':\n"
        "        print(open(path, 'rb').read().decode(errors='replace'))\n"
    )
