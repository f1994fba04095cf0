"""The running server: listeners, the timekeeper, shutdown, options, logs.

May import everything of `gateway`; knows no adapter: `gateway.cli` hands them in.
"""
