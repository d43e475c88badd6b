"""What print, repr, copies and notebooks show of results."""

from __future__ import annotations

import copy
import pickle
import re
from fractions import Fraction
from html import escape
from html.parser import HTMLParser
from pathlib import Path

import pytest

from exactdp import statement
from exactdp.accounting import discrete_gaussian, gaussian, gshm, laplace, pld, stability
from exactdp.accounting.calculator import CALCULATORS, calculator
from exactdp.accounting.calculator import parameters as parameters_of
from exactdp.accounting.parameter_search import CalculatorCalibration
from exactdp.accounting.pld.picture import delta_over_epsilon
from exactdp.audit import private
from exactdp.cli.main import main
from exactdp.display import Displayed, Printed
from exactdp.law import Law
from exactdp.mechanisms import ALP
from exactdp.picture import curve
from exactdp.samplers import DiscreteGaussian, SystemSource


class _Cells(HTMLParser):
    """The texts of a table's cells, row by row."""

    def __init__(self) -> None:
        super().__init__()
        self.texts: list[str] = []

    def handle_starttag(self, tag: str, _: object) -> None:
        if tag in ("th", "td"):
            self.texts.append("")

    def handle_data(self, data: str) -> None:
        if self.texts:
            self.texts[-1] += data


def _cells(html: str) -> dict[str, str]:
    parser = _Cells()
    parser.feed(html)
    return dict(zip(parser.texts[::2], parser.texts[1::2], strict=True))


def _sent(value: object) -> object:
    """The value as another process would receive it."""
    return pickle.loads(pickle.dumps(value))  # noqa: S301  # bytes that were made here


def test_a_calibration_prints_what_the_command_prints(capsys: pytest.CaptureFixture[str]) -> None:
    calibration = gshm.calibrate(k=10, epsilon=1, delta="1e-6")
    with pytest.raises(SystemExit):
        main(["calibrate", "gshm", "--k", "10", "--epsilon", "1", "--delta", "1e-6"])
    assert f"{calibration}\n" == capsys.readouterr().out
    assert _cells(calibration._repr_html_())["sigma"] == str(calibration.sigma)


def test_a_calibration_has_the_attributes_of_its_mechanism() -> None:
    calibration = gaussian.calibrate(epsilon=1, delta="1e-6")
    assert {"sigma", "delta"} <= set(dir(calibration))
    assert not {"tau", "threshold", "sigma2", "noise_multiplier"} & set(dir(calibration))
    with pytest.raises(AttributeError, match="a calibration of sigma has no 'tau'"):
        _ = calibration.tau
    discrete = discrete_gaussian.calibrate(epsilon=1, delta="1e-6")
    assert discrete.sigma2 == discrete.parameters["sigma2"]


def test_a_calibration_never_changes() -> None:
    calibration = gshm.calibrate(k=10, epsilon=1, delta="1e-6")
    with pytest.raises(TypeError):
        calibration.parameters["tau"] = 1  # type: ignore[index]  # a mapping that is constant
    for twin in (copy.copy(calibration), copy.deepcopy(calibration)):
        assert (twin, hash(twin)) == (calibration, hash(calibration))
    assert _sent(calibration) == calibration


def test_a_statement_is_hashable_and_equals_its_copies() -> None:
    claim = statement.of(pld.gaussian(sigma=1), epsilon=1)
    for twin in (_sent(claim), copy.deepcopy(claim), type(claim).read(claim.to_json())):
        assert (twin, hash(twin)) == (claim, hash(claim))
    assert len({claim, statement.of(pld.gaussian(sigma=1), epsilon=2)}) == 2


def test_html_shows_texts_and_never_runs_them() -> None:
    class Note(Displayed):
        def _title(self) -> str:
            return "<b>"

        def _rows(self) -> dict[str, object]:
            return {"a&b": "<script>alert(1)</script>"}

    html = Note()._repr_html_()
    assert "<script" not in html
    assert "<b>" not in html
    assert _cells(html) == {"a&b": "<script>alert(1)</script>"}


def test_a_loss_is_named_by_its_mechanisms() -> None:
    loss = pld.sgd(noise_multiplier=2, rate="0.01", steps=100).then(pld.laplace(scale=1))
    text = repr(loss)
    assert "100 times" in text
    assert "Laplace" in text
    assert len(text) < 300
    assert _cells(loss._repr_html_())["neighbours"] == loss.neighbours
    many = pld.gaussian(sigma=1)
    for i in range(2, 40):
        many = many.then(pld.gaussian(sigma=i))
    assert "more" in repr(many)
    assert len(repr(many)) < 300


def test_numbers_of_any_length_have_a_repr() -> None:
    assert repr(DiscreteGaussian(sigma2="1e5000")) == "DiscreteGaussian(sigma2=1e5000)"


