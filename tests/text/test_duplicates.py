"""What is one thing kept twice, and what are two; what two texts that are alike say differently."""

from __future__ import annotations

from datetime import date, timedelta

import pytest

from mdmem.text import duplicates, entries
from mdmem.text.difference import difference
from mdmem.text.duplicates import Told

LONG = "Our landlord Mr Okafor lives in the flat above and wants the rent by bank transfer"
LONG_ZH = "房东是一位退休教师，住在楼上的公寓里，每个月都要求用银行转账付房租"


def told(*said: tuple[int, str, str]) -> list[Told]:
    """Make entries: the day of the month, the time, the text with its comment."""
    found = []
    for number, time, text in said:
        day = date(2026, 11, 1) + timedelta(days=number - 1)
        [entry] = entries.parse(f"- {time} {text}\n").entries
        found.append(Told(f"memory/daily/{day}.md", day, entry, f"daily/{day}#{time}", ""))
    return found


def gone(*said: tuple[int, str, str]) -> list[str]:
    return [one.address[-8:] for merge in duplicates.merges(told(*said)) for one in merge.gone]


TWICE = [
    [(1, "10:00", "User likes green tea"), (1, "10:04", "User  likes green tea")],
    [(1, "10:00", "用户喜欢绿茶和普洱"), (1, "10:04", "用户喜欢绿茶和普洱")],
    [(1, "10:00", "buy milk"), (1, "10:10", "buy milk")],
    [(1, "10:00", LONG), (1, "10:02", LONG)],
    [(1, "10:00", "User likes tea #a"), (1, "10:01", "User likes tea #b")],
    [(1, "10:00", "Cafe\u0301 Luna has good cake"), (1, "10:01", "Caf\u00e9 Luna has good cake")],
    [(1, "10:00", "Fed the cat early <!-- mdmem: id=x -->"), (1, "10:01", "Fed the cat early")],
    [(1, "10:00", "Fed the cat <!-- mdmem: id=x -->"), (5, "18:01", "Fed the cat <!-- mdmem: id=x -->")],
    [(1, "10:00", f"{LONG_ZH} <!-- mdmem: from=a%231 -->"), (1, "18:01", f"{LONG_ZH} <!-- mdmem: from=a%231 -->")],
]

ASKED = [
    [(1, "10:00", f"{LONG} again"), (2, "10:00", f"{LONG} again")],
    [(1, "10:00", LONG), (2, "09:00", LONG)],
    [(1, "10:00", LONG), (1, "10:11", LONG)],
    [(1, "10:00", LONG_ZH), (9, "09:00", LONG_ZH)],
    [(1, "10:00", f"{LONG} #rent"), (1, "18:00", LONG)],
    [(1, "10:00", f"今天{LONG_ZH}"), (2, "10:00", f"今天{LONG_ZH}")],
    [(1, "10:00", LONG), (1, "10:02", LONG), (2, "09:00", LONG)],
    [(1, "22:00", f"Restarted the server because {LONG}"), (1, "22:30", f"Restarted the server because {LONG}")],
]

BOTH = [
    [(1, "10:00", "weight 71.2"), (1, "20:00", "weight 71.2")],
    [(1, "10:00", "体重 71.2 公斤"), (2, "10:00", "体重 71.2 公斤")],
    [(1, "10:00", "Took 400 mg of ibuprofen"), (1, "10:05", "Took 400 mg of ibuprofen")],
    [(1, "10:00", "Had a cup of coffee"), (1, "15:00", "Had a cup of coffee")],
    [(1, "10:00", "The spare key lies under the blue pot"), (1, "18:00", "The spare key lies under the blue pot")],
    [(1, "10:00", "喝了一杯咖啡加牛奶"), (1, "15:00", "喝了一杯咖啡加牛奶")],
    [(1, "10:00", "Walked the dog along the river"), (2, "10:00", "Walked the dog along the river")],
    [(1, "10:00", "User likes green tea"), (2, "10:00", "User likes green tea")],
    [(day, "10:00", LONG) for day in (1, 2, 3)],
    [(1, "10:00", "Called the dentist again"), (1, "10:05", "Called the dentist again")],
    [(1, "10:00", "User likes tea #temp"), (1, "10:01", "User likes tea")],
    [(1, "10:00", "Call the plumber #todo"), (1, "10:01", "Call the plumber #done")],
    [(1, "10:00", "Call the plumber #status/open"), (1, "10:01", "Call the plumber #status/closed")],
    [(1, "10:00", "Call the plumber #状态/进行中"), (1, "10:01", "Call the plumber #状态/完成")],
    [(1, "10:00", f"{LONG} #status/open"), (4, "10:01", f"{LONG} #status/closed")],
    [(1, "10:00", "I like tea <!-- mdmem: persona=yuki -->"), (1, "10:01", "I like tea <!-- mdmem: persona=rin -->")],
    [(1, "10:00", "I like tea <!-- mdmem: persona=yuki -->"), (1, "10:01", "I like tea")],
    [(1, "10:00", "User likes tea <!-- mdmem: source=a -->"), (1, "10:01", "User likes tea")],
    [(1, "10:00", "User likes tea <!-- mdmem: id=a -->"), (1, "10:01", "User likes tea <!-- mdmem: id=b -->")],
    [(1, "10:00", "User likes tea <!-- mdmem: expires=2027-01-01 -->"), (1, "10:01", "User likes tea")],
    [(1, "10:00", "User likes tea"), (1, "10:01", "user likes tea")],
]


