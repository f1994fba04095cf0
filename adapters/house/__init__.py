"""The house players: engines of the server itself, which the hub treats as players without a connection."""
