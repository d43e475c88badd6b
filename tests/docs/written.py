"""The pages that people write: README and the site, without pages that programs write."""

from __future__ import annotations

from pathlib import Path

__all__ = ["PAGES", "ROOT"]

ROOT = Path(__file__).parents[2]
_MADE = {"conformance.md"}


def _is_written(page: Path) -> bool:
    """Whether a person wrote a page; folders above the clone may have any name."""
    folders = page.relative_to(ROOT).parts
    return page.name not in _MADE and not {"_build", "ledger"} & set(folders)


PAGES = [
    ROOT / "README.md",
    *(page for page in sorted((ROOT / "docs").glob("**/*.md")) if _is_written(page)),
]
