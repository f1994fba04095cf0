"""The house players: engines of the server's own, which the hub sees as players without a wire."""
