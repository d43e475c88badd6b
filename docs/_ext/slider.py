"""The slider of the first page: noise and threshold for an epsilon, with the refuted threshold.

The page holds the directive ``{slider}``. Every position is computed when the site is built; the
script in site.js shows the position that the reader chooses, and without it the first one shows.
"""

from __future__ import annotations

import json
from html import escape
from typing import TYPE_CHECKING

from docutils import nodes
from sphinx.util.docutils import SphinxDirective

from exactdp.accounting import discrete_gshm

if TYPE_CHECKING:
    from sphinx.application import Sphinx

_EPSILONS = ("0.1", "0.2", "0.35", "0.5", "0.7", "1", "1.5", "2", "3", "4", "6", "8")
_FIRST = _EPSILONS.index("1")
_KEYS, _DELTA = 10, "1e-6"


def position(epsilon: str) -> dict[str, str]:
    """What the slider shows at one epsilon."""
    answer = discrete_gshm.calibrate(k=_KEYS, epsilon=epsilon, delta=_DELTA)
    refuted = answer.refuted
    return {
        "epsilon": epsilon,
        "noise": f"{answer.sigma:.2f}",
        "threshold": str(1 + answer.tau),
        "proved": answer.guarantee.delta.decimal_upper(5),
        "smaller": str(1 + refuted.value),
        "refuted": refuted.delta.decimal_lower(3),
    }


class Slider(SphinxDirective):
    """The slider, as HTML."""

    def run(self) -> list[nodes.Node]:
        """Compute all positions."""
        positions = [position(epsilon) for epsilon in _EPSILONS]
        texts = {
            name: f'<output name="{name}">{v}</output>' for name, v in positions[_FIRST].items()
        }
        data = escape(json.dumps(positions), quote=True)
        return [
            nodes.raw(
                "",
                f"""\
<form class="slider" data-positions="{data}">
  <label for="slider-epsilon">How private? ε = {texts["epsilon"]}</label>
  <input id="slider-epsilon" type="range" min="0" max="{len(positions) - 1}" value="{_FIRST}">
  <div class="slider-answers">
    <p><strong>{texts["noise"]}</strong> standard deviation of the noise</p>
    <p><strong>{texts["threshold"]}</strong> threshold: noisy counts above it are published</p>
  </div>
  <p class="proved">Proved: δ ≤ {texts["proved"]}, below the target of 10⁻⁶.</p>
  <p class="refuted">Refuted: with a threshold of {texts["smaller"]}, δ ≥ {texts["refuted"]}.</p>
</form>""",
                format="html",
            )
        ]


def setup(app: Sphinx) -> dict[str, bool]:
    """Register with Sphinx."""
    app.add_directive("slider", Slider)
    return {"parallel_read_safe": True}
