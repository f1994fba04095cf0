"""The web: a page for people and an API for programs, in a process of its own.

An adapter like the dialects, but nobody plays through it. From the inside out: `query` reads parameters,
`origins` says which websites may read, `answers` makes the JSON of each path and a module beside it a
dialect's own documents, `perfect` and its program `solving` solve positions, `health` checks the store, `api`
has the paths of the API, `admin` the operator's, `site` what these are made from, `page` the views, `live`
what happens now, `application` puts them together and answers errors, `server` serves one connection, and
`serving` is the program of the process. A `link` connects that program with the server; `process` is the
server's end of it, `remote` the other. `openapi.json` describes the API, and is served as it is.
"""
