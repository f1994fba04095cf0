"""What a move costs a server: load from another process, floors beside it, and a verdict.

`script` and the dialects' modules beside it are pure: they know what a bot hears and what it answers.
`bots`, `load` and `worker` are the process that plays; `floors` the two bare servers that a gateway is
measured against; `plan` what a run consists of; `figures` and `table` what it came to; `command` the whole.
"""
