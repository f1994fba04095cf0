"""The command ``c4bot``: an engine, or a person, behind any dialect.

It speaks each dialect as a client. Knows the dialects' values (`adapters.dialects`), boards and engines. Must
not know translators, sessions or the hub, so that it relies only on what the dialect promises.
"""
