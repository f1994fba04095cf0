"""The load laboratory: what a server costs, what it withstands, and what it keeps.

Each command is a module, or a package with a `command`, of that name; `python -m conformance NAME` runs it.
What commands share are plain modules here: no command imports another. The laboratory may import the runner's
modules; the runner imports nothing of the laboratory, which is not part of an installed package.
"""
