"""Formulas in texts: what is a formula, how it is set, and that nothing is lost."""

from __future__ import annotations

import re
from html import unescape
from xml.etree import ElementTree

import pytest
from exactdp_proofs.formulas import formulas, pieces
from exactdp_proofs.registry import ledger


def read(markup: str) -> ElementTree.Element:
    return ElementTree.fromstring(f"<p>{markup}</p>")  # noqa: S314


def skeleton(markup: str) -> str:
    """MathML by hand: ^(...) and _(...) for scripts, r(...) for roots, spaces between terms."""
    marks = {"msup": "^", "msub": "_", "msubsup": "_^", "msqrt": "r", "mover": "~"}

    def text_of(node: ElementTree.Element) -> str:
        inner = [text_of(child) for child in node]
        if node.tag in marks and node.tag != "msqrt":
            return inner[0] + marks[node.tag] + "".join(f"({script})" for script in inner[1:])
        body = (node.text or "") + "".join(inner)
        return f"r({body})" if node.tag == "msqrt" else body

    return " ".join(text_of(math) for math in read(markup))


@pytest.mark.parametrize(
    ("text", "formulas_in"),
    [
        ("e^(2 epsilon) <= sqrt(k_1) < 1e-5", ["e^(2ε) ≤r(k_(1)) <10^(−5)"]),
        ("at most e^epsilon times, plus delta, and 2^\N{MINUS SIGN}b", ["e^(ε)", "2^(−b)"]),
        ("with n = 53 D^2 m/(epsilon alpha)^2 samples", ["n =53D^(2)m/(εα)^(2)"]),
        ("s-sparse p, rho-zCDP, a user, I think, top-k, 0.7 s / 0.01 s, Theorem 4.2", []),
        ("an integer >= 0 and < 1024", ["≥0", "<1024"]),
        ("(epsilon, 0)-DP for k = 10 (m = 500)", ["k =10", "m =500"]),
        ("δ = 10⁻⁶ and √k, not 24 or 10⁶ rows of 51 914", ["δ =10^(−6)", "r(k)", "10^(6)"]),
        ("O(k log k + 1) and ln d, E|e_2|_2", ["O(klogk+1)", "lnd", "E|e_(2)|_(2)"]),
        ("--k 10, 0..600, I/O, 2026-11-26, a.b_c, x@y.z", []),
        ("unbalanced (1 + x and [0, 1) of y_i^2", ["1+x", "y_^(i)(2)"]),
        ("P(Z <= tau/2)^k, or 2e+02 %", ["P(Z≤τ/2)^(k)", "2·10^(2)"]),
    ],
)
def test_what_is_a_formula(text: str, formulas_in: list[str]) -> None:
    assert [skeleton(each) for formula, each in pieces(text) if formula] == formulas_in


def test_nothing_of_a_statement_is_lost() -> None:
    for part in ledger():
        markup = read(formulas(part.statement))
        wanted = re.sub(r"\b1e(?=-?\d)", "10", re.sub(r"sqrt\b|√", "", part.statement))
        wanted = re.sub(r"(?<=\d)e(?=-?\d)", "10", wanted)
        assert letters("_".join(markup.itertext())) == letters(wanted), part.statement


def letters(text: str) -> str:
    names = re.compile(r"(?<![A-Za-z])(eps|inf(?:inity)?|[A-Za-z][a-z]{1,6})(?![A-Za-z])")
    known = {"eps": "\N{GREEK SMALL LETTER EPSILON}", "inf": "", "infinity": ""}
    text = names.sub(lambda name: known.get(name[0], unescape(f"&{name[0]};")), text)
    return re.sub(r"[\W_]", "", text)
