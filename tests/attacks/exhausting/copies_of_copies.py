"""Hopes that the instructor's browser never ends drawing: a copy of a copy, ten at a time. It is not shown."""
# Gets: IPython.core.display.SVG object
from IPython.display import SVG

groups = "".join(f'<g id="a{n}">' + f'<use href="#a{n - 1}" x="1"/>' * 10 + "</g>" for n in range(1, 9))
SVG(f'<svg xmlns="http://www.w3.org/2000/svg"><g id="a0"><rect width="9" height="9"/></g>{groups}</svg>')
