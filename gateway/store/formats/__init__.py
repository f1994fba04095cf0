"""Games as text, one module for each format, each with the same two faces.

`write` makes an iterator of pieces of text, each whole lines, out of an iterator of games; `read` makes games
out of an iterator of such pieces, or of lines. Neither holds more than one game. What `write` wrote, `read`
reads back; it raises ValueError for what is no such text. `sheet`, which is for spreadsheets, has no `read`:
what these would misread it says otherwise. In none of the formats is there a character that nobody sees.
"""
