from __future__ import annotations

import contextlib
import io
import json
import os
import signal
from fractions import Fraction
from typing import Any

import pytest
from flint import acb
from hypothesis import given
from hypothesis import strategies as st
from mpmath import mp

from exactdp import InvalidParameter, Undecided
from exactdp.accounting import csh, gaussian, gshm
from exactdp.cli.main import main
from tests import reference


def run(*arguments: str) -> tuple[int, str, str]:
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        with pytest.raises(SystemExit) as stop:
            main(list(arguments))
    return int(stop.value.code or 0), out.getvalue(), err.getvalue()


ALL = ["calibrate", "sparse-histograms"]
URL = ["--k", "51914", "--sigma", "2222.7", "--tau", "13914", "--epsilon", "0.35"]


@pytest.mark.parametrize(
    ("claim", "code", "word"), [("1e-5", 0, "proved"), ("9e-6", 1, "refuted"), ("0.3", 0, "proved")]
)
def test_check_exit_codes(claim: str, code: int, word: str) -> None:
    exit_code, out, _ = run("check", "gshm", *URL, "--delta", claim)
    assert exit_code == code
    assert out.startswith(word)
    exit_code, out, _ = run("check", "gshm", *URL, "--delta", claim, "--json")
    assert json.loads(out)["verdict"] == word


def test_undecided_exits_3() -> None:
    point = ["--k", "1", "--sigma", "10", "--tau", "0", "--epsilon", "1", "--delta", "0.5"]
    code, out, _ = run("check", "gshm", *point)
    assert code == 3
    assert out.startswith("undecided")


def test_worst_case_is_reported() -> None:
    point = ["--sparsity", "10", "--sigma", "17.66", "--tau", "96.4", "--epsilon", "0.35"]
    report = json.loads(run("delta", "csh", *point, "--json")[1])
    assert report["worst_case"] == {"j": 10, "a": 7, "r": 0, "side": "A"}
    assert "10 shared counters, of which 7 change" in run("delta", "csh", *point)[1]


@pytest.mark.slow
def test_tables() -> None:
    discrete = ["--sigma2", "100", "--epsilon", "0.35"]
    noisy = ["--sparsity", "10", "--sigma", "18.25", "--tau", "104", "--epsilon", "0.35"]
    for arguments, words in (
        (["delta", "discrete-gaussian", *discrete], ["7.001601232e-6"]),
        (["check", "discrete-gaussian", *discrete, "--delta", "1e-5"], ["proved"]),
        (["check", "discrete-csh", *noisy, "--delta", "1e-5"], ["proved", "bound"]),
        (["delta", "gaussian", "--sigma", "4", "--epsilon", "1"], ["gaussian", "delta", "[2.924"]),
        (
            ["calibrate", "gaussian", "--epsilon", "1", "--delta", "1e-5"],
            ["3.730631635", "refuted"],
        ),
        (["calibrate", "gshm", "--k", "3", "--epsilon", "1", "--delta", "1e-5"], ["no tau <="]),
        ([*ALL, "--sparsity", "10", "--epsilon", "0.35", "--delta", "1e-5"], ["146.6", "131.9"]),
    ):
        code, out, err = run(*arguments)
        assert (code, err) == (0, "")
        for word in words:
            assert word in out


BAD = [
    ("--sigma", "-1", "sigma must be > 0"),
    ("--sigma", "nan", "sigma must be a finite number > 0"),
    ("--tau", "-1e5", "tau must be >= 0"),
    ("--k", "", "k must be an integer >= 1"),
    ("--delta", "1", "delta must be > 0 and < 1"),
    ("--analysis", "exakt", "analysis must be one of"),
    ("--taw", "3", "--taw"),
]


@pytest.mark.parametrize(("flag", "value", "message"), BAD)
def test_bad_input_is_one_line_and_exit_2(flag: str, value: str, message: str) -> None:
    given_ = {"--k": "3", "--sigma": "5", "--tau": "9", "--epsilon": "1", "--delta": "0.1"}
    given_[flag] = value
    code, out, err = run("check", "gshm", *[part for pair in given_.items() for part in pair])
    assert (code, out) == (2, "")
    assert message in err
    assert err.count("\n") == 1
    if flag != "--taw":
        assert value[:40] in err


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["delta", "gshm", *URL[:-2]], "epsilon must be a number >= 0, got nothing"),
        (["delta", "gshm", *URL, "--k", "7"], "k must be given once, got '51914' and '7'"),
        (["delta", "gsmh", *URL], "gsmh"),
        (["dleta"], "dleta"),
        (["delta", "gshm", *URL, "--k"], "--k"),
        (["delta", "gshm", *URL, "extra"], "extra"),
        (["delta", "gaussian", *URL], "--k"),
    ],
)
def test_wrong_calls(arguments: list[str], message: str) -> None:
    code, out, err = run(*arguments)
    assert (code, out) == (2, "")
    assert message in err
    assert err.count("\n") == 1


anything = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.decimals()
    | st.fractions(min_value=-5, max_value=5)
    | st.text(max_size=8)
    | st.lists(st.integers(), max_size=2)
)


@pytest.mark.slow
@given(st.sampled_from(["k", "sparsity"]), anything, anything, anything, anything)
def test_any_object_gives_an_answer_or_the_right_error(
    bound: str, most: object, sigma: object, tau: object, epsilon: object
) -> None:
    delta: Any = gshm.delta if bound == "k" else csh.delta
    try:
        bounds = delta(**{bound: most}, sigma=sigma, tau=tau, epsilon=epsilon)
    except InvalidParameter as error:
        assert error.name in (bound, "sigma", "tau", "epsilon")
        assert "\n" not in str(error)
    except Undecided:  # shared noise much wider than its grid
        assert bound == "sparsity"
        assert int(most) > 10**9  # type: ignore[call-overload]
    else:
        assert 0 <= bounds.lower <= bounds.upper <= 1


