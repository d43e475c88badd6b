"""CSH, Section 6: a lower threshold, and sums next to the counts."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from fractions import Fraction
from itertools import count, product

from exactdp import mechanisms
from exactdp.errors import InvalidParameter
from exactdp.proofs_check.claim import Mutant, Printed, Quibble, require
from exactdp.proofs_check.claims.csh._top_k import rank, reduced
from exactdp.proofs_check.entries import CSH, varied
from exactdp.samplers import SeededSource

__all__ = ["CLAIMS"]

Vector = tuple[int, ...]
Cut = Callable[[Vector], int]

_TAU = Fraction(7, 2)


def _lower(less: int) -> str:
    """With the lower threshold l the shipped code does to counts c >= l, draw by draw, what it does
    to c - (l - less) where tau is l - less lower, and promises the same; smaller counts are lost.
    """
    shown = 0
    for kind, lower in product((mechanisms.GSHM, mechanisms.CSH), (1, 2, 4)):
        down = lower - less
        code = kind(4, 3, 6, 1, "0.99", lower)
        shorter = kind(4, 3, 6 - down, 1, "0.99")
        promises = code.guarantee().delta, shorter.guarantee().delta
        require(promises[0] == promises[1], f"{kind.__name__}, lower={lower}: {promises}")
        for counts, seed in product(((lower, lower + 3, lower + 9), (lower,)), range(40)):
            all_counts = {**dict(enumerate(counts)), 7: lower - 1}
            found = code.draw(all_counts, SeededSource(seed))
            plain = shorter.draw({i: c - down for i, c in enumerate(counts)}, SeededSource(seed))
            stated = tuple((i, c + down) for i, c in plain)
            shown += len(found)
            case = f"{kind.__name__}, lower={lower}, counts {all_counts}, seed {seed}: "
            require(found == stated, f"{case}{found}, with shorter tau {stated}")
    return f"GSHM and CSH, lower thresholds 1, 2, 4, 40 seeds each; {shown} counters shown"


def _structure(independent: bool) -> str:
    """Cutting at a lower threshold keeps supports nested and changes to one side."""
    lost = list(_lost(independent))
    require(len(lost) == 0, lost[0] if lost else "")
    return "512 neighbouring histograms of 3 counters, cut at 1, 2 and 3"


def _care(when_independent: bool) -> str:
    """Care is needed: some pair loses the structure when the threshold is (in)dependent."""
    lost = list(_lost(when_independent))
    require(len(lost) >= 1, "no pair of 512 loses the structure")
    return lost[0]


def _both_lost(cuts: tuple[Cut, Cut]) -> str:
    """By the first cut some supports are not nested, by the second counters of any count appear."""
    nested = [kept[0] <= kept[1] for _, _, _, kept in _kept_by(cuts[0])]
    require(not all(nested), f"all of {len(nested)} pairs: nested")
    appear = {more[i] for _, more, _, kept in _kept_by(cuts[1]) for i in kept[1] - kept[0]}
    require(appear == {1, 2, 3, 4}, f"counters appear with the counts {appear} only")
    return "512 neighbouring histograms of 3 counters, cut at the largest count or by the zeros"


def _zeros(histogram: Vector) -> int:
    """A cut that falls when counters appear: at 1 when none is zero."""
    return 1 + 2 * histogram.count(0)


def _lost(independent: bool) -> Iterator[str]:
    """The neighbours that lose the structure by a fixed cut (1, 2, 3), or by the largest count."""
    for cut_of in (_fixed(1), _fixed(2), _fixed(3)) if independent else (_largest,):
        yield from _lost_by(cut_of)


def _fixed(cut: int) -> Cut:
    return lambda _: cut


def _largest(histogram: Vector) -> int:
    return max(histogram)


def _kept_by(cut_of: Cut) -> Iterator[tuple[Vector, Vector, list[int], list[set[int]]]]:
    """All neighbours of three counters up to 3, their cuts and what these keep."""
    for less in product(range(4), repeat=3):
        for user in product((0, 1), repeat=3):
            more = tuple(x + u for x, u in zip(less, user, strict=True))
            cuts = [cut_of(h) for h in (less, more)]
            kept = [
                {i for i, x in enumerate(h) if x >= cut and x}
                for h, cut in zip((less, more), cuts, strict=True)
            ]
            yield less, more, cuts, kept


def _lost_by(cut_of: Cut) -> Iterator[str]:
    """The neighbours whose supports are not nested, or that gain a counter of another count."""
    for less, more, cuts, kept in _kept_by(cut_of):
        nested = kept[0] <= kept[1]
        appear = all(more[i] == cuts[1] for i in kept[1] - kept[0])
        lost = ["not nested"] * (not nested) + ["another count"] * (not appear)
        if lost:
            yield f"H={less}, H'={more}, cut at {cuts}: kept {kept}, {' and '.join(lost)}"


def _halving(hundredths: int) -> str:
    """Values in [0, C], recentred by so many hundredths of C, need half of what they needed."""
    for top in (100, 200):
        values = range(0, top + 1, top // 4)
        before, after = _asked(values, 0), _asked(values, top * hundredths // 100)
        require(2 * after <= before, f"C={top}: {before} per user before, {after} after")
    return "C = 100, 200; three users at quarters of C"


def _recentred(added: int) -> str:
    """[100, 200]: what the shipped release asks for, and its errors at one seed.

    The sum of the values less 150 is published, and `added` times the count is added.
    """
    asked = [_asked(range(100, 201, 10), center) for center in (0, 150)]
    require(asked == [200, 50], f"{asked} per user before and after")
    errors = set()
    for seed, data in product(range(20), ((100, 170, 200) * 10, (200,) * 31)):
        centred = sum(data) - 150 * len(data)
        source = SeededSource(seed)
        ((_, (count, total)),) = _WITH_SUMS.draw_sums({0: len(data)}, {0: (centred,)}, source)
        stated = sum(data) + (total - centred) + 150 * (count - len(data))
        restored = total + added * count
        require(restored == stated, f"seed {seed}: {restored}, not {stated}")
        errors.add(count - len(data))
    return f"every dataset of 3 values at tens; 40 releases, counts wrong by up to {max(errors)}"


_WITH_SUMS = mechanisms.GSHMWithSums(1, 2, 6, 1, "0.99", largest=(50,))


def _asked(values: Iterable[int], center: int) -> int:
    """The least `largest` with which the shipped release takes the sum of any three of these values
    less the centre.
    """
    taken = {sum(data) - 3 * center for data in product(values, repeat=3)}
    sums = sorted(taken, key=abs, reverse=True)  # what is refused comes first
    return next(n for n in count(1) if all(_accepts(total, n) for total in sums))


def _accepts(total: int, largest: int) -> bool:
    """Whether the shipped release takes this sum of three users for possible."""
    made = replace(_WITH_SUMS, largest=(largest,))
    try:
        made.draw_sums({0: 3}, {0: (total,)}, SeededSource(0))
    except InvalidParameter:
        return False
    return True


def _added_estimate() -> str:
    """Adding (n~ - n) C/2 to a recentred sum equals recentring with the estimate n~."""
    import sympy as sp

    total, n, estimate, top = sp.symbols("S n n_estimate C")
    by_estimate = (total - n * top / 2) + estimate * top / 2
    require(sp.simplify(by_estimate - total - (estimate - n) * top / 2) == 0, "not the same")
    return "S - n C/2 + n~ C/2 = S + (n~ - n) C/2"


def _as_lower_threshold(above: int) -> str:
    """Algorithm 3's reduction keeps the counters >= H^(k+1) + above, at their distance to it.

    So noise on it and a threshold 1 + tau is a lower threshold t = 1 + H^(k+1) and a high one
    that is tau above t.
    """
    count = 0
    for counts, k in product(product(range(5), repeat=4), (1, 2, 3)):
        base = rank(counts, k + 1)
        lower = base + above
        kept = {i: c for i, c in enumerate(counts) if c >= max(lower, 1)}
        found = {i: c for i, c in enumerate(reduced(counts, k)) if c}
        count += 1
        require(kept.keys() == found.keys(), f"H={counts}, k={k}: {kept} kept, {found} reduced")
        gaps = all(lower + _TAU - kept[i] == 1 + _TAU - found[i] for i in found)
        require(gaps, f"H={counts}, k={k}: distances to the high threshold differ")
    return f"{count} histograms and k"


CLAIMS = (
    CSH.verified(
        "Section 6, top-k as a lower threshold",
        "Algorithm 3 drops the counters below t = 1 + H^(k+1), and each other counter "
        "is as far below 1 + tau as it is below t + tau without the reduction.",
        "enumeration",
        **varied(_as_lower_threshold, 1, 0, "below t = H^(k+1)"),
    ),
    CSH.verified(
        "Section 6, additional sparsity threshold",
        "Dropping counters below a fixed t first costs what lowering tau by t - 1 costs: the "
        "shipped mechanisms release the same, up to that shift, draw by draw; tau becomes the "
        "distance (1 + tau) - t of the two thresholds.",
        "enumeration",
        **varied(_lower, 1, 0, "by (1 + tau) - t - 1"),
    ),
    Quibble(
        paper="CSH",
        item="Section 6, data-dependent lower threshold",
        printed=Printed(
            r"Note that the lower threshold of Wilkins et al. (2024) is assumed to be data "
            r"independent. "
            r"If it is, one must take care not to violate privacy.",
            "Section 6, additional sparsity threshold",
            334,
        ),
        statement="If the lower threshold is independent of the data, one must take care not to "
        "violate privacy.",
        method="enumeration",
        check=lambda: _care(True),
        example="""
