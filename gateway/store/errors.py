"""The error of a store that cannot be used."""


class StoreError(Exception):
    """The database cannot be opened or used. Its text is one line that a person can do something about."""
