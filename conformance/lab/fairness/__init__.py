"""Does nobody lose on time because the server was busy?"""
