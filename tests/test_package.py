"""What a package says of itself on a package index, and what is in it."""

import re
import tarfile
from collections.abc import Sequence
from pathlib import Path
from zipfile import ZipFile

import pytest
from hatchling.builders.sdist import SdistBuilder
from hatchling.builders.wheel import WheelBuilder
from hatchling.metadata.core import ProjectMetadata
from hatchling.plugin.manager import PluginManager
from worlds.server import ROOT

from gateway import __version__

GITHUB = "https://github.com/somebody/something/blob/main"
GITLAB = "https://git.example/group/team/something/-/blob/v1"
FORGEJO = "https://codeberg.example/somebody/something/src/branch/main"
PLAIN = "https://files.example/something"
README = (ROOT / "README.md").read_text()


def metadata(base: str = "", root: Path = ROOT) -> ProjectMetadata[PluginManager]:
    found = ProjectMetadata(str(root), PluginManager())
    found.hatch.config["metadata"]["hooks"]["custom"]["base"] = base
    return found


def links(text: str) -> Sequence[str]:
    return re.findall(r"\]\(([^)\s]+)\)", text)


def code(text: str) -> Sequence[str]:
    """Return the lines of a page that are programs and commands."""
    return re.findall(r"^ {4}[^\n]*$|^```.*?^```$", text, re.MULTILINE | re.DOTALL)


def test_readme_is_short() -> None:
    assert len(README) < 9_000


def test_version_is_the_same_everywhere() -> None:
    assert metadata().version == __version__
    newest = re.findall(r"^## (\d\S*)", (ROOT / "CHANGELOG.md").read_text(), re.MULTILINE)[0]
    assert newest == __version__


def test_without_a_base_address_no_link_is_dead_and_no_url_is_made_up() -> None:
    core = metadata().core
    assert core.readme_content_type == "text/markdown"
    assert set(links(core.readme)) == {link for link in links(README) if link.startswith("https:")}
    assert "![" not in core.readme
    assert not core.urls
    assert code(core.readme) == code(README)


@pytest.mark.parametrize(
    ("base", "raw", "home"),
    [
        (GITHUB, GITHUB.replace("/blob/", "/raw/"), "https://github.com/somebody/something"),
        (GITLAB + "/", GITLAB.replace("/blob/", "/raw/"), "https://git.example/group/team/something"),
        (FORGEJO, FORGEJO.replace("/src/", "/raw/"), "https://codeberg.example/somebody/something"),
        (PLAIN, PLAIN, PLAIN),
    ],
)
def test_with_a_base_address_all_links_and_pictures_lead_there(base: str, raw: str, home: str) -> None:
    core, base = metadata(base).core, base.rstrip("/")
    assert core.urls["Homepage"] == home
    for link in (*links(core.readme), *(url for name, url in core.urls.items() if name != "Homepage")):
        for start in (f"{base}/", f"{raw}/"):
            if link.startswith(start):
                assert (ROOT / link.removeprefix(start).partition("#")[0]).is_file()
                break
        else:
            assert link in links(README)
    pictures = re.findall(r"!\[[^\]]*\]\(([^)]+)\)", core.readme)
    assert pictures
    assert all(link.startswith(f"{raw}/") for link in pictures)
    assert code(core.readme) == code(README)


def test_base_address_that_is_none_is_refused() -> None:
    with pytest.raises(ValueError, match="give an address with https://"):
        _ = metadata("github.com/somebody/something").core


def test_package_can_be_built_of_its_source_archive(tmp_path: Path) -> None:
    (archive,) = SdistBuilder(str(ROOT)).build(directory=str(tmp_path), versions=["standard"])
    with tarfile.open(archive) as packed:
        packed.extractall(tmp_path, filter="data")
    source = tmp_path / f"c4gateway-{__version__}"
    (wheel,) = WheelBuilder(str(source)).build(directory=str(tmp_path), versions=["standard"])
    with ZipFile(wheel) as packed:
        names = set(packed.namelist())
        assert (
            packed.read(f"c4gateway-{__version__}.dist-info/METADATA")
            .decode()
            .endswith(metadata().core.readme)
        )
    assert {f"{name}/py.typed" for name in ("gateway", "adapters", "conformance")} <= names
    assert not any(name.startswith(("conformance/lab", "tests", "deploy")) for name in names)
