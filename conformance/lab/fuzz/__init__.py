"""Fuzzing: can any bytes make a reader of the gateway fail, or take long, or keep memory?

The rule that all readers keep: they do what the gateway does with such bytes, by the gateway's own code.
"""
