"""Access control: protected names and tokens, bans, limits, proxies, certificates, origins of websites.

Knows addresses, names and the files that hold them. Does not know connections or dialects.
"""
