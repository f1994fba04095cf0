"""Is what a client was told of still known when the server has been killed?"""
