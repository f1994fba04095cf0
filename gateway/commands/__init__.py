"""The commands beside the server, a module each. `gateway.__main__` imports the one that is asked for."""