def test_gaussian_where_e_epsilon_leaves_every_exponent() -> None:
    delta = gaussian.delta(sigma=1, epsilon="3.4e38")
    assert delta.lower == 0
    assert delta < "1e-9999"


@pytest.mark.parametrize(("sigma", "tau"), [("10", "8"), ("4e60", "3e-1")])
def test_gshm_where_e_epsilon_leaves_every_exponent(sigma: str, tau: str) -> None:
    """What no noise hides any more is the threshold alone: 1 - Phi(tau/sigma)^3."""
    delta = gshm.delta(k=3, sigma=sigma, tau=tau, epsilon="9e3000")
    passes = 1 - reference.cdf(mp.mpf(tau) / mp.mpf(sigma)) ** 3
    assert abs(float(delta.lower) - float(passes)) < 1e-12
    assert delta.relative_width < Fraction(1, 10**10)


def test_gaussian_where_nothing_is_hidden() -> None:
    delta = gaussian.delta(sigma="6e-100", epsilon="5e60", sensitivity="2e20")
    assert delta.lower > 1 - Fraction(1, 10**12)


@pytest.mark.parametrize(
    ("mechanism", "bound"), [("discrete-gshm", "--k"), ("discrete-csh", "--sparsity")]
)
def test_targets_of_thousands_of_digits_are_refused_at_once(mechanism: str, bound: str) -> None:
    flags = [bound, "1", "--epsilon", "1", "--delta", "1e-5001"]
    code, text, err = run("calibrate", mechanism, *flags)
    assert (code, text) == (2, "")
    assert "delta must be >= 1e-300 for a calibration" in err


@pytest.mark.few(1)
@pytest.mark.parametrize(
    "mechanism", ["csh", "discrete-csh", "stability", "sums", "top-k-with-base"]
)
def test_delta_names_the_analysis_that_calibrate_uses(mechanism: str) -> None:
    # both as in the examples of their help
    named = set()
    for verb in ("delta", "calibrate"):
        example = run(verb, mechanism, "--help")[1].split("Example: exactdp ")[1].split()
        named.add(json.loads(run(*example, "--json")[1])["analysis"])
    assert len(named) == 1, named


@pytest.mark.parametrize(
    ("number", "code", "said"),
    [(signal.SIGTERM, 143, "terminated"), (signal.SIGINT, 130, "interrupted")],
)
def test_a_signal_that_arrives_within_code_in_c(
    monkeypatch: pytest.MonkeyPatch, number: int, code: int, said: str
) -> None:
    def integrand(x: acb, _: bool) -> acb:
        os.kill(os.getpid(), number)
        return x

    monkeypatch.setattr(gaussian, "hockey_stick", lambda *_: acb.integral(integrand, 0, 1))
    assert run("delta", "gaussian", "--sigma", "1", "--epsilon", "1") == (
        code,
        "",
        f"exactdp: {said}; unfinished work is lost\n",
    )


@pytest.mark.parametrize(
    ("words", "named"),
    [
        (["calibrate", "sparse-histograms"], ["sparsity, the", "contributions, the"]),
        (["calibrate", "csh"], ["sparsity, the", "contributions, the"]),
        (
            ["delta", "discrete-csh", "--sigma", "9", "--tau", "9"],
            ["sparsity, the", "contributions,"],
        ),
        (["check", "top-k", "--sigma", "9", "--tau", "9"], ["top, the", "contributions, the"]),
        (["delta", "correlated-gaussian", "--sigma", "9"], ["keys, the", "contributions, the"]),
        (
            ["release", "csh", "counts.csv", "--output", "new.csv"],
            ["top, the", "contributions, the"],
        ),
        (["figure", "seen", "--output", "new.svg"], ["sparsity, the", "contributions, the"]),
    ],
    ids=lambda value: " ".join(value[:2]),
)
def test_k_is_refused_where_it_could_be_another_bound(words: list[str], named: list[str]) -> None:
    target = ["--epsilon", "1", *([] if words[0] == "delta" else ["--delta", "1e-5"])]
    code, out, err = run(*words, "--k", "10", *target)
    assert (code, out) == (2, "")
    assert err.startswith("exactdp: k must be left out here: give ")
    assert all(name in err for name in named)
    assert "--k INTEGER" not in run(*words[:2], "--help")[1]


def test_sparse_histograms_print_what_the_bounds_allow() -> None:
    target = ["--epsilon", "0.35", "--delta", "1e-5"]
    users = run(*ALL, "--contributions", "10", *target)[1]
    assert "csh  " not in users.replace("discrete-", "")
    assert "sparsity" not in users
    both = json.loads(run(*ALL, "--contributions", "4", "--sparsity", "10", *target, "--json")[1])
    bounds = [tuple(row["given"].items()) for row in both if row["mechanism"] != "csh"]
    assert bounds == [(("k", "4"),)] * 3 + [(("sparsity", "10"),)]
    assert both[4]["given"] == {"sparsity": "10", "contributions": "4"}
    for row in both:
        needs = "never has more than sparsity = 10" in row["guarantee"]["neighbours"]
        assert needs == ("sparsity" in row["given"])
    code, out, err = run(*ALL, *target)
    assert (code, out) == (2, "")
    assert "contributions, sparsity must be given, at least one of the two" in err
