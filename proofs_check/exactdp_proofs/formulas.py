"""Formulas as they are typed, such as e^(2 epsilon) <= sqrt(k_1), in a text: set in MathML.

A formula is a longest run of numbers, letters, Greek names, functions and signs with balanced
brackets, in which something relates, raises, lowers or computes. Words are none of these: they end
it. A formula is broken before its relations, where a browser may break the line.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from html import escape, unescape

_PRIME = "\N{PRIME}"
_MINUS = "\N{MINUS SIGN}"
_GREEK = {
    name: unescape(f"&{name};")
    for name in (
        *("alpha", "beta", "gamma", "delta", "epsilon", "zeta", "eta", "theta", "kappa", "lambda"),
        *("mu", "nu", "xi", "pi", "rho", "sigma", "tau", "phi", "chi", "psi", "omega", "Gamma"),
        *("Delta", "Theta", "Lambda", "Sigma", "Phi", "Psi", "Omega"),
    )
} | {"eps": unescape("&epsilon;")}
_FUNCTIONS = {"ln", "log", "exp", "ceil", "floor", "max", "min", "cosh", "sinh", "tanh", "coth"}
_FUNCTIONS |= {"artanh", "Pr", "Var"}
_RELATIONS = {"<=": "≤", ">=": "≥", "!=": "≠", "->": "→", **{sign: sign for sign in "=<>≤≥≈≠→"}}
_SIGNS = {"-": _MINUS, _MINUS: _MINUS, "±": "±", "+-": "±"}
_OPERATORS = {**_SIGNS, "+": "+", "*": "·", "·": "·", "/": "/"}
_RAISED = dict(zip("⁰¹²³⁴⁵⁶⁷⁸⁹⁻ⁿ", "0123456789-n", strict=True))
_CLOSING = {"(": ")]", "[": "])", "{": "}"}
_TOKEN = re.compile(
    r"(?P<number>\d+(?: \d{3}\b)*(?:\.\d+)?(?:e[+-]?\d+)?)|(?P<name>[A-Za-z]+|[\u0391-\u03c9])"
    rf"|(?P<raised>[{''.join(_RAISED)}]+)|(?P<sign><=|>=|!=|->|\+-|[^\w\s])"
)
_BARE = re.compile(rf"(?<![A-Za-z`])({'|'.join(_GREEK)}|sqrt(?=[ (]))(?![A-Za-z])")


def formulas(text: str) -> str:
    """Text as HTML, with its formulas in MathML and Greek letters for their names.

    >>> formulas("at most k^2 for epsilon")
    'at most <math><msup><mi>k</mi><mn>2</mn></msup></math> for ε'
    """
    return "".join(
        piece
        if formula
        else _BARE.sub(lambda name: _GREEK.get(name[0], "√"), escape(piece, quote=False))
        for formula, piece in pieces(text)
    )


def pieces(text: str) -> Iterator[tuple[bool, str]]:
    """The text in pieces: (False, plain text) and (True, MathML)."""
    plain = at = 0
    while at < len(text):
        formula_and_end = _Formula(text, at).whole() if _begins(text, at) else None
        if formula_and_end is None:
            at += 1
            continue
        yield False, text[plain:at]
        terms, at = formula_and_end
        plain = at
        yield True, " ".join(f"<math>{term}</math>" for term in terms)
    yield False, text[plain:]


def _begins(text: str, at: int) -> bool:
    return not text[at].isspace() and (at == 0 or not re.match(r"[\w.'@]", text[at - 1]))


class _Formula:
    """Parser of the formula that begins at a place; methods return None if they find nothing."""

    def __init__(self, text: str, at: int) -> None:
        self._text, self._at = text, at
        self._formal = False  # whether anything in it is more than a name or a number

    def whole(self) -> tuple[list[str], int] | None:
        """The terms between which a line may be broken, and where the formula ends."""
        terms: list[str] = []
        while True:
            begun = self._at
            relation = self._sign(_RELATIONS)
            term = self._term(inside=False) if relation or not terms else None
            if term is None:
                self._at = begun
                break
            self._formal |= bool(relation)
            terms.append(_operator(relation, 'form="infix" lspace="0"') + term)
        return (terms, self._at) if terms and self._formal and self._ends() else None

    def _ends(self) -> bool:
        """Whether the formula ends here, and not in the middle of a word."""
        return not re.match(r"\w", self._text[self._at :])

    def _term(self, inside: bool) -> str | None:
        """Factors with operators between them."""
        markup, begun = "", self._at
        while True:
            place = self._at
            operator = self._sign(_OPERATORS if markup else _SIGNS) or ""
            spaced = self._text[place : place + 1] == " "
            if operator == "/" and spaced:  # 0.7 s / 0.01 s: two numbers, and a unit
                self._at = place
                return markup or None
            factor = self._factor(inside=inside or bool(markup))
            if factor is None or (not markup and self._is_article(begun, inside)):
                self._at = place
                return markup or None
            self._formal |= bool(operator and markup) and (spaced or operator in "·/+")
            markup += _operator(operator) if operator or not markup else _gap(factor)
            markup += factor

    def _is_article(self, begun: int, inside: bool) -> bool:
        """Whether a formula would begin with the words a or I."""
        return not inside and bool(re.match(r"[aAI]( [^=<>+*/-]|[,.;:)/]|$)", self._text[begun:]))

    def _factor(self, inside: bool) -> str | None:
        """An atom with its superscript, its subscript and the argument it is applied to."""
        begun, formal = self._at, self._formal
        atom = self._atom(inside)
        if atom is None:
            self._at, self._formal = begun, formal
            return None
        raised = lowered = ""
        while True:
            if markup := self._match(_TOKEN, "raised"):
                raised += _number("".join(_RAISED[each] for each in markup))
            elif markup := self._script("^"):
                raised += markup
            elif markup := self._script("_"):
                lowered += markup
            elif primes := self._match(re.compile("'+(?![A-Za-z])")):
                raised += f"<mo>{_PRIME * len(primes)}</mo>"
            else:
                break
            self._formal = True
        if raised and lowered:
            return f"<msubsup>{atom}{_row(lowered)}{_row(raised)}</msubsup>"
        tag, script = ("msup", raised) if raised else ("msub", lowered)
        return f"<{tag}>{atom}{_row(script)}</{tag}>" if script else atom

    def _atom(self, inside: bool) -> str | None:
        """A number, a letter, a function with its argument, or something in brackets."""
        begun = self._at
        self._match(re.compile(" ?"))
        if self._match(re.compile("√|sqrt(?=[ (])")):
            self._match(re.compile(" ?"))
            root = self._group("(") or self._factor(inside=True)
            self._formal = True
            return root and f"<msqrt>{root.removeprefix(_OPEN).removesuffix(_CLOSE)}</msqrt>"
        if number := self._match(_TOKEN, "number"):
            self._formal |= "e" in number
            return _number(number)
        if self._text[self._at : self._at + 1] in ("(", "[", "{", "|"):
            glued = begun == self._at and inside
            return self._group(self._text[self._at], formal=glued)
        name = self._match(_TOKEN, "name")
        if not name or not (len(name) == 1 or name in _GREEK or name in _FUNCTIONS):
            return None
        if name in _FUNCTIONS:
            argument = self._group("(") or self._factor(inside=True)
            self._formal = True
            space = "" if argument and argument.startswith(_OPEN) else _SPACE
            return argument and f"<mrow><mi>{name}</mi>{space}{argument}</mrow>"
        digits = self._match(re.compile(r"\d+"))
        tilde = self._match(re.compile("~(?! )"))
        letter = f"<mi>{_GREEK.get(name, name)}</mi>"
        letter = f'<mover accent="true">{letter}<mo>~</mo></mover>' if tilde else letter
        self._formal |= bool(tilde or digits) and name in _GREEK
        letter = f"<msub>{letter}<mn>{digits}</mn></msub>" if digits else letter
        applied = self._group("(") if re.match(r"\((?! )", self._text[self._at :]) else None
        self._formal |= applied is not None
        return f"<mrow>{letter}{applied}</mrow>" if applied else letter

    def _group(self, opening: str, formal: bool = False) -> str | None:
        """What is in brackets, or between the bars of an absolute value."""
        begun, known = self._at, self._formal
        if not self._text.startswith(opening, begun):
            return None
        self._at += 1
        markup, closing = "", _CLOSING.get(opening, "|")
        while (term := self._term(inside=True)) is not None:
            markup += term
            sign = self._sign({**_RELATIONS, ",": ",", ";": ";", "|": "|", "~": "~"}, closing)
            if sign is None:
                break
            markup += _operator(sign)
        end = self._text[self._at : self._at + 1]
        if not markup or not end or end not in closing or self._doubtful(begun):
            self._at, self._formal = begun, known
            return None
        self._at += 1
        self._formal |= formal or opening == "|"
        return f"<mrow>{_bracket(opening)}{markup}{_bracket(end)}</mrow>"

    def _doubtful(self, begun: int) -> bool:
        """Whether brackets hold no formula, but a remark such as (k = 10) or a letter."""
        inner = self._text[begun + 1 : self._at]
        before = self._text[begun - 1 : begun]
        return before in ("", " ") and bool(re.search(r"[=<>≤≥]", inner))

    def _script(self, mark: str) -> str:
        """The script after this mark: the content of brackets, or a name or number."""
        begun = self._at
        if not self._match(re.compile(re.escape(mark))):
            return ""
        for opening in "({":
            if group := self._group(opening):
                return re.sub(r"^<mrow><mo[^>]*>.</mo>(.*)<mo[^>]*>.</mo></mrow>$", r"\1", group)
        minus = f"<mo>{_MINUS}</mo>" * bool(self._match(re.compile(f"[{_MINUS}-]")))
        body = self._match(re.compile(r"[A-Za-z]+|[\u0391-\u03c9∞*]|\d+(?:\.\d+)?(?:/\d+)?"))
        if not body:
            self._at = begun
            return ""
        if body[0].isdigit():
            return f"{minus}<mn>{body}</mn>"
        infinite = body in ("inf", "infinity", "∞")
        name = f"<mi>{'∞' if infinite else _GREEK.get(body, body)}</mi>"
        index = self._match(re.compile(r"_\w"))  # e^eps_2: the exponent has the index
        return minus + (f"<msub>{name}<mn>{index[1:]}</mn></msub>" if index else name)

    def _sign(self, signs: dict[str, str], closing: str = "") -> str | None:
        """The MathML of the next sign, if it is one of these; reads the spaces around it, too."""
        place = self._at
        self._match(re.compile(" ?"))
        sign = self._match(_TOKEN, "sign") or ""
        if sign not in signs or (sign in closing and sign):
            self._at = place
            return None
        self._match(re.compile(" ?"))
        return signs[sign]

    def _match(self, pattern: re.Pattern[str], kind: str = "") -> str:
        """Read the text that the pattern matches here and return it; empty if it does not match."""
        match = pattern.match(self._text, self._at)
        if not match or (kind and match.lastgroup != kind):
            return ""
        self._at = match.end()
        return match[0]


_SPACE = '<mspace width=".17em"/>'


def _bracket(sign: str) -> str:
    return f'<mo stretchy="false">{sign}</mo>'


_OPEN, _CLOSE = f"<mrow>{_bracket('(')}", f"{_bracket(')')}</mrow>"


def _operator(sign: str | None, more: str = "") -> str:
    more = 'lspace="0" rspace="0"' if sign == "/" else more
    return f"<mo{more and ' '}{more}>{escape(sign)}</mo>" if sign else ""


def _gap(factor: str) -> str:
    """The space before a factor that follows another one: some before the name of a function."""
    return _SPACE if re.match(r"<mrow><mi>\w\w", factor) else ""


def _row(inner: str) -> str:
    """One element: a script may be several."""
    return inner if re.fullmatch(r"<(\w+)>[^<]*</\1>", inner) else f"<mrow>{inner}</mrow>"


def _number(text: str) -> str:
    """A number, 1e-5 as a power of ten.

    >>> _number("2e-5")
    '<mn>2</mn><mo>·</mo><msup><mn>10</mn><mrow><mo>\u2212</mo><mn>5</mn></mrow></msup>'
    """
    factor, _, power = text.partition("e")
    if not power:
        minus, digits = text[:1] == "-", text.lstrip("-")
        kind = "mi" if digits == "n" else "mn"
        return f"{f'<mo>{_MINUS}</mo>' * minus}<{kind}>{digits}</{kind}>"
    raised = _row(_number(str(int(power))))
    before = "" if factor == "1" else f"<mn>{factor}</mn><mo>·</mo>"
    return f"{before}<msup><mn>10</mn>{raised}</msup>"
