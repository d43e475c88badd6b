"""The wire and the server: packed reports, states that merge, files that are checked."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from exactdp import InvalidParameter
from exactdp.local import RandomizedResponse, SubsetSelection
from exactdp.local.frequency_oracle import FrequencyOracle, normalized, projected
from exactdp.local.report_formats import BitVector, Form, Numbers, pack, unpack
from exactdp.local.unary_encoding import column_sums
from exactdp.samplers import SeededSource
from tests.local.instances import NAMES, ORACLES

oracles = pytest.mark.parametrize("oracle", ORACLES, ids=NAMES)


def reports(oracle: FrequencyOracle, n: int, seed: int = 3) -> Any:
    values = np.random.default_rng(seed).integers(0, oracle.k, n)
    return oracle.draw_many(values, SeededSource(seed))


@oracles
def test_states_add_up_whatever_the_order(oracle: FrequencyOracle) -> None:
    rows = reports(oracle, 50)
    whole = oracle.aggregate().add(rows)
    parts = [oracle.aggregate().add(part) for part in np.split(rows, [7, 7, 30])]
    assert sum(parts[::-1], oracle.aggregate()) == whole
    one_by_one = oracle.aggregate()
    for row in rows:
        one_by_one.add([oracle.form.single(row)])
    assert one_by_one == whole
    assert whole.n == 50
    assert whole + oracle.aggregate() == whole
    assert whole != oracle.aggregate()


@oracles
def test_bytes_are_read_back_and_damage_is_noticed(oracle: FrequencyOracle) -> None:
    state = oracle.aggregate().add(reports(oracle, 20))
    data = state.to_bytes()
    assert oracle.state_from_bytes(data) == state
    for position in range(0, len(data), max(len(data) // 40, 1)):
        damaged = bytearray(data)
        damaged[position] ^= 1
        with pytest.raises(InvalidParameter):
            oracle.state_from_bytes(bytes(damaged))
    with pytest.raises(InvalidParameter):
        oracle.state_from_bytes(data[:-1])


@oracles
def test_states_of_another_configuration_are_refused(oracle: FrequencyOracle) -> None:
    other = replace(oracle, epsilon="0.7")
    assert other.fingerprint != oracle.fingerprint
    state = other.aggregate().add(reports(other, 3))
    with pytest.raises(InvalidParameter, match="state"):
        oracle.aggregate() + state
    with pytest.raises(InvalidParameter, match="state"):
        oracle.state_from_bytes(state.to_bytes())


@oracles
def test_counters_that_no_reports_lead_to_are_refused(oracle: FrequencyOracle) -> None:
    state = oracle.aggregate().add(reports(oracle, 4))
    state.counts[0] += 10**6
    with pytest.raises(InvalidParameter, match="counters"):
        oracle.state_from_bytes(state.to_bytes())


@oracles
def test_the_wire_has_the_stated_bits(oracle: FrequencyOracle) -> None:
    for n in (0, 1, 9, 40):
        rows = reports(oracle, n)
        data = oracle.pack(rows)
        assert len(data) == (n * oracle.bits + 7) // 8
        assert np.array_equal(oracle.unpack(data, n), rows)
    with pytest.raises(InvalidParameter, match="data"):
        oracle.unpack(data, 400)


@oracles
def test_values_outside_the_alphabet_are_refused(oracle: FrequencyOracle) -> None:
    for wrong in ([oracle.k], [-1], [0.5], ["a"], [None], [[0]], [2**70], [True, 2.0]):
        with pytest.raises(InvalidParameter, match="value"):
            oracle.draw_many(wrong, SeededSource(1))
    with pytest.raises(InvalidParameter, match="value"):
        oracle.draw(oracle.k, SeededSource(1))
    with pytest.raises(InvalidParameter, match="value"):
        oracle.law(-1)


@oracles
def test_estimates_agree_with_the_exact_one(oracle: FrequencyOracle) -> None:
    state = oracle.aggregate().add(reports(oracle, 500))
    exact = oracle.fractions(state)
    assert state.estimate() == pytest.approx([float(x) for x in exact], abs=1e-9)
    for method in ("normalized", "projected"):
        shares = state.estimate(method)
        assert shares.min() >= 0
        assert shares.sum() == pytest.approx(1)
    with pytest.raises(InvalidParameter, match="method"):
        state.estimate("best")
    with pytest.raises(InvalidParameter, match="report"):
        oracle.aggregate().estimate()


def test_sets_of_another_size_are_refused_as_they_come_in() -> None:
    marked, listed = SubsetSelection(k=5, epsilon=1, size=2), SubsetSelection(100, 5, size=2)
    assert (marked.bits, listed.bits) == (5, 14)
    for oracle, wrong in ((marked, [7]), (marked, [1]), (listed, [(3, 3)]), (listed, [(5, 3)])):
        with pytest.raises(InvalidParameter, match="reports"):
            oracle.aggregate().add(wrong)
    assert marked.aggregate().add([3]).n == 1
    with pytest.raises(InvalidParameter, match="reports"):
        marked.unpack(b"\x07", 1)


@pytest.mark.parametrize("data", [None, "a", 7, [1]])
def test_only_bytes_are_unpacked(data: Any) -> None:
    with pytest.raises(InvalidParameter, match="data"):
        RandomizedResponse(k=5, epsilon=1).unpack(data, 1)


def test_exact_estimates_of_foreign_or_empty_states_are_refused() -> None:
    one, other = RandomizedResponse(k=5, epsilon=1), RandomizedResponse(k=5, epsilon=2)
    for state in (one.aggregate(), other.aggregate().add([1, 2])):
        with pytest.raises(InvalidParameter, match="state"):
            one.fractions(state)


def test_sums_of_more_bits_than_fit_a_byte() -> None:
    bits = np.random.default_rng(4).integers(0, 2, (1000, 13)).astype(np.uint8)
    bits[:, 0] = 1
    packed = np.packbits(bits, axis=1, bitorder="little")
    assert np.array_equal(column_sums(packed, 13), bits.sum(axis=0))


def test_numbers_up_to_63_bits() -> None:
    form = Numbers((2**63,))
    rows = form.rows([2**63 - 1, 0])
    assert np.array_equal(unpack(form, pack(form, rows), 2), rows)
    with pytest.raises(InvalidParameter, match="reports"):
        Numbers((2**62, 3)).rows([[2**62, 1]])


def test_projection_is_the_nearest_distribution() -> None:
    from scipy.optimize import minimize

    z = np.array([0.9, -0.3, 0.45, 0.2])
    ones = {"type": "eq", "fun": lambda p: p.sum() - 1}
    best = minimize(
        lambda p: ((p - z) ** 2).sum(), np.full(4, 0.25), bounds=[(0, 1)] * 4, constraints=[ones]
    )
    assert projected(z) == pytest.approx(best.x, abs=1e-3)
    assert normalized(z) == pytest.approx(np.array([0.9, 0, 0.45, 0.2]) / 1.55)


@pytest.mark.parametrize("form", [Numbers((1000,)), Numbers((5, 2**63, 1)), BitVector(11)])
def test_forms_survive_packing_in_parts(form: Form, monkeypatch: pytest.MonkeyPatch) -> None:
    from exactdp.local import report_formats as wire

    monkeypatch.setattr(wire, "_AT_ONCE", 24)
    rng = np.random.default_rng(8)
    if isinstance(form, Numbers):
        columns = [rng.integers(0, size, 100, dtype=np.uint64) for size in form.sizes]
        rows = np.stack(columns, axis=1).astype(np.int64)
        rows = rows[:, 0] if len(form.sizes) == 1 else rows
    else:
        rows = form.rows([int(x) for x in rng.integers(0, 2048, 100)])
    data = pack(form, rows)
    assert len(data) == (100 * form.bits + 7) // 8
    assert np.array_equal(unpack(form, data, 100), rows)
    expected = 0
    for i, row in enumerate(rows):
        numbers = form.single(row)
        word = numbers if isinstance(numbers, int) else numbers[0] | numbers[1] << 3
        expected |= word << (i * form.bits)
    assert data == expected.to_bytes(len(data), "little")


def test_reports_out_of_range_are_refused() -> None:
    m = RandomizedResponse(k=5, epsilon=1)
    for wrong in ([5], [-1], [[1]], 3, ["a"]):
        with pytest.raises(InvalidParameter, match="reports"):
            m.aggregate().add(wrong)
    with pytest.raises(InvalidParameter, match="reports"):
        m.unpack(bytes([0b111]), 1)
    with pytest.raises(InvalidParameter, match="data"):
        m.unpack(bytes([0b1000]), 1)
    with pytest.raises(InvalidParameter, match="bits"):
        BitVector(3).rows(np.array([[8]], np.uint8))
    with pytest.raises(InvalidParameter, match="3 bits"):
        BitVector(3).rows([8])
