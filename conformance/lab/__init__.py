"""The laboratory: what a server costs, what it withstands, and what it keeps.

Each command is a module, or a package with a `command`, of its name; `python -m conformance NAME` runs it.
What commands share are plain modules here; of commands only `survive` uses another, whose attackers it lets
loose. The laboratory may import the runner's modules; the runner imports nothing of the laboratory, which is
not part of an installed package.
"""
