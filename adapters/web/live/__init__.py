"""Live games: from the feed of the process that plays to the browsers of viewers.

`sender` runs in the process that plays, and sends facts as other nodes send them. The others run in the web's
process: `state` is what is on, a `channel` has the events for all viewers of the same games, `live` keeps
both up to date while somebody watches, and `paths` writes them to the viewers.
"""
