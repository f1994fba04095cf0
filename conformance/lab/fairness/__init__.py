"""Does nobody lose on time because the server was busy?

`used` knows how much time a bot has used, `players` are bots in pairs that write it down, `job` the
process in which they play while the server is stopped now and then, `burner` what keeps the cores busy,
`log` what the server says of losses on time, `figures` what it all came to, `command` the whole.
"""
