"""Secrets are recognised by kind, and ordinary sentences are not."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mdmem.text.secrets import kinds

# Split so that no scanner of repositories takes the samples for real.
SAMPLES = [
    ("-----BEGIN " + "RSA PRIVATE KEY-----\nMIIE", "a private key"),
    ("-----BEGIN " + "OPENSSH PRIVATE KEY-----", "a private key"),
    ("-----BEGIN PGP " + "PRIVATE KEY BLOCK-----", "a private key"),
    ("key AKIA" + "IOSFODNN7EXAMPLE here", "an AWS access key"),
    ("ghp_" + "a1B2" * 9, "a GitHub token"),
    ("github_pat_" + "a1B2" * 9, "a GitHub token"),
    ("glpat-" + "a1B2" * 5, "a GitLab token"),
    ("OPENAI_API_KEY is sk-" + "proj-a1B2c3D4e5F6g7H8i9J0", "an API key"),
    ("sk-ant-api03-" + "a1B2c3D4e5F6g7H8i9J0", "an API key"),
    ("sk_live_" + "a1B2c3D4e5F6g7H8", "a payment key"),
    ("xoxb-" + "123456789012-abcdef", "a Slack token"),
    ("npm_" + "a1B2" * 9, "a package registry token"),
    ("eyJhbGciOiJIUzI1NiJ9" + ".eyJzdWIiOiIxMjM0In0.SflKxwRJSMeKKF2QT4", "a JSON web token"),
    ("postgres://user:" + "hunter22@db.local/x", "a password in an address"),
    ("password=hunter22", "a password or token"),
    ("DB_PASSWORD = correcthorse", "a password or token"),
    ('"accessToken": "a8b7c6d5e4"', "a password or token"),
    ("密码：abc12345", "a password or token"),
]


@pytest.mark.parametrize(("text", "kind"), SAMPLES)
def test_a_secret_is_named_by_its_kind_anywhere_in_the_text(text, kind):
    for around in ("{}", "note: {}.", "first line\n{}\nlast line"):
        assert kind in kinds(around.format(text))


@pytest.mark.parametrize(
    "text",
    [
        "User likes science fiction",
        "I forgot my password again",
        "password: required",
        "The secret: patience.",
        "token=$TOKEN",
        "password=<your password>",
        "api_key = os.environ['KEY']",
        "password=********",
        "see https://example.com/a:b@c",
        "mail a@b.de: lunch",
        "sk-learn-pipelines-are-really-nice-things",
        "commit 3fa9c1b2d4e5f60718293a4b5c6d7e8f90a1b2c3",
        "id 550e8400-e29b-41d4-a716-446655440000",
        "the wordAKIAIOSFODNN7EXAMPLE in one word",
        "eyJ is how it begins",
    ],
)
def test_ordinary_text_is_left_alone(text):
    assert kinds(text) == ()


def test_each_kind_is_named_once():
    assert kinds("password=hunter22 and pwd=hunter33") == ("a password or token",)


@given(st.sampled_from(SAMPLES), st.text(max_size=30))
def test_the_answer_never_holds_the_secret(sample, around):
    assert all(
        len(kind) < 30 and not any(digit in kind for digit in "0123456789") for kind in kinds(around + sample[0])
    )
