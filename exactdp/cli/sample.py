"""exactdp sample: write exact draws of noise to a file, or print a summary."""

from __future__ import annotations

import math
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

import click

from exactdp.cli import parameters as opt
from exactdp.cli.answers import Answer, answering, facts
from exactdp.cli.options import options
from exactdp.cli.output import new_file, written
from exactdp.errors import InvalidParameter
from exactdp.parameters import integer

#: Largest number of draws; more would take months.
_MOST_DRAWS = 10**15

#: Name -> class of exactdp.samplers, option of its parameter, help and example.
_NOISE = {
    "discrete-gaussian": (
        "DiscreteGaussian",
        opt.SIGMA2,
        "Discrete Gaussian noise: integers with probability proportional to exp(-x^2/2 sigma^2).",
        "--sigma2 100 --count 1000000 --output noise.npy",
    ),
    "discrete-laplace": (
        "DiscreteLaplace",
        opt.SCALE,
        "Discrete Laplace noise: integers with probability proportional to exp(-abs(x)/scale).",
        "--scale 5/2 --count 1000 --seed 1",
    ),
    "geometric": (
        "Geometric",
        opt.P,
        "Geometric noise: the number of failures before a success.",
        "--p 0.1 --output noise.csv",
    ),
}


@click.group(no_args_is_help=True)
def sample() -> None:
    """Draw integer noise exactly, to a CSV or NumPy file."""


def _add(name: str, sampler: str, parameter: opt.Option, text: str, example: str) -> None:
    @sample.command(name, help=text, epilog=f"Example: exactdp sample {name} {example}")
    @options(parameter, optional=(opt.COUNT, opt.SEED, opt.OUTPUT))
    @answering
    def command(
        count: str | None, seed: str | None, output: str | None, **parameters: str
    ) -> Answer:
        from exactdp.samplers import SeededSource, SystemSource

        noise = getattr(import_module("exactdp.samplers"), sampler)(**parameters)
        size = integer("count", "1000" if count is None else count, least=1)
        if size > _MOST_DRAWS:
            raise InvalidParameter("count", count, f"<= {_MOST_DRAWS}")
        source = SystemSource() if seed is None else SeededSource(integer("seed", seed, least=0))
        path = None if output is None else new_file("output", output, (".csv", ".npy"))
        summary = _Summary()
        _write(path, summary.watch(noise.sample_chunks(size, source), size), size)
        rows = {
            **parameters,
            **summary.as_dict(),
            "bits per draw": f"{source.bits_used / size:.2f}",
        }
        text = facts(f"{name}, {size} draws", rows)
        text += f"\nwritten to {output}" if output else ""
        return Answer({"sampler": name, "output": output, **rows}, text)


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


def _write(path: Path | None, chunks: Iterator[Any], size: int) -> None:
    if path is None:
        for _ in chunks:
            pass
    elif path.suffix == ".npy":
        import numpy as np

        with written(path) as (part,), part.open("wb") as file:
            header = {"descr": "<i8", "fortran_order": False, "shape": (size,)}
            np.lib.format.write_array_header_1_0(file, header)
            for chunk in chunks:
                file.write(chunk.astype("<i8").tobytes())
    else:
        with written(path) as (part,), part.open("w", encoding="ascii") as file:
            file.write("value\n")
            for chunk in chunks:
                file.write("\n".join(map(str, chunk.tolist())) + "\n")


for _name, _entry in _NOISE.items():
    _add(_name, *_entry)
