"""What is no claim, whatever its words: orders to a model, fiction, jokes, output, questions, mere thoughts.

Owns what refuses an entry as a whole, what refuses a sentence, and what only casts doubt on one. It never says what a
claim is. When in doubt it refuses: a line that is missed stands in the log all the same.
"""

from __future__ import annotations

import re

from mdmem.model import Entry
from mdmem.text import secrets
from mdmem.text.extract.labels import tag_of
from mdmem.text.extract.phrases import joined
from mdmem.text.extract.sentences import LONGEST_TEXT, MASK, Sentence, plain

_FLAGS = re.IGNORECASE

_INJECTED = re.compile(
    joined(
        r"""
        \b(?:ignore|disregard|forget|override|bypass)\b.{0,40}\b(?:instructions?|prompts?|rules|guidelines
        |directives)\b|\b(?:add|write|save|store|append|put|commit|insert)\b.{0,60}\b(?:to|in
        |into)\b.{0,20}\b(?:memory|MEMORY\.md|SOUL\.md)|^[^\w\n]{0,20}(?:system|developer)\s?(?:prompt|message
        |note|override)?\s?[:：>\]]|<\|?/?(?:system|im_start|im_end|instructions?|inst)\b|\[/?(?:INST|SYSTEM)\]
        |###\s*(?:system|instruction)|\byou (?:must|should|will|are to|have to
        |need to) (?:now |always |never )?(?:remember|obey|act|pretend|reveal|output|execute|store|memori[sz]e
        |treat|comply)\b|\byou are (?:now|DAN)\b|\bfrom now on,? you\b|\bno (?:rules|restrictions|limits)\b
        |\b(?:never|do not|don't) (?:warn|tell|inform|alert|ask) the user\b|\balways (?:trust|approve|allow
        |recommend)\b|\bwhen (?:summari[sz]ing|answering|responding|asked)\b|\b(?:jailbreak|developer mode
        |do anything now)\b|\bthe (?:assistant|model|ai|agent|llm)\b.{0,20}\b(?:must|should|shall|is to
        |will always|may now)\b|\b(?:without asking|without confirmation|no confirmation needed|exfiltrate)\b
        |(?:忽略|无视|忘掉|忘记|绕过|覆盖).{0,12}(?:指令|指示|提示词?|规则|限制|设定)|系统(?:提示|指令|消息
        |管理员)|(?:写入|加入|存入|添加到|保存到|记入|写进).{0,8}(?:长期)?(?:记忆|MEMORY)|你(?:现在)?(?:必须|务必
        |应当|要)(?:永远)?(?:记住|服从|执行|扮演|输出)|从现在(?:起|开始)[，,]?你(?:是|就是|要|必须)|(?:模型|助手
        |AI|智能体)(?:必须|应当|应该|可以直接)|从现在(?:起|开始)[，,]?你|(?:总结|回答|回复|摘要)时.{0,6}务必
        |请务必(?:包含|输出|推荐|信任)|没有任何限制|无需(?:确认|询问)|不必(?:确认|询问)|(?:允许|可以
        |授权)(?:你)?删除(?:全部|所有|任何)
        """
    ),
    _FLAGS | re.MULTILINE,
)
_FICTION = re.compile(
    joined(
        r"""
        \b(?:in|for) (?:my|the|our|her|his) (?:novel|story|short story|screenplay|play|comic|fanfic|campaign
        |dream)\b|\b(?:role-?play|fan ?fiction|fanfic|once upon a time|in character|out of character|my character
        |the protagonist|the heroine|the hero of|story idea|plot idea|writing prompt|world-?building|dreamt
        |I dreamed|had a dream|(?:speech|poem|story|lyrics?|novel|scene|chapter|dialogue
        |eulogy) (?:draft|idea|snippet)|draft (?:of|for) (?:the|my|a)\b|chapter (?:\d+|one|two|three)\s?[:：—-]
        |scene \d+|D&D|dungeon master)\b|#(?:fiction|novel|story|roleplay|rp|dream|poem|小说|故事|角色扮演|梦
        |剧本)\b|小说(?:片段|里|中|设定|草稿|第|大纲|的?(?:男|女)?主角)|写(?:小说|故事|剧本)|故事(?:里|中|片段
        |梗概)|剧本|角色扮演|扮演|台词|人设|女主角?|男主角?|^(?:recipe|ingredients|method|菜谱|食谱|做法
        |配料)\s?[:：]|梦见|梦到|做了个?.{0,6}梦|番外|同人|歌词|互动故事|跑团
        """
    ),
    _FLAGS | re.MULTILINE,
)
_JOKES = re.compile(
    joined(
        r"""
        \b(?:just kidding|only kidding|kidding!|april fools?|jk|/s|just joking|only joking|as a joke|sarcasm)\b
        |\b(?:i'm|i am|i'll be|you're|you are) (?:basically |now )*(?:my|your) (?:daddy|mommy|mummy|mother|father
        |master|mistress|wife|husband|owner|slave|girlfriend|boyfriend|god)\b|\bcall me (?:daddy|mommy|master
        |mistress|god)\b|我(?:就|才)?是你|你(?:就|才|简直)?是(?:能)?(?:当)?我|当我(?:的)?(?:妈|爸|爹|娘|老婆|老公
        |女友|男友|主人|儿子|女儿)|叫我(?:主人|爸爸?|爹|老公|老婆|女王|陛下|妈妈?)|叫(?:爸爸|爹|主人)|愚人节
        |骗(?:你|大家)们?的|开(?:个)?玩笑|闹着玩|逗你|说笑|纯属(?:搞笑|玩笑)|玩笑(?:话|罢了|而已)
        """
    ),
    _FLAGS,
)
_PASSING = re.compile(
    joined(
        r"""
        #te?mp\b|#(?:临时|短期)|\b(?:for today only|only for today|today only|just for today|just for now
        |for the time being|temporar(?:y|ily)|until tonight|only this week|this week only|for this (?:session|chat
        |conversation) only)\b|仅限(?:今天|今日|本周|这次)|只(?:限|在)今天|临时|暂时|先这样
        """
    ),
    _FLAGS,
)
_RECALLED = re.compile(
    joined(
        r"""
        (?:\bdaily/\d{4}-\d\d-\d\d#\d\d:\d\d|\barchives/[\w-]+).{0,4000}?(?:daily/\d{4}-\d\d-\d\d#|archives/)
        |^[^\w\n]{0,20}(?:search results?|recalled|from memory|memory says|results for|recall|检索结果|搜索结果|回忆
        |根据记忆|记忆中).{0,40}[:：]|^[ \t]*\d{1,5}[.)]? +daily/\d{4}|\bmdmem (?:search|show|list)\b
        """
    ),
    _FLAGS | re.MULTILINE | re.DOTALL,
)
_OWN_SOURCES = frozenset(
    ["recall", "search", "mdmem", "checkpoint", "nightly", "tool", "import-recall", "retrieval", "context"]
)
_MACHINES = frozenset(["ci", "cron", "job", "scheduler", "bot", "pipeline", "hook", "build", "monitor"])