def test_a_budget_shows_what_is_left_and_is_never_copied(tmp_path: Path) -> None:
    budget = pld.Budget(epsilon=3, delta="1e-6", file=tmp_path / "budget.json")
    budget.spend(epsilon=1, delta="1e-7")
    assert "1 of 3 spent" in repr(budget)
    assert _cells(budget._repr_html_())["epsilon"] == "1 of 3 spent"
    assert copy.copy(budget) is budget
    for duplicate in (copy.deepcopy, pickle.dumps):
        with pytest.raises(TypeError, match=r"open it by Budget\.open"):
            duplicate(budget)


def test_a_sketch_equals_its_copies_and_its_repr_is_short() -> None:
    mechanism = ALP.of(rows=100, k=2, d=1000, epsilon=1, largest=50)
    sketch = mechanism.project({3: 20, 700: 5}, SystemSource())
    other = mechanism.project({3: 20, 700: 5}, SystemSource())
    assert _sent(sketch) == copy.deepcopy(sketch) == sketch
    assert hash(copy.copy(sketch)) == hash(sketch)
    assert sketch != other
    assert len(repr(sketch)) < 300
    assert _cells(sketch._repr_html_())["size"] == f"{len(sketch.to_bytes())} bytes"
    assert str(sketch).startswith("Sketch by ALP\n")


def test_a_loss_in_a_notebook_has_a_picture() -> None:
    loss = pld.gaussian(sigma=1)
    picture = delta_over_epsilon(loss)
    points = [float(x) for x in re.findall(r'<circle cx="([0-9.]+)"', picture)]
    assert len(points) == 5
    assert points == sorted(points)
    most = loss.epsilon("1e-10", width="0.01").decimal_upper(4)
    assert picture.endswith(f">{most}</text></svg>")
    assert loss._repr_html_().endswith(picture)


def test_a_loss_without_an_answer_has_no_picture() -> None:
    often_infinite = pld.approximate(epsilon=0, delta="0.1")
    assert delta_over_epsilon(often_infinite) == ""
    assert often_infinite._repr_html_().endswith("</table>")


@pytest.mark.few(6)
@pytest.mark.parametrize("name", CALCULATORS)
def test_a_calibration_in_a_notebook_has_a_picture(name: str) -> None:
    kind = calculator(name)
    values = {**kind.example, "epsilon": 1, "delta": "1e-6"}
    needed = [each for each, required in parameters_of(kind.calibrate).items() if required]
    calibration = kind.calibrate(**{each: values[each] for each in {*needed, "delta"}})
    assert isinstance(calibration, CalculatorCalibration)
    (least, value), *others = calibration.nearby()
    deltas = [float(value.upper), *(float(delta.upper) for _, delta in others)]
    assert deltas == sorted(deltas, reverse=True)
    chosen = Fraction(list(calibration.parameters.values())[-1])
    assert 0.8 * float(chosen) <= least < chosen
    assert dict(calibration.nearby())[chosen].upper <= calibration.target
    picture = calibration._repr_html_().partition("</table>")[2]
    assert picture.count('r="2.5"') == sum(delta > 0 for delta in deltas)
    assert picture.count('r="6"') == picture.count("stroke-dasharray") == 1


def test_a_calibration_with_the_least_possible_value_has_no_picture() -> None:
    calibration = stability.calibrate(epsilon=9, delta="0.995", n=10)
    assert calibration.refuted is None
    assert calibration._repr_html_().endswith("</table>")
    assert laplace.calibrate(epsilon=1)._repr_html_().endswith("</table>")  # the target is 0


def test_labels_that_would_cover_each_other_are_left_out() -> None:
    up = {"target": 0.5, "near": 0.55, "far": 1.0}
    picture = curve([(0, 0.5), (1, 1)], title="<t>", across=("a", "b"), up=up, level=0.5)
    assert ">target</text>" in picture
    assert ">far</text>" in picture
    assert ">near</text>" not in picture
    assert 'aria-label="&lt;t&gt;"' in picture


@pytest.mark.parametrize(
    "result",
    [
        gaussian.calibrate(epsilon=1, delta="1e-6").guarantee,
        statement.of(pld.gaussian(sigma=1), epsilon=1),
        statement.of(pld.gaussian(sigma=1), epsilon=1).check(),
        private(lambda vote, rng: vote ^ (rng.randrange(4) == 0), 0, 1, epsilon=1),
        Law({"<b>": 1}),
    ],
    ids=lambda result: type(result).__name__,
)
def test_a_notebook_shows_what_print_shows(result: Printed) -> None:
    assert f">{escape(str(result))}</pre>" in result._repr_html_()
