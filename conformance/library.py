"""Find the transcripts, and choose those that a command line names.

A transcript's id consists of its folder and its file name. This module must not know the contents of
transcripts.
"""

import difflib
from collections.abc import Sequence
from pathlib import Path

from conformance.steps import Broken, Transcript
from conformance.transcript import TranscriptError, parse


def load(folder: Path) -> list[Transcript | Broken]:
    """Read every `<folder>/<dialect>/<topic>.txt`, in order of ids; unreadable ones as `Broken`."""
    return [_load_one(path) for path in sorted(folder.glob("*/*.txt"))]


def choose(everything: Sequence[Transcript | Broken], wanted: Sequence[str]) -> list[Transcript | Broken]:
    """Return the transcripts that `wanted` names by id or folder; all if it is empty. Raises ValueError."""
    ids = [transcript.id for transcript in everything]
    folders = {_folder(identity) for identity in ids}
    for word in wanted:
        if word not in ids and word not in folders:
            near = difflib.get_close_matches(word, [*ids, *folders], n=1)
            hint = f"did you mean {near[0]}?" if near else "--list shows what there is"
            raise ValueError(f"there is no transcript {word!r}; {hint}")
    return [t for t in everything if not wanted or t.id in wanted or _folder(t.id) in wanted]


def _folder(identity: str) -> str:
    return identity.partition("/")[0]


def _load_one(path: Path) -> Transcript | Broken:
    identity = f"{path.parent.name}/{path.stem}"
    try:
        return parse(path.read_text(encoding="utf-8"), identity, path)
    except TranscriptError as error:
        return Broken(identity, path, error.number, str(error))
    except UnicodeDecodeError:
        return Broken(identity, path, 1, "the file is not UTF-8")
