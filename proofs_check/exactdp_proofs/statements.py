r'''How an entry of the ledger is written: a check whose docstring is the statement.

An entry is a numbered item of a paper (or a display, table, figure). Its *parts* are the item's
own statement and the steps worth deciding; each part is a function. The arguments' defaults stand
for the statement, those of `mutant` for a variant that is slightly false: the check must accept
the one and reject the other. The check compares with :mod:`exactdp_proofs.comparisons`;
whether the statement is then *proved* or *verified*, on how many cases, and how near, is counted.

A statement that holds (`fitted`: still true with these arguments; printed as evidence). One that
needs a condition which the text lacks is `SVA.conditional`, with a paragraph `Condition:`::

    @SVA.holds("Lemma 14")
    @mutant(constant=Fraction(7, 4))
    @fitted(constant=Fraction(9, 5))
    def lemma_14(constant: Fraction = Fraction(3)) -> None:
        """Bins differ by more than 3 sqrt(b L log(2b/delta)) with probability at most delta.

        Note: h and s are uniform, as in Algorithm 1.
        """
        for b, delta in product((1, 2), DELTAS):
            at_most(tail(b, constant), delta, b=b, delta=delta)

A numbered theorem or lemma that is verified says in a paragraph `Needs:` what a proof would need;
one that is *argued* gives the argument in a paragraph `Proof:`, and its check decides every
computation for all values (`identity`, `never_below_zero`, `always_positive`). Where a paragraph
`Rocq:` names a theorem of `proofs_check/rocq/Papers.v`, whose proof Rocq reads, it is *proved*.

A part of the same entry, "proof, order", that is false as printed. `as_printed` makes the check
say what is printed, and must fail; the defaults say what is correct. The docstring also has the
words, the regime in which they fail, and a minimal counterexample that does not use the check.
`SVA.note` takes the same, for what is false to the letter only;
`exactdp_proofs.vocabulary.SEVERITY_RULE` tells them apart::

    @SVA.refuted("Lemma 14", "proof, order", severity="loose")
    @as_printed(k=1)
    @mutant(k=2)
    def order(k: int = 3) -> None:
        r"""sqrt(log d/n) is of smaller order than (1/epsilon) sqrt(k log(d/k)/n) for every k.

        Printed (Appendix D, Lemma 20, line 663): $\leq O(\sqrt{\log d}) = o(\frac{1}{\epsilon} ...
        Corrected: It is for k >= 3.
        Regime: k and epsilon constant.
        Extraction: no: the same little-o is what the reduction needs.

        >>> 1 + 1
        2

        """

The check of a statement about privacy takes an argument of `WEAKER`, by default 1. It examines the
mechanism made for `loss` times the epsilon of the statement, and must fail where that is 1.03; so
must it with 0.97 times a `threshold`. `loose` says from where on the check fails if less is
proved than is true; `no_mechanism` says why there is nothing to weaken::

    @SVA.holds("Section II-A", "privacy")
    @weaker
    def hashing_private(loss: Fraction = Fraction(1)) -> None:
        """Flipping a bit with probability 1/(e^epsilon + 1) is epsilon-LDP."""
        for e_epsilon in FACTORS:
            flip = 1 / (raised(e_epsilon, loss) + 1)
            at_most((1 - flip) / flip, e_epsilon, e_epsilon=e_epsilon)

What no program can decide::

    SVA.not_checkable("Theorem 11", "The error is Omega(1/epsilon).", "asymptotic; cited")
'''

from __future__ import annotations

import inspect
import re
import sys
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, TypeVar

from exactdp.errors import ExactDPError, InvalidParameter
from exactdp_proofs.evidence import Evidence, recorded
from exactdp_proofs.vocabulary import PAPERS, SEVERITIES

Check = Callable[..., object]
C = TypeVar("C", bound=Check)
Arguments = Mapping[str, object]

#: Arguments of a check that make the mechanism it examines weaker, and values that must be noticed.
WEAKER: Mapping[str, Fraction] = {"loss": Fraction(103, 100), "threshold": Fraction(97, 100)}

_LABELS = (
    *("Condition", "Corrected", "Extraction", "Needs", "Note"),
    *("Printed", "Proof", "Regime", "Rocq"),
)


@dataclass(frozen=True)
class Printed:
    """The words of a paper that an erratum speaks of.

    words: an exact quotation, short; " ... " stands for words left out.
    where: section, item, display or sentence. line: of the paper's text, counted from 1.
    """

    words: str
    where: str
    line: int