def asked(*said: tuple[int, str, str]) -> list[tuple[str, str]]:
    return [(one.address[-8:], other.address[-8:]) for one, other in duplicates.alike(told(*said))]


@pytest.mark.parametrize("said", TWICE)
def test_kept_twice(said: list[tuple[int, str, str]]) -> None:
    assert len(gone(*said)) == 1 and asked(*said) == []


@pytest.mark.parametrize("said", ASKED)
def test_what_is_said_again_later_is_asked_about(said: list[tuple[int, str, str]]) -> None:
    (day, time, _), last = said[0], said[-1]
    assert len(gone(*said)) == len(said) - 2
    assert asked(*said) == [(f"{day:02}#{time}", f"{last[0]:02}#{last[1]}")]


@pytest.mark.parametrize("said", BOTH)
def test_two_things(said: list[tuple[int, str, str]]) -> None:
    assert gone(*said) == [] and asked(*said) == []


def test_the_earliest_stays_with_the_tags_and_comments_of_all() -> None:
    said = [
        (1, "10:02", "User likes tea #b <!-- mdmem: id=x from=chat -->"),
        (1, "10:00", "User likes tea #a"),
        (1, "10:01", "User likes tea\n\n#c #A"),
    ]
    [merge] = duplicates.merges(told(*((day, time, text.replace("\n", "\n  ")) for day, time, text in said)))
    assert (merge.kept.entry.time, merge.text) == ("10:00", "User likes tea #a #c #b")
    assert merge.meta == (("id", "x"), ("from", "chat")) and len(merge.gone) == 2


def test_code_is_compared_as_it_stands() -> None:
    blocks = ["Run this every week:\n\n  ```\n  a  b\n  ```", "Run this every week:\n\n  ```\n  a b\n  ```"]
    assert gone(*((1, f"10:0{number}", text) for number, text in enumerate(blocks))) == []


def test_entries_under_other_headings_are_of_other_things() -> None:
    source = "# 2026-11-01\n\n## Anna\n- 10:00 likes green tea\n## Ben\n- 10:01 likes green tea\n- 10:02 x\n"
    found = entries.parse(source).entries
    assert duplicates.section(source, found) == ["## Anna", "## Ben", "## Ben"]


ALIKE = [
    ("User likes science fiction movies.", "The user likes science fiction films"),
    ("Mara lives in Bremen and works as a nurse", "Mara works as a nurse and lives in Bremen"),
    ("The backup job runs every night on the old laptop", "Every night the backup job runs on the old laptop"),
    ("My sister plays the cello in an orchestra", "My sister is playing cello in an orchestra"),
    ("The project planning meeting takes place on Thursday", "Project planning meeting is on Thursday"),
    ("The server runs Debian 12", "The server is running Debian 12"),
    ("He doesn't eat meat", "He does not eat meat"),
    ("He doesn’t eat meat", "He doesn't eat meat"),
    ("Ran ten kilometres along the river", "Ran 10 kilometers along the river"),
    ("The kitten sleeps on the windowsill", "The kitten is sleeping on the windowsill"),
    ("用户喜欢喝热美式，半糖", "用户喜欢喝热美式,半糖。"),
    ("小雨住在杭州，是一名护士", "小雨住在杭州，是护士"),
    ("我们决定使用Whoosh做BM25检索", "决定：我们使用Whoosh做BM25检索"),
    ("猫在窗台上睡觉", "猫正在窗台上睡觉"),
]

