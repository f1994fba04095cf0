"""`python -m conformance.fairness.burner` keeps a core busy as long as the process lives that started it."""

import os


def main() -> None:
    """Count."""
    starter = os.getppid()
    while os.getppid() == starter:
        for _ in range(100_000):
            pass


if __name__ == "__main__":
    main()
