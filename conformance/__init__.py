"""Readable transcripts of the three dialects, and a runner that plays them against any server.

Works with bytes, frames and lines. Nothing here imports `gateway`, or a dialect's codec, translator or
connection: a runner that shared that code would share its mistakes. What the runner needs of a dialect (where
a disc lands, a websocket frame) is implemented here a second time, in the simplest way.
"""
