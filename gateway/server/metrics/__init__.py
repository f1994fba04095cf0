"""Metrics in the format of Prometheus.

Only `families` knows prometheus-client. Labels must not have values that clients choose, such as the name of
a player, a table or a path.
"""
