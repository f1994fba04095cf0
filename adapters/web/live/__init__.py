"""Live games: from the feed of the process that plays to the browsers of viewers.

`sender` runs in the process that plays, and sends facts. The others run in the web's process: `state` has the
games that are on, a `channel` the events for all viewers of the same games, `live` updates both while someone
watches, and `paths` sends events to the viewers.
"""
