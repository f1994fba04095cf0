"""The web: a page for people and an API for programs, in a process of its own.

An adapter like the dialects, but nobody plays through it. From the inside out: `query` reads parameters,
`answers` makes the JSON of each path, `perfect` solves positions, `health` checks the store, `api` has the
paths of the API, `page` the views, `live` what happens now, `application` puts them together and answers
errors, `server` serves one connection, and `serving` is the program of the process. A `link` connects that
program with the server; `process` is the server's end of it, `remote` the other. `openapi.json` describes
the API, and is served as it is.
"""
