"""Readable transcripts of the three dialects, and a runner that plays them against any server.

Knows bytes, frames and lines. Must not know the gateway: nothing here imports `gateway`, nor a
dialect's codec, translator or connection, because a runner that shared them would agree with their
mistakes. Whatever is needed of a dialect (a dropped disc, a websocket frame) is written here once
more, naively.
"""
