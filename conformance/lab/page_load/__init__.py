"""Whether those who watch games cost those who play: `python -m conformance page-load`.

`command` starts a gateway, lets bots play with viewers and without, and compares; `players` is the process of
the bots, `viewers` that of the viewers, `sightings` what they saw and when, and `figures` judges.
"""
