"""The page: the server's views in a browser.

`rendering` renders the templates in the folder ``templates``, with texts from `sentences` and shapes from
`charts`. `assets` serves the files in the folder ``static``. `views` contains the smaller views, and lists
the routes of all views. Each larger view is a module of its own.
"""
