"""The page: what people see of the server in a browser.

Templates and static files lie beside the modules. `rendering` renders templates, `assets` serves the static
files. `views` has the smaller views and lists all; each larger one is a module with its own routes.
"""
