"""What a monitoring system reads: counts and durations, in the format of Prometheus.

`tally` counts the games that the feed tells of, `TimedTurns` in `gateway.runtime.turns` the delays of the
event loop, `requests` what the page answered; everything else is counted where it happens and read when
somebody asks. `families` says what there is, and is the only one that knows prometheus-client; `service`
answers by HTTP. The rules it keeps:

- No label is anything that a client chose: no name of a player, of a table, or of a path.
- Nobody who does not ask for it pays for it, and a move costs the same in any case.
"""
