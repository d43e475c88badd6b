"""exactdp sample: write exact draws of noise to a file, or print a summary."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import click

from exactdp.cli.options import json_option, options
from exactdp.cli.output import new_file, print_json, print_table, written
from exactdp.errors import InvalidParameter
from exactdp.parameters import integer

#: Largest number of draws; more would take months.
_MOST_DRAWS = 10**15


@click.group(no_args_is_help=True)
def sample() -> None:
    """Draw integer noise exactly, to a CSV or NumPy file."""


def _add(name: str, parameters: str, text: str, example: str, make: Callable[..., Any]) -> None:
    @sample.command(name, help=text, epilog=f"Example: exactdp sample {name} {example}")
    @options(parameters, "count seed output")
    @json_option
    def command(as_json: bool, **given: str | None) -> None:
        common = {key: given.pop(key) for key in ("count", "seed", "output")}
        _run(name, make(**given), given, as_json, **common)


def _run(
    name: str,
    noise: Any,
    given: dict[str, str | None],
    as_json: bool,
    *,
    count: str | None,
    seed: str | None,
    output: str | None,
) -> None:
    from exactdp.samplers import SeededSource, SystemSource

    size = integer("count", "1000" if count is None else count, least=1)
    if size > _MOST_DRAWS:
        raise InvalidParameter("count", count, f"<= {_MOST_DRAWS}")
    source = SystemSource() if seed is None else SeededSource(integer("seed", seed, least=0))
    path = None if output is None else new_file("output", output, (".csv", ".npy"))
    summary = _Summary()
    chunks = summary.watch(noise.sample_chunks(size, source), size)
    if path is None:
        for _ in chunks:
            pass
    elif path.suffix == ".npy":
        _write_npy(path, chunks, size)
    else:
        _write_csv(path, chunks)
    rows = {**given, **summary.as_dict(), "bits per draw": f"{source.bits_used / size:.2f}"}
    if as_json:
        print_json({"sampler": name, "output": output, **rows})
    else:
        print_table(f"{name}, {size} draws", [], [[key, str(value)] for key, value in rows.items()])
        if output:
            click.echo(f"written to {output}")


class _Summary:
    """Running count, mean, deviation and range: constant memory."""

    def __init__(self) -> None:
        self.n, self.total, self.squares = 0, 0.0, 0.0
        self.least, self.most = math.inf, -math.inf

    def watch(self, chunks: Iterator[Any], size: int) -> Iterator[Any]:
        """Pass chunks on, with a progress bar on a terminal."""
        from tqdm import tqdm

        with tqdm(total=size, unit="draw", unit_scale=True, delay=1, disable=None) as bar:
            for chunk in chunks:
                self.n += chunk.size
                self.total += float(chunk.sum(dtype=float))
                self.squares += float((chunk.astype(float) ** 2).sum())
                self.least = min(self.least, int(chunk.min()))
                self.most = max(self.most, int(chunk.max()))
                bar.update(chunk.size)
                yield chunk

    def as_dict(self) -> dict[str, str]:
        mean = self.total / self.n
        spread = math.sqrt(max(self.squares / self.n - mean**2, 0))
        return {
            "draws": str(self.n),
            "mean": f"{mean:.6g}",
            "deviation": f"{spread:.6g}",
            "least": str(self.least),
            "most": str(self.most),
        }


def _write_npy(path: Path, chunks: Iterator[Any], size: int) -> None:
    import numpy as np

    with written(path) as (part,), part.open("wb") as file:
        header = {"descr": "<i8", "fortran_order": False, "shape": (size,)}
        np.lib.format.write_array_header_1_0(file, header)
        for chunk in chunks:
            file.write(chunk.astype("<i8").tobytes())


def _write_csv(path: Path, chunks: Iterator[Any]) -> None:
    with written(path) as (part,), part.open("w", encoding="ascii") as file:
        file.write("value\n")
        for chunk in chunks:
            file.write("\n".join(map(str, chunk.tolist())) + "\n")


def _gaussian(sigma2: str) -> Any:
    from exactdp.samplers import DiscreteGaussian

    return DiscreteGaussian(sigma2=sigma2)


def _laplace(scale: str) -> Any:
    from exactdp.samplers import DiscreteLaplace

    return DiscreteLaplace(scale=scale)


def _geometric(p: str) -> Any:
    from exactdp.samplers import Geometric

    return Geometric(p=p)


_add(
    "gaussian",
    "sigma2",
    "Discrete Gaussian noise.",
    "--sigma2 100 --count 1000000 --output noise.npy",
    _gaussian,
)
_add(
    "laplace",
    "scale",
    "Discrete Laplace noise.",
    "--scale 5/2 --count 1000 --seed 1",
    _laplace,
)
_add(
    "geometric",
    "p",
    "Geometric noise: failures before a success.",
    "--p 0.1 --output noise.csv",
    _geometric,
)
