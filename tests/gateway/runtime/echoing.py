"""A program for a child process, for tests: it prints something, and says back what it hears."""

import logging
import socket
import sys

from gateway.runtime.processes import message_frame

if __name__ == "__main__":
    print("on stdout", flush=True)
    logging.error("on stderr")
    with socket.socket(fileno=int(sys.argv[1])) as server:
        while heard := server.recv(65_536):
            server.sendall(message_frame(heard))
