"""Stores games until it is killed; prints each number once its game is stored. Arguments: where, run."""

import sys

from game_records import game

from gateway.store import storing
from gateway.store.database import open_to_write
from gateway.store.records import Submission


def main() -> None:
    database = open_to_write(sys.argv[1])
    number = 0
    while True:
        with database.writing() as connection:
            batch = [Submission(number + n, game(f"p{n}")) for n in range(3)]
            storing.store(connection, int(sys.argv[2]), batch)
        number += 3
        print(number, flush=True)


if __name__ == "__main__":
    main()
