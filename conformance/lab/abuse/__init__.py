"""Attackers beside honest games: what does one client's malice cost the others?"""
