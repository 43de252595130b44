# Everything right, as in the notebook.
