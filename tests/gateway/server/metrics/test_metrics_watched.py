"""What names metrics names those that there are: the manual, the alert rules and the dashboard in deploy/."""

import json
import re
from collections.abc import Iterator
from itertools import combinations
from typing import Any

import pytest
import yaml
from metrics_world import everything
from prometheus_client.parser import text_string_to_metric_families
from worlds.server import ROOT

from conformance.lab.meters import has_proc
from gateway.server.metrics.families import process_text

pytestmark = pytest.mark.skipif(not has_proc(), reason="no /proc here, so no metrics of the process")

MANUAL = (ROOT / "docs" / "operation.md").read_text().partition("\n## Metrics\n")[2].partition("\n## ")[0]
RULES = [
    rule
    for group in yaml.safe_load((ROOT / "deploy" / "alerts.yml").read_text())["groups"]
    for rule in group["rules"]
]
DASHBOARD = json.loads((ROOT / "deploy" / "grafana.json").read_text())
PANELS = DASHBOARD["panels"]
QUERIES = [target["expr"] for panel in PANELS for target in panel["targets"]]
VARIABLES = {each["name"]: each for each in DASHBOARD["templating"]["list"]}

SCRAPED = {"job", "instance"}
"""Labels that Prometheus gives to all that it reads."""
WORDS = {"and", "or", "unless", "offset", "bool"}


def exposed() -> tuple[dict[str, set[str]], dict[str, set[str]]]:
    """Return the labels of each metric, by its name in the manual, and by the names in a text."""
    families, samples = dict[str, set[str]](), dict[str, set[str]]()
    for family in text_string_to_metric_families(everything() + process_text().decode()):
        name = family.name + ("_total" if family.type == "counter" else "")
        assert family.samples, f"{name} is not told by anything here"
        for sample in family.samples:
            labels = set(sample.labels)
            samples.setdefault(sample.name, set()).update(labels)
            families.setdefault(name, set()).update(labels - {"le"})
    return families, samples


def used(expression: str) -> Iterator[tuple[str, set[str]]]:
    """Give each metric that is named in an expression, and the labels by which it is selected."""
    bare = re.sub(r"\"[^\"]*\"", "''", expression)
    bare = re.sub(r"\b(by|without|on|ignoring|group_left|group_right) *\([^)]*\)", "", bare)
    bare = re.sub(r"\[[^]]*\]|\boffset +\w+", "", bare)
    for name, selector in re.findall(r"\b([a-zA-Z_][\w:]*)\b(?! *\()(?:\{([^}]*)\})?", bare):
        if name not in WORDS:
            yield name, set(re.findall(r"(\w+) *(?:=|!)", selector))


def test_names_and_labels_are_found_in_an_expression() -> None:
    expression = 'sum by (le) (rate(a_total{x="y{}", z!="a b"}[5m])) / ignoring (le) c offset 5m > 1e3 or d'
    assert [*used(expression)] == [("a_total", {"x", "z"}), ("c", set()), ("d", set())]


def test_manual_has_each_metric_with_its_labels_and_no_other() -> None:
    rows = re.findall(r"^\| `((?:c4gateway|process)_\w+)` \|([^|]*)\|", MANUAL, re.MULTILINE)
    assert {name: set(re.findall(r"`(\w+)`", labels)) for name, labels in rows} == exposed()[0]


@pytest.mark.parametrize("expression", [*(rule["expr"] for rule in RULES), *QUERIES])
def test_rules_and_panels_name_what_there_is(expression: str) -> None:
    known = exposed()[1] | {"up": set[str]()}
    found = [*used(expression)]
    assert found
    for name, labels in found:
        assert name in known
        assert labels <= known[name] | SCRAPED


def test_each_rule_says_what_it_is_about_and_names_a_symptom_of_the_manual() -> None:
    rows = re.findall(r"^\| ([A-Z][^|`]*) \| (`C4gateway[^|]*) \|", MANUAL, re.MULTILINE)
    symptoms = {alert: symptom for symptom, alerts in rows for alert in re.findall(r"`(\w+)`", alerts)}
    named = {}
    for rule in RULES:
        assert rule["labels"]["severity"] in {"critical", "warning"}
        assert rule["annotations"]["summary"]
        (named[rule["alert"]],) = re.findall(r"See \"(.*)\" in docs/oper", rule["annotations"]["description"])
    assert len(named) == len(RULES)
    assert named == symptoms


def test_dashboard_can_be_imported_anywhere() -> None:
    assert VARIABLES["datasource"]["type"] == "datasource"
    source = {"type": "prometheus", "uid": "${datasource}"}
    everywhere = [*PANELS, *(target for panel in PANELS for target in panel["targets"])]
    everywhere += [each for each in VARIABLES.values() if each["type"] == "query"]
    assert all(each["datasource"] == source for each in everywhere)
    wanted = set(re.findall(r"\$\{?([a-z]\w*)", json.dumps(DASHBOARD)))
    assert wanted == {*VARIABLES}
    assert len({panel["id"] for panel in PANELS}) == len(PANELS)
    assert all(panel["title"] and panel["targets"] for panel in PANELS)


def test_panels_are_on_the_page_and_none_is_upon_another() -> None:
    def cells(panel: Any) -> set[tuple[int, int]]:
        at = panel["gridPos"]
        return {(at["x"] + x, at["y"] + y) for x in range(at["w"]) for y in range(at["h"])}

    assert all(0 <= x < 24 for panel in PANELS for x, _ in cells(panel))
    assert not [1 for one, other in combinations(PANELS, 2) if cells(one) & cells(other)]


def test_each_metric_of_the_server_is_on_the_dashboard() -> None:
    known = exposed()[0]
    shown = {re.sub("_bucket$", "", name) for query in QUERIES for name, _ in used(query)}
    assert known.keys() <= shown
