"""What becomes of players and results when a part of a cluster fails?"""
