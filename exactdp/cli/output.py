"""Tables for people, JSON for machines, files that appear whole or not at all."""

from __future__ import annotations

import json
import os
import signal
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import click

from exactdp.errors import InvalidParameter

#: Held while files get or lose their names, which nothing may cut in two.
_naming = threading.RLock()
#: Files that are being written, under names of their own.
_unfinished: set[Path] = set()
#: Whether it has been said that a signal ends the command.
_ended = False
#: Files that are complete, or are so at any time.
_kept: list[Path] = []


def new_file(
    parameter: str, name: str, endings: tuple[str, ...], *, overwrite: bool = False
) -> Path:
    """The path of a file that can be written; one that exists is refused unless told otherwise."""
    path = Path(name)
    if "\0" in name or path.suffix not in endings:
        raise InvalidParameter(parameter, name, f"a file name ending in {' or '.join(endings)}")
    if path.is_dir() or (path.exists() and not overwrite):
        raise InvalidParameter(parameter, name, "a file that does not exist yet")
    if not path.parent.is_dir():
        raise InvalidParameter(parameter, name, "in a folder that exists")
    return path


@contextmanager
def written(*paths: Path, overwrite: bool = False) -> Iterator[list[Path]]:
    """Files to write beside the paths; they get their names together when the block ends well.

    Whatever goes wrong, also on SIGTERM, leaves neither them nor a part of them behind; a signal
    that arrives while they are named waits until all are. Nothing that exists is replaced unless
    overwrite says so, even if it came to be in the meantime.
    """
    parts: list[Path] = []
    try:
        for path in paths:
            with _held():
                handle, name = tempfile.mkstemp(
                    prefix=f".{path.name}.", suffix=".part", dir=path.parent
                )
                parts.append(Path(name))
                _unfinished.add(parts[-1])
                os.close(handle)
        yield parts
        for part in parts:
            _flush(part)
        with _held():
            _name(parts, paths, overwrite=overwrite)
            _kept.extend(paths)
    finally:
        with _held():
            for part in parts:
                part.unlink(missing_ok=True)
                _unfinished.discard(part)


def keep(path: Path) -> None:
    """Count a file as complete that is replaced as a whole, again and again."""
    _kept.append(path)


def kept() -> list[Path]:
    """The files that this process has completed, and that are still there."""
    return [path for path in _kept if path.exists()]


def forget() -> None:
    """Begin a command: what earlier ones in this process wrote and said is not its own."""
    global _ended
    _kept.clear()
    _ended = False


def last_words(message: str) -> None:
    """Print to standard error why a signal ends the command, unless that was printed before."""
    global _ended
    with _naming:
        if not _ended:
            _ended = True
            complain(message)


def complain(message: str) -> None:
    """Print one line to standard error, where that can be written."""
    with suppress(OSError):
        click.echo(f"exactdp: {' '.join(message.split())}", err=True)


def discard() -> None:
    """Remove the files that are not complete, just before the process ends.

    Waits while files get their names. No other thread can give a file its name afterwards, or
    print last words.
    """
    _naming.acquire()
    for part in _unfinished:
        part.unlink(missing_ok=True)


def _name(parts: list[Path], paths: tuple[Path, ...], *, overwrite: bool) -> None:
    done: list[Path] = []
    try:
        for part, path in zip(parts, paths, strict=True):
            if overwrite:
                part.replace(path)
            else:
                _link(part, path)
                done.append(path)
                part.unlink()
    except BaseException:
        for path in done:
            path.unlink(missing_ok=True)
        raise


@contextmanager
def _held() -> Iterator[None]:
    """SIGINT and SIGTERM, and discard(), wait until the block has ended.

    Signals are handled by the main thread, so other threads need not wait for them.
    """
    with _naming:
        if threading.current_thread() is not threading.main_thread():
            yield
            return
        with _signals_held():
            yield


@contextmanager
def _signals_held() -> Iterator[None]:
    met: list[int] = []
    before = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        for number in before:
            signal.signal(number, lambda late, _: met.append(late))
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
    for each in met:
        signal.raise_signal(each)


def write_text(path: Path, text: str) -> None:
    """A new file of text, whole or not at all."""
    with written(path) as (part,):
        part.write_text(text, encoding="utf-8")


def _flush(part: Path) -> None:
    """To the disk, and readable as the umask says: temporary files are for their owner only."""
    mask = os.umask(0)
    os.umask(mask)
    part.chmod(0o666 & ~mask)
    with part.open("rb") as file:
        os.fsync(file.fileno())


def _link(part: Path, path: Path) -> None:
    """Give a file its name, unless that exists."""
    try:
        os.link(part, path)
    except FileExistsError:
        raise InvalidParameter("output", str(path), "a file that does not exist yet") from None


def print_json(value: object) -> None:
    """One JSON value on one line."""
    click.echo(json.dumps(value))


def print_table(title: str, header: list[str], rows: list[list[str]]) -> None:
    """A plain table under a title; without a header, name and value pairs."""
    from tabulate import tabulate

    click.echo(title)
    style = "simple" if header else "plain"
    click.echo(tabulate(rows, headers=header, tablefmt=style, disable_numparse=True))