DIFFERENT = [
    ("User likes coffee in the morning", "User dislikes coffee in the morning"),
    ("User likes coffee", "User doesn’t like coffee"),
    ("Turn the heating on at night", "Turn the heating off at night"),
    ("Notifications are enabled for the team chat", "Notifications are disabled for the team chat"),
    ("The price will increase next month", "The price will decrease next month"),
    ("Smoking is allowed on the balcony", "Smoking is forbidden on the balcony"),
    ("Bought the house on the hill", "Sold the house on the hill"),
    ("Meeting with Tom on Monday", "Meeting with Tom on Tuesday"),
    ("Dentist appointment at 14:30", "Dentist appointment at 15:30"),
    ("Dentist appointment on 3 May", "Dentist appointment on 5 May"),
    ("Dentist appointment on 3 May", "Dentist appointment on 3 June"),
    ("The dose is 5 mg of it per day", "The dose is 5 g of it per day"),
    ("Buy 5kg of flour", "Buy 5lb of flour"),
    ("Python 3.11 is required for the build", "Python 3.12 is required for the build"),
    ("Release v2 of the parser is out", "Release v3 of the parser is out"),
    ("The budget is 1,200 euros", "The budget is 1200 dollars"),
    ("The user has two cats", "The user has three cats"),
    ("Take it once a day", "Take it twice a day"),
    ("Lunch with Anna in the old town", "Lunch with Maria in the old town"),
    ("Mara lives in Bremen", "Mara lives in Berlin"),
    ("Anna likes green tea", "Ben likes green tea"),
    ("Prefers tea over coffee", "Prefers coffee over tea"),
    ("Anna gave Ben a book", "Ben gave Anna a book"),
    ("The train goes from Ulm to Jena", "The train goes from Jena to Ulm"),
    ("Likes coffee, dislikes tea", "Likes tea, dislikes coffee"),
    ("He always locks the door", "He never locks the door"),
    ("Take the pills before dinner", "Take the pills after dinner"),
    ("Coffee with milk", "Coffee without milk"),
    ("He is no longer vegetarian", "He is vegetarian"),
    ("Does she like the new office?", "She likes the new office"),
    ("She wants to stop smoking", "She wants to start smoking"),
    ("Max can swim", "Max cannot swim"),
    ("I love my job", "You love my job"),
    ("The door code is `4711`", "The door code is `4712`"),
    ("See https://example.org/a for the plan", "See https://example.org/b for the plan"),
    ("Allergic to peanuts", "Allergic to walnuts"),
    ("The wine was splendid", "The wine was dreadful"),
    ("The flight takes three hours", "The flight takes three minutes"),
    ("The flight lands at 7 pm", "The flight lands at 7 am"),
    ("Ada works at Acme", "Ada worked at Acme"),
    ("Ada will join Acme", "Ada joined Acme"),
    ("Only Anna may enter", "Anna may enter"),
    ("We agreed on plan B", "We agreed on plan C"),
    ("Alice is Bob's mother", "Bob is Alice's mother"),
    ("The alarm is armed", "The alarm is disarmed"),
    ("同意方案A", "同意方案B"),
    ("手术很成功", "手术很失败"),
    ("对花生过敏", "对海鲜过敏"),
    ("喜欢猫，讨厌狗", "喜欢狗，讨厌猫"),
    ("他已婚", "他未婚"),
    ("用户喜欢喝咖啡", "用户不喜欢喝咖啡"),
    ("用户喜欢喝咖啡", "用户讨厌喝咖啡"),
    ("小雨喜欢京剧", "小明喜欢京剧"),
    ("每天喝两杯咖啡", "每天喝三杯咖啡"),
    ("周一开会", "周二开会"),
    ("会议在下午三点", "会议在下午四点"),
    ("体重71.2公斤", "体重71.2斤"),
    ("晚上关灯", "晚上开灯"),
    ("价格上涨了", "价格下跌了"),
    ("他会游泳", "他不会游泳"),
    ("饭前吃药", "饭后吃药"),
    ("妈妈住在杭州", "爸爸住在杭州"),
    ("妈妈住在杭州", "妈妈住在苏州"),
    ("喜欢茶胜过咖啡", "喜欢咖啡胜过茶"),
    ("今天去看牙医", "明天去看牙医"),
    ("王老师同意了", "李老师同意了"),
    ("使用Python 3.11", "使用Python 3.12"),
    ("她怀孕了吗？", "她怀孕了"),
    ("三月去东京", "四月去东京"),
    ("最喜欢《星际穿越》", "最喜欢《盗梦空间》"),
]


@pytest.mark.parametrize("pair", ALIKE)
def test_alike(pair: tuple[str, str]) -> None:
    assert difference(*pair) == difference(*pair[::-1]) == ""


@pytest.mark.parametrize("pair", DIFFERENT)
def test_different(pair: tuple[str, str]) -> None:
    assert difference(*pair) and difference(*pair[::-1])
