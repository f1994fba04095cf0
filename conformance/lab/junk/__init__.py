"""Does anything that a client sends write a traceback into the log, or stop the server?"""
