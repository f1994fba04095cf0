"""Who may come in, and as whom: names and their tokens, bans, limits, proxies, certificates, websites.

Knows addresses, names and the files that they are in. Does not know connections or dialects.
"""
