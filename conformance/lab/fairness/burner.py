"""`python -m conformance.lab.fairness.burner` keeps a core busy while the process that started it lives."""

import os


def main() -> None:
    """Count."""
    starter = os.getppid()
    while os.getppid() == starter:
        for _ in range(100_000):
            pass


if __name__ == "__main__":
    main()
