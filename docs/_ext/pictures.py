"""The pictures of the tutorials, drawn anew at every build, for light and dark ground.

``sphinx-build -D pictures=0`` leaves them blank, for a check of links and accessibility.
"""

from __future__ import annotations

import math
import sys
from collections import Counter
from collections.abc import Callable
from functools import cache
from importlib import import_module
from pathlib import Path
from tempfile import TemporaryDirectory

from pyarrow.csv import read_csv
from sphinx.application import Sphinx

from exactdp import frames
from exactdp.accounting import pld
from exactdp.audit import audit, foreign_law
from exactdp.audit.bounds.binomial import interval
from exactdp.cli.main import cli
from exactdp.cli.pictures import Line, Picture
from exactdp.enclosure import Enclosure
from exactdp.mechanisms import GSHM
from exactdp.samplers import SeededSource

_TARGET = ["--sparsity", "10", "--epsilon", "1", "--delta", "1e-6"]
_TRAINING = ["--noise-multiplier", "1", "--rate", "0.01", "--steps", "2000", "--delta", "1e-5"]
_DOCS = Path(__file__).parents[1]
_README = _DOCS / "_static" / "released.svg"  # in the repository: README shows it
_FLIGHTS = _DOCS.parent / "examples" / "flights_2013_01.csv"


def _by_command(name: str, *options: str) -> Callable[[Path, str], None]:
    def draw(path: Path, theme: str) -> None:
        command = ["figure", name, *options, "--theme", theme, "--output", str(path)]
        cli.main(command, standalone_mode=False)

    return draw


def released(path: Path, theme: str) -> None:
    """True counts and one release of them, seeded so that the picture stays the same."""
    flights = read_csv(_FLIGHTS)
    counts = Counter(flights["dest"].to_pylist())
    mechanism = GSHM.for_target(k=10, epsilon=1, delta="1e-6")
    source = SeededSource(2013)
    out = frames.release_by(
        flights, user="tailnum", by="dest", mechanism=mechanism, source=source
    ).frame
    noisy = dict(zip(out["dest"].to_pylist(), out["count"].to_pylist(), strict=True))
    ranked = [name for name, _ in counts.most_common()]
    seen = [(i, float(noisy[name])) for i, name in enumerate(ranked) if name in noisy]
    title = f"aircraft at {len(ranked)} airports, \u03b5 = 1, \u03b4 = 1e-6"
    picture = Picture(theme, x="airports, most visited first", y="aircraft", title=title)
    picture.explain(
        f"Line: true counts. Dots: the {len(seen)} released counts; the rest stays secret."
    )
    picture.draw([Line("true", range(len(ranked)), [counts[name] for name in ranked], 0)])
    picture.axes.plot(*zip(*seen, strict=True), "o", markersize=4, color=picture.colour(1))
    picture.save(path)


def on_white(picture: str) -> str:
    """The picture on a white ground, for pages that may be dark around it."""
    return picture.replace("fill: none", "fill: #ffffff", 1)


def region(path: Path, theme: str) -> None:
    """What (1, 0.005)-privacy allows, and where an audit says that the tutorial's mechanism is."""
    picture = Picture(
        theme,
        x="probability of the event without the aircraft",
        y="probability with it",
        title="\u03b5 = 1, \u03b4 = 0.005",
    )
    picture.explain("Under the line is what the promise allows. Box: 95 % intervals of the audit.")
    across = [i / 2000 for i in range(17)]
    picture.draw([Line("0.005 + e \u00b7 p", across, [0.005 + math.e * p for p in across], 0)])
    counted = _counts()
    low, high = map(float, interval(*counted["left"], "0.05"))
    least, most = map(float, interval(*counted["right"], "0.05"))
    box = ([least, most, most, least, least], [low, low, high, high, low])
    picture.draw([Line("this mechanism", *box, 1, at=2)])
    picture.save(path)