@dataclass(frozen=True, kw_only=True)
class Part:
    """One statement of an entry: the item's own (name is empty) or a step of it.

    kind: "holds", "conditional", "refuted", "note" or "not checkable".
    says: the mutant in words. fitted: sharper arguments with which the check still passes.
    follows_from, rests_on: ids of the refuted part that is the cause.
    loose: why mechanisms that are weaker by less than `noticed` rightly pass; else empty.
    no_mechanism: why a statement about privacy has no mechanism that could be weaker; else empty.
    proof: the argument whose steps the check decides for all values. rocq: the theorem of
        proofs_check/rocq/Papers.v that states it, which makes it proved.
    needs: of a numbered statement that is verified on instances, what a proof would need.
    elsewhere, slack: why the mutant rightly fails at another comparison or case, or why the check
        rightly stays far from its bound; else empty.
    """

    paper: str
    item: str
    name: str
    statement: str
    kind: str
    module: str
    check: Check | None = field(default=None, repr=False)
    mutant: Arguments = field(default_factory=dict)
    says: str = ""
    fitted: Arguments = field(default_factory=dict)
    as_printed: Arguments = field(default_factory=dict)
    printed: Printed | None = None
    corrected: str = ""
    regime: str = ""
    extraction: str = ""
    example: str = field(default="", repr=False)
    severity: str = ""
    follows_from: str = ""
    condition: str = ""
    rests_on: str = ""
    note: str = ""
    proof: str = ""
    rocq: str = ""
    needs: str = ""
    reason: str = ""
    ours: bool = False
    slow: bool = False
    elsewhere: str = ""
    slack: str = ""
    loose: str = ""
    noticed: Arguments = field(default_factory=dict)
    no_mechanism: str = ""

    def __post_init__(self) -> None:
        for name in ("item", "statement", *_REQUIRED[self.kind]):
            if not getattr(self, name):
                said = f"given for {self.id}, a statement of the kind '{self.kind}'"
                raise InvalidParameter(name, "nothing", said)
        if self.severity and self.severity not in SEVERITIES:
            raise InvalidParameter("severity", self.severity, "one of " + ", ".join(SEVERITIES))

    @property
    def entry(self) -> str:
        """The id of the entry that this is a part of, such as "BV-Lemma-2.9"."""
        return _id(self.paper, self.item)

    @property
    def id(self) -> str:
        """The id of the part, such as "BV-Lemma-2.9-proof-first-step"."""
        return _id(self.paper, f"{self.item} {self.name}")

    @property
    def title(self) -> str:
        """Item and name as a heading."""
        return f"{self.item}, {self.name}" if self.name else self.item

    @property
    def evidence(self) -> Evidence:
        """What the last recorded run showed."""
        return recorded(self.paper, self.id)

    @property
    def verdict(self) -> str:
        """A key of VERDICTS; for what holds, the outcome of the last recorded run."""
        return self.kind if self.kind != "holds" else self.evidence.outcome or "not recorded"

    @property
    def source(self) -> str:
        """The file that defines the part, relative to the repository."""
        return "proofs_check/" + self.module.replace(".", "/") + ".py"


_FAILING = ("as_printed", "mutant", "printed", "corrected", "severity")
_REQUIRED: Mapping[str, tuple[str, ...]] = {
    "holds": ("mutant",),
    "conditional": ("mutant", "condition"),
    "refuted": (*_FAILING, "regime", "extraction", "example"),
    "note": _FAILING,
    "not checkable": ("reason",),
}

#: Name of a module -> the parts that it has registered, in order.
REGISTERED: dict[str, list[Part]] = {}


