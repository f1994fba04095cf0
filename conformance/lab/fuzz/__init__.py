"""Fuzzing: can any input make a reader of the gateway fail, take long, or leak memory?

Each reader handles its input as the gateway does, with the gateway's own code.
"""
