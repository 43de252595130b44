"""Nests lists deeper than a parser can go."""
# Gets: it is not valid JSON


def attack(notebook, cells, folder):
    return '{"cells": ' + "[" * 200_000 + "]" * 200_000 + "}"
