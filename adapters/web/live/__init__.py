"""Live games: from the feed of the process that plays to the browsers of viewers.

`sender` runs in the process that plays, and sends facts as other nodes send them. All others run in the web's
process: `model` holds the live games, a `channel` the events for all viewers of the same games, `channels`
keeps both up to date, and `live` and `paths` serve the viewers.
"""
