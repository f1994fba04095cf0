"""Fuzzing: can any bytes make a reader of the gateway fail, or take long, or keep memory?

`texts`, `values` and `visits` are the readers, each a function that takes bytes; whatever it raises is a
fault. `seeds` is what they are given first, and `targets` lists them. `hunter` is a process in which atheris
looks for bytes that take new paths. `judge` reads what was found once more in a process where nothing watches
the paths, which takes time. `command` is the whole.

The rule they all keep: a reader does what the gateway does with such bytes, by the gateway's own code.
"""
