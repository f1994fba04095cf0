"""Pairing: the protocol `Matchmaker`, and the standard matchmaker with lobby, tables and house players.

May import `gateway.game`. Both packages are pure. Other packages use `matchmaker` and `standard`;
`gateway.cluster` also uses parts of the lobby.
"""
