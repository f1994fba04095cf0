"""Attackers beside honest games: how much do malicious clients slow down the others?"""
