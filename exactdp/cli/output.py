"""Files that are written whole or not at all, and the last words of a command."""

from __future__ import annotations

import glob
import os
import signal
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import click

from exactdp.errors import InvalidParameter

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None  # type: ignore[assignment]

_MINUTE = 60

#: Held while files are renamed or removed, so that nothing interrupts a group of files.
_naming = threading.RLock()
#: Files that are being written, under temporary names.
_unfinished: set[Path] = set()
#: Whether the message that a signal ends the command was printed.
_ended = False
#: Files that are complete at any time.
_kept: list[Path] = []


def new_file(
    parameter: str, name: str, endings: tuple[str, ...], *, overwrite: bool = False
) -> Path:
    """The path of a file that can be written.

    Raises InvalidParameter, also if the file exists and overwrite is false.
    """
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
    """Temporary files beside the paths, which get their final names together when the block ends.

    paths: a file, and files that describe it. A description never stands beside a file that it does
    not describe, even if the process is killed: the description may be missing then.
    After an error, or SIGTERM, none of the files remain, and existing files are back; a signal that
    arrives during the renaming waits. An existing file is replaced only if overwrite is true, even
    if the file was created during the block.
    """
    import tempfile  # few commands write files

    parts: list[Path] = []
    handles: list[int] = []
    try:
        for path in paths:
            _remove_abandoned(path)
            with _held():
                handle, name = tempfile.mkstemp(
                    prefix=f".{path.name}.", suffix=".part", dir=path.parent
                )
                parts.append(Path(name))
                _unfinished.add(parts[-1])
                if _is_locked(handle):
                    handles.append(handle)
                else:  # Windows renames no open file
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
            for handle in handles:
                os.close(handle)


def _remove_abandoned(path: Path) -> None:
    """Remove temporary files of this path whose process was killed: nobody holds their lock.

    Files of the last minute stay, whose process may be about to lock them.
    """
    for part in path.parent.glob(f".{glob.escape(path.name)}.*.part"):
        with suppress(OSError), part.open("rb") as file:
            old = time.time() - os.fstat(file.fileno()).st_mtime > _MINUTE
            if old and _is_locked(file.fileno()):
                part.unlink(missing_ok=True)


def _is_locked(handle: int) -> bool:
    """Lock an open file, unless somebody else holds its lock; returns whether it is locked now."""
    if fcntl is None:
        return False
    with suppress(OSError):
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        return True
    return False


def kept() -> list[Path]:
    """The files that this command has completed and that still exist."""
    return [path for path in _kept if path.exists()]


def forget() -> None:
    """Forget the files and messages of earlier commands in this process."""
    global _ended
    _kept.clear()
    _ended = False


def last_words(message: str) -> None:
    """Print to standard error, at most once, that a signal ends the command."""
    global _ended
    with _naming:
        if not _ended:
            _ended = True
            complain(message)


def complain(message: str) -> None:
    """Print one line to standard error, if it is open."""
    with suppress(OSError):
        name = click.style("exactdp:", fg="red", bold=True)
        click.echo(f"{name} {' '.join(message.split())}", err=True)


def discard() -> None:
    """Remove unfinished files, just before the process ends.

    Waits for a renaming in progress. Afterwards no other thread can rename a file or print the last
    message.
    """
    _naming.acquire()
    for part in _unfinished:
        part.unlink(missing_ok=True)


def _name(parts: list[Path], paths: tuple[Path, ...], *, overwrite: bool) -> None:
    """Give the files their names: the first one when no other one has its name, the others then."""
    named: list[Path] = []
    replaced: dict[Path, Path] = {}
    try:
        if overwrite and len(paths) > 1:
            _keep(parts, paths, replaced)
        for part, path in zip(parts, paths, strict=True):
            if overwrite:
                part.replace(path)
            else:
                _link(part, path)
            named.append(path)
            part.unlink(missing_ok=True)
    except BaseException:
        _restore(named, paths, replaced)
        raise
    for kept_file in replaced.values():
        kept_file.unlink(missing_ok=True)


def _keep(parts: list[Path], paths: tuple[Path, ...], replaced: dict[Path, Path]) -> None:
    """Give existing files second names, in `replaced`. Files that describe the first go first."""
    for part, path in reversed([*zip(parts, paths, strict=True)]):
        if path.exists():
            second_name = part.with_suffix(".old")
            if path == paths[0]:
                os.link(path, second_name)
            else:
                path.rename(second_name)
            replaced[path] = second_name


def _restore(named: list[Path], paths: tuple[Path, ...], replaced: dict[Path, Path]) -> None:
    """Undo the naming; a file that cannot get its name back keeps its second name."""
    for path in reversed(named):
        if path != paths[0] or path not in replaced:
            path.unlink(missing_ok=True)
    for path in paths:
        if path in replaced:
            replaced[path].replace(path)
            replaced[path].unlink(missing_ok=True)  # both were names of the same file


@contextmanager
def _held() -> Iterator[None]:
    """Delay SIGINT, SIGTERM and discard() until the block has ended.

    Only the main thread handles signals, so other threads need not block them.
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


def write_file(path: Path, data: str | bytes, *, overwrite: bool = False) -> None:
    """Write a file, whole or not at all."""
    with written(path, overwrite=overwrite) as (part,):
        part.write_bytes(data.encode() if isinstance(data, str) else data)


def _flush(part: Path) -> None:
    """Flush a temporary file to disk, and give it the permissions of the umask."""
    mask = os.umask(0)
    os.umask(mask)
    part.chmod(0o666 & ~mask)
    with part.open("rb") as file:
        os.fsync(file.fileno())


def _link(part: Path, path: Path) -> None:
    """Rename a temporary file; raises InvalidParameter if the name exists."""
    try:
        os.link(part, path)
    except FileExistsError:
        raise InvalidParameter("output", str(path), "a file that does not exist yet") from None
