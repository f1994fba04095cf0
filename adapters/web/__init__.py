"""What is stored, by HTTP, as JSON: the three documents of an original server, and an API of our own.

An adapter like the dialects, but nobody plays through it: it only asks the store, in a process of its own.
From the inside out: `query` is what is asked for, `answers` the JSON of each path, `health` whether results
are taken in, `application` paths and statuses, `server` one connection, `serving` the program of the
process. Between the server and that program is a `link`; `process` is the server's end of it, `remote` the
other. `openapi.json` describes what is answered, and is served as it is.
"""
