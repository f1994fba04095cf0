"""The commands other than the server, a module each. `gateway.__main__` imports the one that is needed."""
