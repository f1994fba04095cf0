"""The laboratory: commands that measure, attack and break servers.

`python -m conformance NAME` runs a command: the module of that name, or `command` in the package of that
name. The other modules here are shared by commands. Only `survive` uses another command, the attackers of
`abuse`. The laboratory may import the runner's modules. The runner must not import the laboratory, which is
not part of an installed package.
"""
