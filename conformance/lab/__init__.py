"""The laboratory: commands that measure, attack and break servers.

`python -m conformance NAME` runs the module NAME, or the module `command` of the package NAME. The other
modules here are shared by several commands. `survive` uses parts of `abuse`; apart from that, no command uses
another. The laboratory may import the runner's modules. The runner must not import the laboratory, because an
installed package does not contain it.
"""
