"""A Connect-Four server that several dialects of client can play on together."""

__version__ = "0.3.0"
