"""The running server: listeners, the timekeeper, shutdown, logs, metrics, the supervisor of several servers.

Knows no adapter: `gateway.cli` hands them in.
"""
