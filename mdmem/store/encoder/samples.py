"""Texts that a model is tried on when it is prepared: a few of each script, from two words to beyond any window.

Owns what is said in them, nothing else. Pairs of near meaning are among them, for what counts is whether the order of
neighbours survives. Changing a text changes what is measured, never which vectors a prepared model gives.
"""

from __future__ import annotations

TEXTS: dict[str, tuple[str, ...]] = {
    "Latin": (
        "green tea",
        "We drank green tea on the balcony.",
        "Coffee gives me a headache, so it is peppermint tea for me in the evening.",
        "The backup runs at 03:00; check df -h first, the disk was full twice.",
        "Backups: every night at three. Make sure there is space left on the drive.",
        "Anna's birthday is on 14 May. She wants a book about birds.",
        "dentist appointment moved to Thursday",
        "My next appointment at the dentist is on Thursday, not on Tuesday.",
        "def total(rows): return sum(row.price * row.count for row in rows if row.paid)",
        "postgres connection refused on port 5432 after the upgrade",
        "The database did not accept connections until we restarted it with the new configuration.",
        "He likes hiking in the Alps, and she would rather swim in the sea.",
        "Wir haben den Mietvertrag für die neue Wohnung gestern unterschrieben.",
        "La réunion avec l'équipe est reportée à lundi prochain, à dix heures.",
        "El vuelo a Lisboa sale a las siete de la mañana desde la terminal dos.",
        "we should pay the electricity bill before the end of the month, else there is a fee",
        "Decision: we keep the files in plain Markdown, because everybody can read them without our program.",
        "Idea for the garden: tomatoes by the wall where it is warm, beans along the fence, herbs near the kitchen.",
        "The flat has three rooms and a small balcony. The rent is 900 a month with heating. The landlady lives below "
        "us and does not like noise after ten. We may paint the walls, but the floor has to stay as it is.",
        "What I learned from the outage: the alarm came twenty minutes late since nobody had noticed that the mail "
        "server was down as well. From now on the alarm also goes to the phone. The logs were rotated too early, so "
        "we could not see the first error. Keep them for thirty days. The restore itself worked on the first try.",
    ),
    "Han": (
        "绿茶",
        "我们昨天在阳台上喝了绿茶。",
        "服务器的备份每天凌晨三点运行，请先检查磁盘空间。",
        "妈妈的生日是五月十四日，她想要一本关于鸟类的书。",
        "下周一上午十点开会，讨论新项目的计划和预算。",
    ),
    "Kana": (
        "ありがとう",
        "きのう、ベランダでみんなとおいしいお茶をのみました。",
        "サーバーのバックアップは毎晩三時に始まります。",
        "来週のミーティングは月曜日の十時からです。",
    ),
    "Hangul": (
        "녹차",
        "우리는 어제 발코니에서 녹차를 마셨습니다.",
        "서버 백업은 매일 새벽 세 시에 실행됩니다.",
        "다음 회의는 월요일 오전 열 시에 시작합니다.",
    ),
    "Cyrillic": (
        "зелёный чай",
        "Вчера мы пили зелёный чай на балконе.",
        "Резервное копирование начинается каждую ночь в три часа.",
        "Следующая встреча состоится в понедельник в десять утра.",
    ),
    "Greek": (
        "πράσινο τσάι",
        "Χθες ήπιαμε πράσινο τσάι στο μπαλκόνι.",
        "Η επόμενη συνάντηση είναι τη Δευτέρα στις δέκα το πρωί.",
    ),
    "Arabic": (
        "شاي أخضر",
        "شربنا الشاي الأخضر على الشرفة أمس.",
        "الاجتماع القادم يوم الاثنين في الساعة العاشرة صباحا.",
    ),
    "Hebrew": (
        "תה ירוק",
        "אתמול שתינו תה ירוק במרפסת.",
        "הפגישה הבאה תהיה ביום שני בעשר בבוקר.",
    ),
    "Devanagari": (
        "हरी चाय",
        "कल हमने बालकनी में हरी चाय पी।",
        "अगली बैठक सोमवार को सुबह दस बजे होगी।",
    ),
    "Thai": (
        "ชาเขียว",
        "เมื่อวานนี้เราดื่มชาเขียวที่ระเบียง",
        "การประชุมครั้งต่อไปคือวันจันทร์เวลาสิบโมงเช้า",
    ),
}
"""Script → texts; the longest of each tells how a vocabulary copes with it."""


def texts(scripts: tuple[str, ...], window: int) -> list[str]:
    """Give the texts of these scripts, Latin always, and two that are longer than `window` tokens."""
    chosen = [text for script in dict.fromkeys(("Latin", *scripts)) for text in TEXTS.get(script, ())]
    everything = " ".join(TEXTS["Latin"])
    return [
        *chosen,
        " ".join(TEXTS["Latin"][3:12]),
        *(part * (window // 200 + 2) for part in (everything, everything[::-1])),
    ]
