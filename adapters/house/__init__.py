"""The house players: engines of the server itself, which the hub sees as players without a connection."""
