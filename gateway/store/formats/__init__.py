"""Games as text, one module for each format.

`write` makes an iterator of pieces of text, each whole lines, out of an iterator of games; it holds one game
at most. No format writes a character that nobody sees.
"""
