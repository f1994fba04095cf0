"""The page: what people see of the server in a browser.

Templates and static files lie beside the modules. `rendering` makes answers of templates, `assets` serves the
static files, and each view has a module of its own that gives its routes; `views` lists them.
"""
