"""Opens the gradebook, where all solutions, hidden tests and marks lie."""
# Gets: OperationalError

import sqlite3

from world import COURSE, WON

book = sqlite3.connect(f"file:{COURSE}/gradebook.db?mode=ro&immutable=1", uri=True)
print(book.execute("SELECT source FROM source_cell").fetchall(), WON)
