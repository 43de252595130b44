"""The attention course: one file for each exercise, opened by grader/catalogue.py alone, and what they share."""
