"""Formulas for a page: our ASCII ones in Unicode, the papers' LaTeX in MathML; no network."""

from __future__ import annotations

import re
from html import escape

from exactdp.extras import optional

_MINUS = "\N{MINUS SIGN}"
_GREEK = (
    "(?i:alpha|beta|gamma|delta|epsilon|eps|zeta|eta|theta|kappa|lambda|mu|nu|xi|pi|rho|sigma|tau"
    "|phi|chi|psi|omega)"
)
_SIGNS = {
    "&lt;=": "≤",
    "&gt;=": "≥",
    "!=": "≠",
    "+-": "±",
    "-&gt;": "→",
    " * ": " · ",
    "_infinity": "_∞",
    "_inf": "_∞",
}
_NAMES = re.compile(rf"(?<![A-Za-z]){_GREEK}(?![A-Za-z])")
_ROOT = re.compile(r"\bsqrt(?=[ (])\s*")
_TENS = re.compile(r"\b(\d+(?:\.\d+)?)e(-?)(\d+)\b")
_RAISED = re.compile(r"\^(\((?:[^()]|\([^()]*\))*\)|-?[\w.]+(?:/\d+)?|\*)")
_LOWERED = re.compile(r"(?<=[\w)|'>;])_(\{[^{}]*\}|\([^()]*\)|[^\W_]+|&\w+;|∞)")


def formulas(text: str) -> str:
    """Text with formulas such as e^(2 epsilon) <= sqrt(k_1), as HTML.

    >>> formulas("e^(2 epsilon) <= sqrt(k_1) < 1e-5")
    'e<sup>2 &epsilon;</sup> ≤ √(k<sub>1</sub>) &lt; 10<sup>\u22125</sup>'
    """
    found = escape(text, quote=False)
    for sign, letter in _SIGNS.items():
        found = found.replace(sign, letter)
    found = _NAMES.sub(lambda name: f"&{'epsilon' if name[0] == 'eps' else name[0]};", found)
    found = _ROOT.sub("√", found)
    found = _TENS.sub(_power_of_ten, found)
    found = _RAISED.sub(lambda part: f"<sup>{_bare(part[1])}</sup>", found)
    return _LOWERED.sub(lambda part: f"<sub>{_bare(part[1])}</sub>", found)


def quotation(words: str) -> str:
    """Quoted LaTeX as HTML with MathML, or an empty text where there is none to convert."""
    convert = optional("latex2mathml.converter").convert
    pieces = re.split(r"\$([^$]+)\$", words) if "$" in words else ["", words]
    if "\\" not in words:
        return ""
    try:
        shown = [convert(piece) if i % 2 else escape(piece) for i, piece in enumerate(pieces)]
    except Exception:  # the text of a paper may be damaged: its words stand beside this
        return ""
    return re.sub(r' xmlns="[^"]*"', "", "".join(shown))


def _power_of_ten(number: re.Match[str]) -> str:
    factor = "" if number[1] == "1" else f"{number[1]}·"
    return f"{factor}10<sup>{_MINUS * bool(number[2])}{number[3]}</sup>"


def _bare(part: str) -> str:
    inner = part[1:-1] if part[0] in "({" and part[-1] in ")}" else part
    return inner.replace("-", _MINUS)
