"""The command ``c4gateway``, also as ``python -m gateway``.

Looks whether the system is one that the server runs on before anything is imported that others lack.
"""

import sys

SYSTEMS = {"linux": "Linux", "darwin": "macOS"}


def main() -> int:
    """Run the command; return its exit status, 1 on a system that is not supported."""
    if sys.platform not in SYSTEMS:
        supported = " and ".join(SYSTEMS.values())
        print(f"c4gateway: error: it runs on {supported}, not on {sys.platform}", file=sys.stderr)
        return 1
    from gateway import cli  # noqa: PLC0415  needs the module `resource`, which Windows has not

    return cli.main()


if __name__ == "__main__":
    sys.exit(main())
