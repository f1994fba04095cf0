"""Does a server stay as good when it grows: more games at once, more who wait, more games over its life?

`players` are bots that count games; `job` the process in which they play; `parts` what is measured, each with
a gateway of its own; `rows` what it came to, beside the goals; `command` the whole.
"""
