"""Write the package's description and its project URLs when it is built.

Hatchling runs this as a metadata hook. A README's relative links lead nowhere on a package index, so they
become absolute. `base` in pyproject.toml, under [tool.hatch.metadata.hooks.custom], is the address at which
the files of the project can be read; without one, links become plain text, and pictures are left out.
"""

import re
from pathlib import Path
from typing import Any

from hatchling.metadata.plugin.interface import MetadataHookInterface

_LINK = re.compile(r"(!?)\[([^\]]*)\]\((?!https?:)([^)\s]+)\)")
_PICTURE_LINE = re.compile(r"^!\[[^\]]*\]\((?!https?:)[^)\s]+\)\n\n?", re.MULTILINE)
_BASE = re.compile(r"(https?://[^/]+/[^/]+/.+?)(?:/-)?/(blob|src)/.+")
"""How hosting sites address files: GitHub and GitLab with ``blob``, Forgejo and Bitbucket with ``src``, and
all of them the bytes of a file with ``raw`` in its place. The first group is the address of the project."""


class Hook(MetadataHookInterface):
    """Fills in the dynamic fields ``readme`` and ``urls``."""

    def update(self, metadata: dict[str, Any]) -> None:
        """Set both fields."""
        base = self.config.get("base", "").rstrip("/")
        if base and not base.startswith(("https://", "http://")):
            raise ValueError(
                f"base in pyproject.toml is {base!r}; give an address with https://, or leave it out"
            )
        text = (Path(self.root) / "README.md").read_text(encoding="utf-8")
        metadata["readme"] = {"content-type": "text/markdown", "text": _described(text, base)}
        metadata["urls"] = _urls(base)


def _described(text: str, base: str) -> str:
    if not base:
        return _LINK.sub(r"\2", _PICTURE_LINE.sub("", text))
    found = _BASE.fullmatch(base)
    raw = f"{base[: found.start(2)]}raw{base[found.end(2) :]}" if found else base

    def absolute(link: re.Match[str]) -> str:
        picture, words, target = link.groups()
        target = f"README.md{target}" if target.startswith("#") else target
        return f"{picture}[{words}]({raw if picture else base}/{target})"

    return _LINK.sub(absolute, text)


def _urls(base: str) -> dict[str, str]:
    if not base:
        return {}
    found = _BASE.fullmatch(base)
    return {
        "Homepage": found[1] if found else base,
        "Documentation": f"{base}/README.md#read-on",
        "Changelog": f"{base}/CHANGELOG.md",
        "Security": f"{base}/SECURITY.md",
    }
