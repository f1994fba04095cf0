"""Clusters: several servers with one lobby. Pairing across nodes, and games between players of two nodes.

Pure. How nodes find and reach each other is in `adapters.cluster`. A server without a cluster does not import
this package.
"""
