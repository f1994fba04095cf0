"""The error of a store that cannot be used."""


class StoreError(Exception):
    """The database cannot be opened or used. Its text is one line for the operator."""


class NotKeptError(StoreError):
    """There is no database: results are not kept."""

    def __init__(self) -> None:
        super().__init__("results are not kept here; to keep them, start the server with --db FILE")
