"""How often a property is tried that takes long, and in which little is hidden.

A third as often as others, whichever profile of hypothesis is in use.
"""

from hypothesis import settings

FEW = settings().max_examples // 3
