"""Stores games until it is killed; prints how many are stored. Arguments: where, and the run."""

import sys
from itertools import count

from game_records import game, rows

from gateway.game.ids import game_ids
from gateway.store import storing
from gateway.store.database import open_to_write


def main() -> None:
    database = open_to_write(sys.argv[1])
    ids = game_ids(int(sys.argv[2]))
    for stored in count(3, 3):
        with database.writing() as connection:
            storing.store(connection, rows([game(f"p{n}", game=next(ids)) for n in range(3)]))
        print(stored, flush=True)


if __name__ == "__main__":
    main()
