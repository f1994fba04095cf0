"""The style sheets: what is said of a colour is said once, and nothing that Firefox draws otherwise."""

import re
from importlib.resources import files

import pytest

STATIC = files("adapters.web.page").joinpath("static")


def test_each_token_has_its_colours_for_light_and_dark_in_one_place() -> None:
    declared = re.findall(r"--([\w-]+): [^;]*#", STATIC.joinpath("style.css").read_text())
    assert "ink" in declared
    assert len(declared) == len({*declared})


@pytest.mark.parametrize("mistake", [r"gradient\([^,]*deg, [^;]*-mix", r"100v[wh] / \d{4}"])
def test_mixed_colours_are_blended_as_srgb_and_no_length_is_less_than_a_pixel(mistake: str) -> None:
    sheets = [each for each in STATIC.iterdir() if each.name.endswith(".css")]
    assert [each.name for each in sheets if re.search(mistake, each.read_text())] == []
