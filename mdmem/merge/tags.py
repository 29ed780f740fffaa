"""The `tags` of a front matter as a set: what both sides added is in, what either took out is not.

Owns how a tag joins or leaves a list in the style that it is written in. Read back before it is believed.
"""

from __future__ import annotations

import json
import re

from mdmem.text.frontmatter import front_matter, tag_list

_ITEM = re.compile(r"[ \t]*- ")
_LIST = re.compile(r"(?P<key>[^:\n]*:[ \t]*)\[(?P<items>[^\]\[\"'#]*)\](?P<rest>[ \t]*(?:#.*)?\r?\n)", re.DOTALL)
_TEXT = re.compile(r"(?P<key>[^:\n]*:[ \t]+)(?P<items>[^\[\]{}\"'#|>\n\r]+?)(?P<rest>[ \t]*(?: #.*)?\r?\n)")
_PLAIN = re.compile(r"\w[\w/.-]*")


def united(base: str, ours: str, theirs: str) -> str | None:
    """Give the lines of `tags` as a set union, in our style; None where they are written in one not known here."""
    was, mine, yours = _tags(base), _tags(ours), _tags(theirs)
    added = [tag for tag in yours if tag not in was and tag not in mine]
    removed = {tag for tag in was if tag not in yours}
    wanted = [tag for tag in mine if tag not in removed] + added
    for style in (_as_items, _as_list, _as_text):
        text = style(ours, removed, added)
        if text is not None and set(_tags(text)) == set(wanted):
            return text
    return None


def _tags(lines: str) -> tuple[str, ...]:
    return tag_list(front_matter(f"---\n{lines}---\n").fields)


def _as_items(lines: str, removed: set[str], added: list[str]) -> str | None:
    """Change a list of one tag a line."""
    first, *rest = lines.splitlines(keepends=True)
    items = [line for line in rest if _ITEM.match(line)]
    if not items:
        return None
    kept = [line for line in rest if line not in items or not removed.intersection(_tags(first + line))]
    mark = _ITEM.match(items[-1])
    assert mark is not None
    end = "\r\n" if first.endswith("\r\n") else "\n"
    return "".join([first, *kept, *(f"{mark.group()}{_written(tag)}{end}" for tag in added)])


def _as_list(lines: str, removed: set[str], added: list[str]) -> str | None:
    """Change a list in brackets."""
    found = _LIST.fullmatch(lines)
    if not found:
        return None
    items = [item.strip() for item in found["items"].split(",") if item.strip()]
    kept = [item for item in items if item not in removed] + list(map(_written, added))
    return f"{found['key']}[{', '.join(kept)}]{found['rest']}"


def _as_text(lines: str, removed: set[str], added: list[str]) -> str | None:
    """Change tags in one text, parted as they were."""
    found = _TEXT.fullmatch(lines)
    if not found:
        return None
    part = re.search(r"\s*[,，、;；]\s*|\s+", found["items"])
    kept = [tag for tag in _tags(lines) if tag not in removed] + added
    return f"{found['key']}{(part.group() if part else ', ').join(kept)}{found['rest']}"


def _written(tag: str) -> str:
    return tag if _PLAIN.fullmatch(tag) else json.dumps(tag, ensure_ascii=False)
