"""Do those who watch games cost those who play?"""