@cache
def _counts() -> dict[str, tuple[int, int]]:
    """How often the event of the tutorial's audit was seen on both sides."""
    page = (_DOCS / "tutorials" / "audit.md").read_text(encoding="utf-8")
    with TemporaryDirectory() as folder:
        # as the tutorial says: saved as mine.py, and imported from there
        Path(folder, "mine.py").write_text(
            page.split("```python\n")[1].split("```")[0], encoding="utf-8"
        )
        sys.path.insert(0, folder)
        try:
            run = import_module("mine").run
        finally:
            sys.path.remove(folder)
    return audit(run, {"EYW": 1}, {}, epsilon=1, delta="0.005").counts


def answers(path: Path, theme: str) -> None:
    """The exact law of randomised response on both data sets."""
    laws = [
        foreign_law(lambda rng, truth=truth: truth if rng.randrange(4) else not truth)
        for truth in (True, False)
    ]
    picture = Picture(theme, x="", y="probability", title="the law of an answer")
    picture.explain("Exact, as fractions: 3/4 and 1/4. Their ratio is 3, so \u03b5 is ln 3.")
    for side, law in enumerate(laws):
        for i, answer in enumerate((True, False)):
            place = i + 0.19 * (2 * side - 1)
            height = float(law[answer])
            picture.axes.bar(place, height, width=0.36, color=picture.colour(side))
            picture.note(place, height, f"truth: {'no' if side else 'yes'}", side)
    picture.axes.set_xticks([0, 1], ["answer: yes", "answer: no"])
    picture.save(path)


@cache
def _schemes() -> list[tuple[str, Enclosure]]:
    """Epsilon of the schemes on the page about training."""
    noise, rate = pld.gaussian(sigma=2), "0.01"
    losses = {
        "random allocation": noise.allocated(100).composed(4),
        "Poisson": noise.sampled(rate).composed(400),
        "truncated": noise.sampled(rate, batch_limit=130, users=10_000).composed(400),
        "Poisson, replace-one": noise.sampled(rate).replaced().composed(400),
        "kept bins": pld.together(noise.composed(4)).allocated(100),
        "fixed size": noise.batched(rate).composed(400),
    }
    return [(name, loss.epsilon("1e-6")) for name, loss in losses.items()]


def schemes(path: Path, theme: str) -> None:
    """What four epochs leak, by the way in which batches are drawn."""
    title = "noise multiplier 2, 100 steps an epoch, four epochs, \u03b4 = 1e-6"
    picture = Picture(theme, x="\u03b5", y="", title=title)
    picture.explain("Bars end at the upper bound; the dark mark is the lower bound.")
    names = [name for name, _ in _schemes()]
    for place, (_, epsilon) in enumerate(_schemes()):
        low, high = epsilon.float_lower(), epsilon.float_upper()
        picture.axes.barh(place, high, height=0.6, color=picture.colour(0), alpha=0.4)
        picture.axes.plot([low, low], [place - 0.3, place + 0.3], color=picture.colour(1))
    picture.axes.set_yticks(range(len(names)), names)
    picture.axes.invert_yaxis()
    picture.save(path)


PICTURES: dict[str, Callable[[Path, str], None]] = {
    "csh": _by_command("csh", *_TARGET),
    "seen": _by_command("seen", *_TARGET),
    "steps": _by_command("epsilon-over-steps", *_TRAINING),
    "alp": _by_command("alp", "--epsilon", "1", "--collision", "0.1"),
    "released": released,
    "region": region,
    "answers": answers,
    "schemes": schemes,
}


def draw_all(app: Sphinx) -> None:
    folder = Path(app.srcdir) / "pictures"
    folder.mkdir(exist_ok=True)
    for name, draw in PICTURES.items():
        for theme in ("light", "dark"):
            path = folder / f"{name}-{theme}.svg"
            path.unlink(missing_ok=True)
            if app.config.pictures:
                draw(path, theme)
            else:
                path.write_text('<svg xmlns="http://www.w3.org/2000/svg"/>', encoding="utf-8")
    if app.config.pictures:
        text = (folder / "released-light.svg").read_text(encoding="utf-8")
        _README.write_text(on_white(text), encoding="utf-8")


def setup(app: Sphinx) -> dict[str, bool]:
    app.add_config_value("pictures", True, "env", bool)
    app.connect("builder-inited", draw_all)
    return {"parallel_read_safe": True}
