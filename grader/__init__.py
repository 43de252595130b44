"""Grades a course's notebooks: correctly, with explanations, and hard to cheat.

`__init__.pyi` lists the exports: all that authors of exercises need. A name is imported when it is first used, since
the sandbox imports this package, too, and must not hold what a judge knows. Code that does not need torch does not
wait for it.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
