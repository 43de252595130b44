"""Mistakes that several exercises know, each written once, by what they are about.

In capitals they are as they are, and change steps of references that have the same names. The functions make one for a
reference with steps of its own: `sign_flipped(scale=...)`.
"""