def refuses_entry(entry: Entry) -> bool:
    """Tell whether nothing of an entry may become a claim: it passes, states nothing, or says what was recalled."""
    meta = dict(entry.meta)
    if "expires" in meta or meta.get("source", "").casefold() in _OWN_SOURCES | _MACHINES:
        return True
    text = plain(entry.text[:LONGEST_TEXT])
    if tag_of(text) != "preference" and _FICTION.search(text):  # what somebody wants of a story is no story
        return True
    return any(pattern.search(text) for pattern in (_INJECTED, _JOKES, _PASSING, _RECALLED, _TRACE))


_TRACE = re.compile(
    joined(
        r"""
        Traceback \(most recent call last\)|^[ \t]+at [\w.$<>]{1,200}\([^)\n]{0,200}\)
        |^[ \t]*File \"[^\"\n]{1,300}\", line \d+
        |^panic: |^Exception in thread
        """
    ),
    re.MULTILINE,
)


_MACHINE = re.compile(
    joined(
        r"""
        ^\W*(?:\[?(?:INFO|WARN(?:ING)?|ERROR|DEBUG|TRACE|FATAL|NOTICE)\]?[\s:]|CI\b|build #?\d|npm (?:WARN|ERR)
        |job\b.{0,20}\b(?:started|finished)|cron\b|nightly\b.{0,20}\b(?:finished|done|ok|failed|started)
        |\d{4}-\d\d-\d\d[T ]\d\d:\d\d|\$ |%\s|>>> |\.{0,2}/|~/|git (?:push|pull|commit|rebase|checkout|merge|log
        |add|clone|stash|reset|fetch|diff) |docker (?:run|compose|ps|exec|logs
        |build) |kubectl |sudo |pip3? install |ssh [\w.@-]+$|curl -
        |SELECT |INSERT |UPDATE |DELETE |GET |POST |HTTP/|[\w.-]+\.(?:py|js|ts|go|rs|sh|log):\d+)|\b\d+ (?:passed
        |failed|skipped|errors?|warnings?)\b|\bexit(?:ed)? (?:with )?(?:code|status) \d|\b[0-9a-f]{12,}\b
        |[{}<>|=$\\]{2,}|<!--|-->|(?:执行|构建|部署|备份|同步|编译|扫描|巡检)(?:完成|成功|失败|完毕|结束)|流水线|用时
        |耗时|覆盖率|(?:新增|更新|失败|成功) ?\d+ ?条|报错
        """
    ),
    re.IGNORECASE,
)
_SHELL = re.compile(
    joined(
        r"""
        ^(?:make|cat|go|find|head|tail|touch|cp|mv|rm|ls|cd|python3?|node|npm|pnpm|yarn|uv|cargo|psql|apt|brew
        |grep|sed|awk|export|echo|chmod|tar|scp|rsync|systemctl|source|man|kill|ps) (?:-\S|\S*[/.=$]\S|[\w-]+$
        |install\b|run\b)
        """
    )
)
_ASKING = re.compile(
    joined(
        r"""
        [?？]\s*[)）\"”]*\s*$|^(?:what|why|how|who|whom|whose|where|when|which|should|shall|could|would|can|do
        |does|did|is|are|was|were|am|will|any(?:one|body)|have you|has any)\b(?!.{0,60}[.!]$)|^(?:tell me
        |let me know|wonder)|[吗么嘛]\s*[。.!！~～]*$|(?:要不要|是不是|该不该|(?<!问)(?<!确认)能不能(?!碾|用|吃|带
        |报|退)|好不好|行不行|可不可以|会不会|有没有|对不对|为什么|怎么看|怎么样|怎么办|多少钱|谁能|哪里有|几点了)
        |(?:什么|怎么|哪|谁|几|如何|多少).{0,20}(?:呢|啊|呀)\s*[。!！~～]*$|了没有?\s*$|来着
        """
    ),
    re.IGNORECASE,
)
_SUPPOSED = re.compile(
    joined(
        r"""
        \b(?:maybe|perhaps|might|i wonder|if only|i wish|wish i|would be (?:nice|great|cool|fun|lovely)|what if
        |in theory|hypothetically|imagine|suppose|someday|some day|one day|tempted|i(?:'m| am) (?:thinking
        |considering|torn|debating|not sure|unsure|wondering|toying)|(?:was|been|is|are|were) (?:thinking
        |considering|wondering)|thinking (?:about|of)|considering|not sure|unsure|undecided|^even if|if i (?:ever
        |were|was|had|could|won)|if we (?:ever|were|had|could)|i would (?:buy|go|live|love|like|be)|i'd (?:love
        |like|be|buy|go)|we'd (?:love|like)|we could|i could|(?:have|has|had)(?:n't| not) (?:yet )?decided
        |can(?:'t|not) decide|(?:not|never) (?:yet )?decided|haven't (?:chosen|picked|settled|made up)
        |before deciding|to decide|decide (?:whether|if|when|later|between)|decides?\b|probably|possibly|likely
        |apparently|supposedly|i guess|i suppose|i think|i believe|i feel like|seems?|looks like|as if|rumou?rs?
        |hopefully|i hope|hoping|let's see|we'll see|who knows|dream of|would have|could have|should have|pretend
        |horoscope|must be (?:really|so|such|quite|very|an? \w+ (?:experience|feeling|journey|time)|awesome|amazing
        |incredible|great|fun|hard|nice)|gotta tell)\b
        |也许|或许|说不定|没准|说不准|要是|假如|假设|如果|倘若|(?<![一二两三四五六七八九十百千])万一
        |要不[，,就]|不如(?!.{0,10}好)|好像|似乎|大概(?!率是)|应该(?:是|会|可以|有)|估计|但愿
        |希望(?=.{0,12}[能会可]以?.{0,12}$)|要么|犹豫|差点|险些|几乎要|还没(?:想好|决定|定|确定|选)|没想好|没决定
        |考虑|再想想|再说|再看看|再定|有空(?:再|就|的话)|哪天|有一天|总有一天|猜|恨不得|就好了|多好|想象|幻想|算命
        |星座|运势|真想|好想|想要是|可能(?!性)|不一定|看情况|不确定|未必|据说|听说|传言|传说
        """
    ),
    re.IGNORECASE,
)
_REPORTED = re.compile(
    joined(
        r"""
        ^(?!(?:the )?user\b)(?!(?:i|we)\b).{0,40}\b(?:said|says|claims?|claimed|told (?:me|us)(?! to)|thinks
        |believes|wrote|asked(?! (?:me|us) to)|asks(?! (?:me|us) to)|insists|swears|reckons|suggests?|suggested
        |recommends?|complain(?:s|ed)|announced|wonders|argued|shouted|joked)\b(?! me to call)|\b(?:according to
        |i (?:heard|read) (?:that|about|somewhere|in)|they say|people say|someone|somebody|rumou?r has
        |in the (?:film|movie|book|song|show|series|podcast|article|interview))\b
        |^[^，,：:]{1,6}提醒(?:大家|我们?)?[：:，,]|(?<!用户)(?<!医生)(?<![我会])(?:说(?!好|定|服|明|到底|起|一下|一声|清楚)|告诉我|问我|问(?:要|能|怎|有)|提议
        |建议|抱怨|吐槽|认为|声称|表示|猜测|写道|念叨|喊)|网上|朋友圈|有人|别人都|新闻|书里|电影里|剧里|文章|采访
        |某人|群里
        """
    ),
    re.IGNORECASE,
)
_GUESSED = re.compile(
    joined(
        r"""
        ^(?:i|it|the assistant|the agent)\b.{0,20}\b(?:think|guess|suspect|assume|infer|believe|imagine|feel|sense
        |seems)\b.{0,20}\b(?:user|he|she|they)\b|\buser\b.{0,20}\b(?:may|might|could|seems?|appears?|probably
        |perhaps|likely)\b|\bas an ai\b|\bi (?:cannot|can't|don't) (?:remember|recall|have access)|\bi(?:'d
        | would) be happy to\b|\bhappy to help\b|^(?:explained|answered|helped|gave|provided|showed|suggested
        |offered)\b|我(?:猜|觉得|感觉|认为|推测|估计)(?:用户|他|她)|用户(?:可能|也许|似乎|好像|大概|应该|估计)
        |作为(?:一个|一名)?(?:AI|人工智能|语言模型|助手)|很高兴(?:为您|帮)
        """
    ),
    re.IGNORECASE,
)
_SECOND = re.compile(
    joined(
        r"""
        ^(?:(?:and|but|so|oh|wow|well|yeah|yes|no|hey|hi|aw+),? )*(?:you|your|you're|you've|you'll|you'd|yours
        |that's|thats|good luck|congrat\w*|thanks?|thank you|sorry|please (?:send help|tell)|nice|great|wow|cool
        |awesome|amazing|glad|happy (?:birthday|new|to)|cheers|good (?:morning|night|evening|job|to|for)|hello|hi
        |hey|bye|lol|haha\w*|omg|enjoy|take care|have (?:a|fun)|keep (?:it|up|me|going|in)|let me know
        |looking forward|can't wait|no way|sounds|looks|lgtm|ok(?:ay)?)\b|^(?:你|您|咱俩|亲|宝贝|谢谢|感谢|恭喜
        |加油|早上?好|晚安|晚上好|大家好|哇|哈哈|呵呵|嘿嘿|祝|辛苦|收到|好的|好呀|好哒|嗯|哦|哎呀?|天啊|棒)
        """
    ),
    re.IGNORECASE,
)
_LAUGHING = re.compile(r"\b(?:lol|lmao|rofl|haha\w*|hehe\w*)\b|哈哈|笑死|呵呵|嘿嘿|hhh|2333|🤣|😂", re.IGNORECASE)
_BROKEN = re.compile(
    joined(
        r"""
        (?:\b(?:and|or|but|the|a|an|of|to|so|that|with|because|which|for|in|on|my|our|is|are)|[,，、:：(（—–-]
        |\.\.\.|…)\s*$|(?:的|和|与|因为|但是|然后|所以|写到一半)$
        """
    ),
    re.IGNORECASE,
)
_MOOD = re.compile(
    joined(
        r"""
        ^(?:i(?:'m| am| feel| felt| was)|feeling|so|such|what an?|very)\b.{0,30}\b(?:tired|sad|happy|glad|excited
        |proud|bored|hungry|sick|angry|stressed|nervous|grateful|thankful|relieved|dead|exhausted|sorry|lucky
        |overwhelmed|blessed|okay|ok|fine|good|great|here for|on my way|late|back|home|ready|done)\b|(?:困|累|饿
        |烦|气|开心|高兴|难过|崩溃|郁闷|焦虑|爽|无语|感动|心累|累瘫|绝了|救命)(?:死了|坏了|极了|了|啊|爆了
        |透了)?[。.!！~～]*$
        """
    ),
    re.IGNORECASE,
)
_WORD = re.compile(r"[A-Za-zÀ-ɏ0-9][\w'’.-]*")
_HAN = re.compile("[\u3400-\u9fff]")
_LETTERS = re.compile(r"[^\W\d_]")
_SECRET = re.compile(
    joined(
        r"""
        \b(?:passwords?|passphrase|passcode|pass code|pin(?: code)?|cvv|api key|secret key|token|iban|ssn
        |credit card(?: number)?|card number)\b.{0,20}?(?:\bis\b|\bwas\b|[:=])(?! (?:in|on|stored|kept|with|at
        |under|the same|not|required|changed every)\b)|(?:密码|口令|验证码|身份证号码?|银行卡号|卡号
        |密钥).{0,10}?(?:是|为|：|:|=)(?!在|存|放)
        """
    ),
    re.IGNORECASE,
)
_WEATHER = re.compile(
    joined(
        r"""
        \b(?:weather|rain(?:s|y|ing)?|snow(?:s|ing)?|sunny|cloudy|windy|degrees|forecast|°C)\b|气温|降温|下雨|下雪
        |大雨|天气|刮风|台风|多云|°C|℃
        """
    ),
    re.IGNORECASE,
)
_ROBOTS = frozenset(["assistant", "ai", "bot", "助手", "机器人", "系统", "chatgpt", "claude", "system"])


