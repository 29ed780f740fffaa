"""What in a text looks like a secret: keys, tokens, passwords.

Owns the patterns. It must never return the secret itself, only what kind of thing it seems to be: the answer
is printed as a warning, and a warning that is wrong now and then costs nothing.
"""

import re

_TOKEN = r"(?<![A-Za-z0-9_-])(?:{})(?![A-Za-z0-9_-])"

_KINDS: tuple[tuple[str, re.Pattern[str]], ...] = (
    (
        "a private key",
        re.compile(r"-----BEGIN (?:[A-Z0-9]+ )*PRIVATE KEY(?: BLOCK)?-----|\bAGE-SECRET-KEY-1[0-9A-Z]{20}"),
    ),
    ("an AWS access key", re.compile(_TOKEN.format(r"(?:AKIA|ASIA)[A-Z0-9]{16}"))),
    (
        "a GitHub token",
        re.compile(_TOKEN.format(r"gh[pousr]_[A-Za-z0-9]{36,255}|github_pat_[A-Za-z0-9_]{22,255}")),
    ),
    ("a GitLab token", re.compile(_TOKEN.format(r"glpat-[A-Za-z0-9_-]{20,64}"))),
    (
        "an API key",
        re.compile(_TOKEN.format(r"sk-(?=[A-Za-z_-]{0,99}[0-9])[A-Za-z0-9_-]{20,200}|AIza[A-Za-z0-9_-]{35}")),
    ),
    ("a payment key", re.compile(_TOKEN.format(r"[sr]k_(?:live|test)_[A-Za-z0-9]{16,128}"))),
    ("a Slack token", re.compile(_TOKEN.format(r"xox[abeoprs]-[A-Za-z0-9-]{10,200}"))),
    (
        "a package registry token",
        re.compile(_TOKEN.format(r"npm_[A-Za-z0-9]{36}|pypi-[A-Za-z0-9_-]{50,255}")),
    ),
    ("a JSON web token", re.compile(r"(?<![\w-])eyJ[\w-]{8,}\.eyJ[\w-]{8,}\.[\w-]{8,}")),
    (
        "a password in an address",
        re.compile(r"\b[a-z][a-z0-9+.-]{1,20}://[^\s/:@]{1,64}:[^\s/@]{3,128}@[\w.-]"),
    ),
)
# A word that announces a secret, `=` or `:`, and a value.
_ASSIGNED = re.compile(
    r"(?i)(?:passw(?:or)?d|passphrase|pwd|secret|token|api[_-]?key|access[_-]?key|密码|口令)"
    r"""["'`]?[ \t]{0,9}([=:：])[ \t]{0,9}["'`]?([^\s"'`,;]{6,200})"""
)
_PLACEHOLDER = re.compile(r"(?i)[<\[{($%*.x]|\*|your|example|changeme|none|null|true|false|required|optional|os\.|env")


def kinds(text: str) -> tuple[str, ...]:
    """Return what kinds of secret the text seems to hold (`a private key`), each once, in a fixed order."""
    found = [kind for kind, pattern in _KINDS if pattern.search(text)]
    if any(_is_value(*match.groups()) for match in _ASSIGNED.finditer(text)):
        found.append("a password or token")
    return tuple(found)


def _is_value(sign: str, word: str) -> bool:
    """Tell whether a word could be a password: not a placeholder nor, after a colon, a word of a sentence."""
    prose = sign != "=" and re.fullmatch(r"[A-Za-z]?[a-z-]+[.!?)]*", word)
    return not prose and not _PLACEHOLDER.match(word)
