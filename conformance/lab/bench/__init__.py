"""What a move costs a server: load from another process, floors beside it, and a verdict."""
