"""The commands except the server itself, one module each. `gateway.__main__` imports only the one to run."""
