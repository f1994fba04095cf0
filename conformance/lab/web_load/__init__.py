"""Do those who read results by web cost those who play?"""
