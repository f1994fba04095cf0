"""Does any text cost the server more time than it may?

`families` are texts made by hand, each the worst of its kind that came to mind; `search` looks for worse
ones; `meter` reads a text as a server does, and answers it; `command` the whole.
"""
