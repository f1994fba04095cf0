"""The page: what people see of the server in a browser.

Templates and static files lie beside the modules. `rendering` renders templates, with the words of
`sentences` and the shapes of `charts`; `assets` serves the static files. `views` has the smaller views and
lists all; each larger one is a module with its own routes.
"""
