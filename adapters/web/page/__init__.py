"""The page: the server's views in a browser.

Templates and static files are beside the modules. `rendering` renders templates, with the texts of
`sentences` and the shapes of `charts`; `assets` serves the static files. `views` has the smaller views and
lists all; each larger one is a module with its own routes.
"""
