"""Gaussian quantities in two independent forms: complementary error function, and quadrature."""

from __future__ import annotations

from collections.abc import Callable

from mpmath import mp, mpf


def tail(x: mpf) -> mpf:
    """1 - Phi(x)."""
    return mp.erfc(x / mp.sqrt(2)) / 2


def log_cdf(x: mpf) -> mpf:
    """log Phi(x)."""
    return mp.log1p(-tail(x)) if x > 0 else mp.log(tail(-x))


def hockey(epsilon: mpf, mu: mpf) -> mpf:
    """The divergence of N(mu, 1) from N(0, 1) at epsilon (any real number), by erfc."""
    u = epsilon / mu - mu / 2
    return tail(u) - mp.exp(epsilon) * tail(u + mu)


def hockey_integral(epsilon: mpf, mu: mpf) -> mpf:
    """The same without cancellation: phi(u) times the integral of e^(-ut-t^2/2) (1 - e^(-mu t)).

    u = epsilon/mu - mu/2, t > 0; it is the integral of (p - e^epsilon q) over its positive part.
    """
    u = epsilon / mu - mu / 2
    return _phi_times(u, lambda t: -mp.expm1(-mu * t), 1 / mu)


def tail_integral(x: mpf) -> mpf:
    """1 - Phi(x) as an integral."""
    return _phi_times(x, lambda t: mpf(1), mpf(1))


def _phi_times(u: mpf, weight: Callable[[mpf], mpf], scale: mpf) -> mpf:
    """phi(u) times the integral over t > 0 of exp(-u t - t^2/2) weight(t)."""
    start = max(mpf(0), -u - 24)
    end = -u + mp.sqrt(u * u + 480)
    if u > 0:
        end = 480 / (u + mp.sqrt(u * u + 480))
    points = {start, end}
    points |= {p for p in (end / 2**i for i in range(1, 9)) if p > start}
    points |= {p for p in (-u + 4 * i for i in range(-6, 6)) if start < p < end}
    points |= {p for p in (scale * 4**i for i in range(-2, 4)) if start < p < end}
    # the peak of the exponential is 1, as the quadrature stops at an absolute error
    peak = min(u, mpf(0)) ** 2 / 2
    factor, height = mp.exp(peak - u * u / 2), weight(min(start + 1, end))

    def integrand(t: mpf) -> mpf:
        return mp.exp(-u * t - t * t / 2 - peak) * weight(t) / height

    return height * factor * mp.quad(integrand, sorted(points)) / mp.sqrt(2 * mp.pi)
