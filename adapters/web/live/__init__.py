"""Live games: from the server's feed to the browsers of viewers.

`sender` runs in the server's process, and sends facts. The other modules run in the web process. `state`
holds the live games. `channel` holds the events for all viewers of the same games. `live` updates the state
and the channels while there are viewers. `paths` sends the events to the viewers.
"""
