"""Whether those who read results by web cost those who play: `python -m conformance web-load`.

`command` starts a gateway, lets the benchmark's bots play at a pace, with readers and without, and compares;
`job` is the process of the readers.
"""
