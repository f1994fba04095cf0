"""A program in place of the store process's, for tests: it opens any database, and then answers nothing."""

import socket
import sys

from gateway.runtime.processes import message_frame

if __name__ == "__main__":
    with socket.socket(fileno=int(sys.argv[1])) as server:
        server.recv(65_536)
        server.sendall(message_frame(("done", ("a database", "nowhere", None, 1))))
        while server.recv(65_536):
            pass
