"""Rules by which a query goes to one leg alone: twenty queries for each, those that fit and those that only look so."""

from __future__ import annotations

import pytest

from mdmem.text import routes

ALL = ("short", "definition", "relation")

DEFINITION = {
    "什么是光合作用": True,
    "量子计算是什么": True,
    "什么叫机会成本": True,
    "熵的概念": True,
    "沉没成本的定义": True,
    "what is a monad": True,
    "What's an adrenaline pen?": True,
    "what is the meaning of wabi-sabi": True,
    "what are the concepts of stoicism": True,
    "define sunk cost": True,
    "definition of technical debt": True,
    "the meaning of life": True,
    "concept of opportunity cost": True,
    "what does idempotent mean": True,
    "undefined variable in the build": False,
    "what did Mara say about the rent": False,
    "where is the spare key": False,
    "when is my dentist appointment": False,
    "我昨天喝了几杯咖啡": False,
    "小满的生日礼物买了没有": False,
}
RELATION = {
    "五行和人格的关系": True,
    "龙龟与悟空之间有什么": True,
    "两个项目的联系": True,
    "睡眠和咖啡的关联": True,
    "与预算有关的会议": True,
    "notes related to the migration": True,
    "relationship of Mara and Noor": True,
    "relation of sleep to coffee": True,
    "how does stress relate to sleep": False,
    "the connection between bread and salt": True,
    "is the outage connected with the deploy": True,
    "what links sugar to headaches": False,
    "everything linked to project Harbor": True,
    "the difference between tea and coffee": True,
    "the relay is broken again": False,
    "relative humidity in the flat": False,
    "who is coming to dinner": False,
    "disconnected the old router": False,
    "昨天的会议记录": False,
    "between the lines": False,
}


@pytest.mark.parametrize(("text", "fits"), DEFINITION.items())
def test_what_asks_for_a_definition_goes_to_meaning(text: str, fits: bool) -> None:
    rule = routes.route(text, ["definition"])
    assert (rule is not None) is fits
    assert rule is None or (rule.name, rule.legs) == ("definition", ("semantic",))


@pytest.mark.parametrize(("text", "fits"), RELATION.items())
def test_what_asks_for_a_relation_goes_to_both(text: str, fits: bool) -> None:
    rule = routes.route(text, ["relation"])
    assert (rule is not None) is fits
    assert rule is None or (rule.name, rule.legs) == ("relation", ("keyword", "semantic"))


SHORT = {
    "tea": True,
    "a": True,
    "coffee": True,
    "ERR_1042": True,
    "123456789": True,
    "1234567890": False,
    "tea  leaf": True,  # blanks count once
    " tea leaf ": True,
    "tea leaves": False,
    "茶": True,
    "咖啡": True,
    "木火共生": True,
    "木火共生的": True,
    "木火共生的核心机制": True,
    "木火共生的核心机制？": False,
    "x 木火共": True,
    "ＡＢＣＤ": True,
    "ＡＢＣＤＥ": True,
    "half sugar": False,
    "what do I drink": False,
}


@pytest.mark.parametrize(("text", "fits"), SHORT.items())
def test_nine_characters_are_short_and_ten_are_not(text: str, fits: bool) -> None:
    rule = routes.route(text, ["short"])
    assert (rule is not None) is fits
    assert rule is None or (rule.name, rule.legs) == ("short", ("keyword",))
    assert routes.route(text, ["short"], context=True) is None


def test_each_table_has_twenty_queries() -> None:
    assert {len(table) for table in (DEFINITION, RELATION, SHORT)} == {20}


@pytest.mark.parametrize("text", ["tea", "什么是茶", "the connection between bread and salt"])
def test_no_rule_counts_that_is_not_enabled(text: str) -> None:
    assert routes.route(text, ()) is None
    assert routes.route(text, ["no such rule"]) is None


def test_the_first_rule_that_fits_counts() -> None:
    name = [routes.route("茶是什么", names) for names in (ALL, ["relation", "definition"])]
    assert [rule and rule.name for rule in name] == ["short", "definition"]
    both = routes.route("什么是五行之间的关系", ALL)
    assert both and both.name == "definition"


@pytest.mark.parametrize("name", ALL)
def test_a_rule_says_why(name: str) -> None:
    text = {"short": "tea", "definition": "define entropy", "relation": "the connection between tea and me"}[name]
    rule = routes.route(text, ALL)
    assert rule and rule.name == name and rule.why.startswith("the query ")
