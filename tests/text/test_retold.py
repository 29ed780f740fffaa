"""How the checks tell true claims from false ones, on claims that were set aside while they were made."""

import pytest
import retold

LEAST_TRUE = {"en": 0.42, "zh": 0.33}
MOST_FALSE = {"en": 0.14, "zh": 0.10}
"""Shares that go to memory unseen; the rest waits for a person."""


@pytest.fixture(scope="module")
def held():
    return list(retold.told("held"))


@pytest.mark.parametrize("language", ["en", "zh"])
def test_true_claims_reach_memory_and_false_ones_wait(held, language):
    for honest, least, most in ((True, LEAST_TRUE[language], 1), (False, 0, MOST_FALSE[language])):
        some = [row for row in held if (row.honest, row.language) == (honest, language)]
        assert len(some) >= 50
        assert least <= sum(row.accepted for row in some) / len(some) <= most


def test_who_is_asked_is_told_why(held):
    assert all(row.accepted != bool(row.reason) for row in held)
