"""The style sheets: what is said of a colour is said once."""

import re
from importlib.resources import files

STATIC = files("adapters.web.page").joinpath("static")


def test_each_token_has_its_colours_for_light_and_dark_in_one_place() -> None:
    declared = re.findall(r"--([\w-]+): [^;]*#", STATIC.joinpath("style.css").read_text())
    assert "ink" in declared
    assert len(declared) == len({*declared})
