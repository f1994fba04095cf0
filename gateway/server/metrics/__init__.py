"""Metrics in the format of Prometheus.

Only `families` knows prometheus-client. Clients must not be able to choose the value of a label, such as the
name of a player, a table or a path.
"""
