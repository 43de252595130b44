"""Shows HTML of ampersands alone, on which a browser's parser spends seconds for each megabyte; too many count as tags do."""
# Gets: NameError
from IPython.display import HTML, display
for _ in range(3):
    display(HTML("&" * 10**6))
this_is_where_it_ends
