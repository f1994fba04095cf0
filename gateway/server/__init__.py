"""The running server: listeners, timekeeper, shutdown, logs, metrics, the supervisor of several servers.

Does not import the adapters; `gateway.cli` passes them to it.
"""
