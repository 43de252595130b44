"""The attention course: one file for each exercise. Only grader/catalogue.py opens them."""
