"""The web: a page for people and an API for programs, in a process of its own.

An adapter like the dialects, but no games are played through it. `serving` is the program of the process,
`process` the server's end of it, and `link` the messages between the two. `application` puts together the API
(`api`) and the views (`page`); `server` serves a connection. `openapi.json` describes the API.
"""
