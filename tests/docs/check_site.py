"""Links and accessibility of the built site: ``python -m tests.docs.check_site docs/_build``.

Every link inside the site leads to a page and an anchor that exist; every page has a language, a
title, one first heading and no skipped level, every picture a description, every control a name.
Every command can be copied as it stands, and the examples of ``--help`` are all there.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass, field
from functools import cache
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

from exactdp.cli.prepared import examples
from tests.docs.commands import all_commands, refusal

__all__ = ["problems"]

_HEADINGS = {f"h{i}": i for i in range(1, 7)}
_NAMES = ("aria-label", "aria-labelledby", "title", "alt", "value")


@dataclass
class _Page(HTMLParser):
    """What of a page can be linked to, what it links to, and what is missing."""

    ids: list[str] = field(default_factory=list)
    links: list[str] = field(default_factory=list)
    headings: list[int] = field(default_factory=list)
    missing: list[str] = field(default_factory=list)
    language: str = ""
    title: str = ""
    code: list[str] = field(default_factory=list)
    _open: list[tuple[str, list[str]]] = field(default_factory=list)

    def __post_init__(self) -> None:
        super().__init__()
        self._in_code = False

    def commands(self) -> list[str]:
        """What is shown as typed into a terminal, or in a sentence with an option."""
        joined = [text.replace("\\\n", "") for text in self.code]
        lines = [line for text in joined for line in text.splitlines()]
        prompted = [line[2:] for line in lines if line.startswith("$ ")]
        options = [text for text in joined if text.startswith("exactdp ") and " --" in text]
        return prompted + options

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        attributes = {name: value or "" for name, value in attrs}
        self.ids += [attributes[name] for name in ("id",) if attributes.get(name)]
        self.links += [attributes[name] for name in ("href", "src") if attributes.get(name)]
        self.headings += [_HEADINGS[tag]] if tag in _HEADINGS else []
        if tag == "html":
            self.language = attributes.get("lang", "")
        if tag == "img":
            if "alt" not in attributes:
                self.missing.append(f"a picture without description: {attributes.get('src')}")
            for _, texts in self._open:
                texts.append(attributes.get("alt", ""))
        named = any(attributes.get(name) for name in _NAMES)
        if tag == "input" and attributes.get("type") not in ("hidden", "checkbox") and not named:
            self.missing.append("an input without a name")
        if tag in ("pre", "code"):
            self.code.append("")
            self._in_code = True
        if tag in ("a", "button", "title") and not (tag == "a" and "href" not in attributes):
            self._open.append((tag, ["named"] if named else []))

    def handle_data(self, data: str) -> None:
        if self._in_code:
            self.code[-1] += data
        for _, texts in self._open:
            texts.append(data.strip())

    def handle_endtag(self, tag: str) -> None:
        if tag in ("pre", "code"):
            self._in_code = False
        if not self._open or self._open[-1][0] != tag:
            return
        _, texts = self._open.pop()
        if tag == "title":
            self.title = self.title or "".join(texts)
        elif not any(texts):
            self.missing.append(f"an empty {tag}")


@cache
def _read(path: Path) -> _Page:
    page = _Page()
    page.feed(path.read_text(encoding="utf-8"))
    return page


def problems(site: Path) -> list[str]:
    """What is wrong with the pages below a folder, one line each."""
    pages = sorted(
        p for p in site.glob("**/*.html") if "_static" not in p.parts and p.name != "search.html"
    )  # writes its own heading
    faults = [f"{p.relative_to(site)}: {what}" for p in pages for what in _wrong(p)]
    lines = {line for page in pages for line in _read(page).commands()}
    wanted = {example for _, command in all_commands() for _, example in examples(command)}
    return faults + [f"an example is not on any page: {line}" for line in sorted(wanted - lines)]


def _wrong(path: Path) -> list[str]:
    page = _read(path)
    faults = list(page.missing)
    if not page.language or not page.title:
        faults.append("no language or no title")
    if page.headings.count(1) != 1:
        faults.append(f"{page.headings.count(1)} first headings")
    steps = zip(page.headings, page.headings[1:], strict=False)
    faults += [f"h{a} is followed by h{b}" for a, b in steps if b > a + 1]
    faults += [f"id {name} twice" for name in set(page.ids) if page.ids.count(name) > 1]
    if path.name != "changelog.html":  # names options of a command in passing
        faults += [f"{line}: {why}" for line in page.commands() if (why := refusal(line))]
    return faults + [link for link in page.links if not _leads_somewhere(path, link)]


def _leads_somewhere(path: Path, link: str) -> bool:
    parts = urlsplit(link)
    if parts.scheme or parts.netloc:
        return True
    target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
    if not target.is_file():
        return False
    anchor = unquote(parts.fragment)
    return not anchor or target.suffix != ".html" or anchor in _read(target).ids


if __name__ == "__main__":
    listed = problems(Path(sys.argv[1]))
    print("\n".join(listed) or "links and accessibility: nothing to complain of")
    sys.exit(1 if listed else 0)
