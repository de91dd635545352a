"""novikoff: perceptrons that carry their proof.

`__init__.pyi` lists the public names. They are resolved on first use, so that `import novikoff` costs almost
nothing.
"""

from novikoff.lazy import attach

__version__ = "0.1.0"

attach(__name__)