def refuses(sentence: Sentence) -> bool:
    """Tell whether a sentence states nothing that lasts: output, question, guess, greeting, half a sentence."""
    hidden = sentence.masked
    thin = _is_thin(sentence.text, hidden, least=2 if sentence.label else 4)
    if sentence.done or sentence.speaker.casefold() in _ROBOTS or thin:
        return True
    patterns = (_MACHINE, _SHELL, _ASKING, _SUPPOSED, _GUESSED, _SECOND, _BROKEN, _LAUGHING)
    return any(pattern.search(hidden) for pattern in patterns) or _is_secret(sentence.text)


def _is_secret(text: str) -> bool:
    """Tell whether a sentence holds what must not be copied into memory."""
    return bool(_SECRET.search(text) or secrets.kinds(text))


def doubt(sentence: Sentence) -> float:
    """Return what is to be taken off the confidence in a sentence that is not refused."""
    hidden = sentence.masked
    own = sentence.label or re.match(r"用户|我(?![妈爸妹姐哥弟奶爷])|(?:the )?user\b", hidden)
    off = 0.35 * bool(not own and _REPORTED.search(hidden)) + 0.35 * bool(_MOOD.search(hidden))
    off += 0.3 * bool(_WEATHER.search(hidden) and not re.search(r"\b(?:I|user|my)\b|我|用户", hidden))
    return off + 0.1 * (sentence.text.count("!") + sentence.text.count("！") > 1)


def _is_thin(text: str, hidden: str, *, least: int) -> bool:
    """Tell whether too little of a sentence is words of its own."""
    own = len(hidden) - hidden.count(MASK)
    letters = len(_LETTERS.findall(text))
    weight = len(_HAN.findall(hidden)) + 2 * len(_WORD.findall(_HAN.sub(" ", hidden)))
    return weight < least or own < 0.35 * len(hidden) or letters < 0.33 * len(text.replace(" ", ""))
