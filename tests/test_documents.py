"""The documents name what there is: options, events of the log, refusals, and each other's chapters."""

import re
from collections.abc import Iterator
from itertools import chain
from pathlib import Path

import pytest
from worlds.server import ROOT

from adapters.dialects import DIALECTS
from gateway.game.events import Objection
from gateway.options.names import EVERY
from gateway.options.server import all_options

DOCS = ROOT / "docs"
OPTIONS = (DOCS / "options.md").read_text()
OPERATION = (DOCS / "operation.md").read_text()
ARCHITECTURE = (DOCS / "architecture.md").read_text()
SOURCES = [path.read_text() for folder in ("gateway", "adapters") for path in (ROOT / folder).rglob("*.py")]
PAGES = sorted(
    [*ROOT.glob("*.md"), *DOCS.glob("*.md"), *ROOT.glob("adapters/*/*.md"), *ROOT.glob("*/README.md")]
)


def first_cells(text: str) -> set[str]:
    """Return the words in code of the first column of all tables in a text."""
    cells = re.findall(r"^\| (`[^|]*`) \|", text, re.MULTILINE)
    return set(chain.from_iterable(re.findall(r"`([^`]+)`", cell) for cell in cells))


def chapters(page: Path) -> set[str]:
    """Return the anchors of a page's headings, as GitHub makes them."""
    titles = re.findall(
        r"^#+ (.*)$", re.sub(r"```.*?```", "", page.read_text(), flags=re.DOTALL), re.MULTILINE
    )
    return {re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-") for title in titles}


def test_each_event_of_the_log_is_in_the_table_and_no_other() -> None:
    events = set(chain.from_iterable(re.findall(r'"event": "(\w+)"', source) for source in SOURCES))
    assert first_cells(OPTIONS.partition("## The log")[2]) == events


def option_rows() -> Iterator[str]:
    """Yield the table of docs/options.md."""
    yield "| option | default | |"
    yield "|---|---|---|"
    for each in all_options(DIALECTS):
        usual = each.default_words if each.default_in_documents is None else each.default_in_documents
        usual = usual or next((str(one.port) for one in DIALECTS if one.option == each.name), "")
        more = each.documents
        if more:
            more = f" ({more})" if more.startswith("[") else f"; {more}"
        unit = each.kind.unit or each.key.rpartition("-")[2].upper()
        written = f"--{each.key}" if each.is_flag else f"--{each.key} {unit}".replace("|", "\\|")
        yield f"| `{written}` | {usual} | {each.help}{more} |"


def test_table_of_the_options_is_the_one_that_the_server_has() -> None:
    (table,) = re.findall(r"^\| option .*?(?=^\| `-V`)", OPTIONS, re.MULTILINE | re.DOTALL)
    assert table.splitlines() == [*option_rows()]


def test_each_kind_of_refusal_is_among_the_metrics() -> None:
    (row,) = re.findall(r"^\| `c4gateway_refused_total` .*$", OPERATION, re.MULTILINE)
    assert set(re.findall(r"`(\w+)`", row)) >= {str(each.name).lower() for each in Objection}


def test_runbook_names_commands_events_and_metrics_that_there_are() -> None:
    runbook = OPERATION.partition("\n## Runbook\n")[2].partition("\n## ")[0]
    assert set(re.findall(r"`c4gateway (\w+)", runbook)) <= {*EVERY}
    named = set(re.findall(r"`([a-z0-9]+(?:_[a-z0-9]+)+)`", runbook))
    known = first_cells(OPTIONS.partition("## The log")[2]) | first_cells(
        OPERATION.partition("## Metrics")[2]
    )
    assert named
    assert named <= known


@pytest.mark.parametrize(
    ("owner", "name"), sorted(set(re.findall(r"`(_?[A-Z][a-z]\w*)\.([a-z_]\w*)`", ARCHITECTURE)))
)
def test_architecture_names_methods_and_attributes_that_there_are(owner: str, name: str) -> None:
    owners = [source for source in SOURCES if re.search(rf"^class {owner}\b", source, re.MULTILINE)]
    assert any(re.search(rf"\b(def {name}\b|{name}(: | = ))", source) for source in owners)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_each_link_leads_to_a_file_and_a_chapter_of_it(page: Path) -> None:
    for link in re.findall(r"\]\(([^)\s]+)\)", page.read_text()):
        if not link.startswith("http"):
            name, _, chapter = link.partition("#")
            place = page.parent / name if name else page
            assert place.exists(), link
            assert not chapter or chapter in chapters(place), link
