"""A Connect-Four server on which clients of several dialects play each other."""

__version__ = "0.3.0"
