"""Code that tests of several rooms share. What one room needs lies beside its tests."""
