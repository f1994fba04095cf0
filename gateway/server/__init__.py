"""The running server: listeners, timekeeper, shutdown, logs, metrics, the supervisor of several servers.

Imports no adapter: `gateway.cli` passes them in.
"""
