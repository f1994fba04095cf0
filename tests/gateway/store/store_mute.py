"""A program in place of the store process's, for tests: it opens any database, and then answers nothing."""

import socket
import sys

from gateway.runtime.processes import message_frame

OPENED = ("a database", "nowhere", None, 1, ("", ""), None, [])
"""Its answer to "open", in the order of the fields of `gateway.store.process.Opened`."""

if __name__ == "__main__":
    with socket.socket(fileno=int(sys.argv[1])) as server:
        server.recv(65_536)
        server.sendall(message_frame(("done", OPENED)))
        while server.recv(65_536):
            pass