@dataclass(frozen=True)
class Paper:
    """Registers the parts of one paper's entries; the decorators return the check unchanged."""

    key: str
    ours: bool = False

    def holds(self, item: str, name: str = "", **more: Any) -> Callable[[C], C]:
        """A statement that passes its check; its mutant must not."""
        return self._decorator("holds", item, name, more)

    def conditional(self, item: str, name: str = "", **more: Any) -> Callable[[C], C]:
        """The same, under a condition that the text lacks or resting on a refuted step."""
        return self._decorator("conditional", item, name, more)

    def refuted(self, item: str, name: str = "", **more: Any) -> Callable[[C], C]:
        """A statement that is false as printed."""
        return self._decorator("refuted", item, name, more)

    def note(self, item: str, name: str = "", **more: Any) -> Callable[[C], C]:
        """A statement that is false to the letter, in an item that shows what is meant."""
        return self._decorator("note", item, name, {"severity": "cosmetic", **more})

    def not_checkable(
        self, item: str, statement: str, reason: str, name: str = "", rests_on: str = ""
    ) -> None:
        """A statement that no program can decide, and why not."""
        more = {"item": item, "name": name, "reason": reason, "rests_on": rests_on}
        self._add("not checkable", sys._getframe(1).f_globals["__name__"], statement, more)

    def _decorator(self, kind: str, item: str, name: str, more: dict[str, Any]) -> Callable[[C], C]:
        def register(check: C) -> C:
            settings = vars(check).pop("arguments", {})
            for arguments in ("mutant", "fitted", "as_printed", "noticed"):
                inspect.signature(check).bind(**settings.get(arguments, {}))
            settings["says"] = settings.get("says") or _in_words(check, settings.get("mutant", {}))
            fields = {"item": item, "name": name, "check": check} | more | settings
            self._add(kind, check.__module__, _document(check), fields)
            return check

        return register

    def _add(self, kind: str, module: str, document: str, fields: dict[str, Any]) -> None:
        every = {"ours": self.ours} | fields | _read(document)
        part = Part(paper=self.key, kind=kind, module=module, **every)
        REGISTERED.setdefault(module, []).append(part)


def mutant(says: str = "", /, **arguments: object) -> Callable[[C], C]:
    """Arguments that make the statement slightly false, and how to say so (default: as written)."""
    return _keep(mutant=arguments, says=says)


def fitted(**arguments: object) -> Callable[[C], C]:
    """Sharper arguments with which the check still passes: evidence, not part of the statement."""
    return _keep(fitted=arguments)


def weaker(check: C) -> C:
    """The mutant is the mechanism that loses 3 % more than the statement says."""
    return mutant("a mechanism that loses 3 % more", loss=WEAKER["loss"])(check)


def loose(why: str, /, **noticed: object) -> Callable[[C], C]:
    """Why a mechanism 3 % weaker keeps the statement, and the arguments from which on none does."""
    return _keep(loose=why, noticed=noticed)


def as_printed(**arguments: object) -> Callable[[C], C]:
    """Arguments that make the check say what is printed, where that is false."""
    return _keep(as_printed=arguments)


def _keep(**fields: object) -> Callable[[C], C]:
    def remember(check: C) -> C:
        vars(check).setdefault("arguments", {}).update(fields)
        return check

    return remember


def _document(check: Callable[..., object]) -> str:
    """The docstring of a check."""
    if not (document := inspect.getdoc(check)):
        raise ExactDPError(
            f"{check.__qualname__} has no docstring: it is the statement that the check decides. "
            "Python removes docstrings under -OO and PYTHONOPTIMIZE=2: run without them."
        )
    return document


def _read(document: str) -> dict[str, Any]:
    """The fields that a docstring has: statement, labelled paragraphs, and an example."""
    prose, sign, example = document.partition(">>> ")
    pieces = re.split(rf"^({'|'.join(_LABELS)})(?: \((.*), line (\d+)\))?:", prose, flags=re.M)
    fields: dict[str, Any] = {"statement": " ".join(pieces[0].split())}
    for label, where, line, text in zip(*(pieces[i::4] for i in (1, 2, 3, 4)), strict=True):
        words = " ".join(text.split())
        fields[label.lower()] = Printed(words, where, int(line)) if where else words
    if sign:
        fields["example"] = sign + example
    return fields


def _in_words(check: Check, mutant: Arguments) -> str:
    """For example "constant = 7/4 in place of 3"."""
    parameters = inspect.signature(check).parameters
    known = [name for name in mutant if name in parameters]
    return ", ".join(f"{n} = {mutant[n]} in place of {parameters[n].default}" for n in known)


def _id(paper: str, title: str) -> str:
    words: Iterable[str] = re.findall(r"[A-Za-z0-9.]+", title)
    return "-".join([paper, *(word.strip(".") for word in words)])


BV, CSH, ALP, CP, SVA = (Paper(key) for key in list(PAPERS)[:5])

#: For the page on privacy loss distributions, where there is no paper.
PLD = Paper("PLD", ours=True)
