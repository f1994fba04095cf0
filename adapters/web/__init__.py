"""The web: a page for people and an API for programs, in a process of its own.

No games are played through this adapter. `serving` is the program of the process. `process` runs in the
server, and starts that program. `link` defines the messages between the two. `application` combines the API
(`api`) and the views (`page`). `server` serves HTTP connections. `openapi.json` describes the API.
"""
