"""The command ``c4bot``: an engine or a person plays on a server, in any dialect.

Speaks each dialect as a client. Knows the dialects' values (`adapters.dialects`), boards and engines. Must
not know translators, sessions or the hub, so that it relies only on what the dialect promises.
"""