>>> keep = lambda h, cut: {i for i, x in enumerate(h) if x >= cut}
>>> less, more = (1, 1), (2, 1)                     # one user more in the first counter
>>> keep(less, 1) <= keep(more, 1)                  # a fixed cut: supports stay nested
True
>>> keep(less, max(less)) <= keep(more, max(more))  # a cut that depends on the data: not
False
""",
        extraction="possible only if a 'not' was lost; the words before and after it are intact",
        corrected=CSH.verified(
            "Section 6, data-dependent lower threshold, corrected",
            "If it depends on the data, care is needed: neighbours need not keep nested "
            "supports, and counters may appear with any count.",
            "enumeration",
            **varied(_both_lost, (_largest, _zeros), (_fixed(2), _fixed(2)), "if it does not"),
        ),
    ),
    CSH.verified(
        "Section 6, lower threshold independent of the data",
        "With a fixed lower threshold supports stay nested, and a counter that appears "
        "has exactly the count of that threshold.",
        "enumeration",
        **varied(_structure, True, False, "also when it is the largest count"),
    ),
    CSH.verified(
        "Section 6, sums in [0, C]",
        "Recentring values in [0, C] by C/2 halves the largest value per user, as the shipped "
        "release asks for it; adding (n~ - n) C/2 to the sum is the same thing.",
        "enumeration",
        check=lambda: f"{_added_estimate()}; {_halving(50)}",
        mutant=Mutant("recentring by 0.51 C", lambda: _halving(51)),
    ),
    CSH.verified(
        "Section 6, values in [100, 200]",
        "Subtracting (L + U)/2 = 150 lowers the largest value per user, as the shipped release "
        "asks for it, from 200 to 50; adding 150 times its noisy count restores the sum, with "
        "150 times the count's error.",
        "enumeration",
        **varied(_recentred, 150, 149, "adding 149 times its noisy count"),
    ),
    CSH.not_checkable(
        "Section 6, aggregators",
        "Aggregates released next to the counts enlarge the l2 sensitivity through a "
        "transformation of the aggregate function (Wilkins et al., Theorem 5.4).",
        "cited without formula; the shipped GSHMWithSums implements it through zCDP",
    ),
    CSH.not_checkable(
        "Section 6, comparison with aggregators",
        "The improvement over the GSHM is similar to Lemma 3.4, and unclear for the "
        "tighter analyses.",
        "no formula is given",
    ),
)
