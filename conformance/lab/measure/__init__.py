"""Measure what the gateway's work costs. A module has one or more scenarios, each with several parts."""
