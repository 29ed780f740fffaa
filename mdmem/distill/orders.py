"""What reads like an order to a model, in English and Chinese, however it is disguised.

Owns the patterns. They know forms and not intentions: an honest line that looks like an order goes to a person, too.
"""

from __future__ import annotations

import re
from unicodedata import category, normalize

_URL = r"(?:https?|ftp|file|wss?)\s*:\s*//"
_SECRETS = (
    r"(?:memor(?:y|ies)|conversations?|chat history|passwords?|credentials?|tokens?|secrets?|(?:api|private) keys?"
    r"|prompts?)"
)
_SECRETS_ZH = "(?:记忆|对话|聊天记录|密码|密钥|凭据|令牌|提示词)"
_MODEL = r"\b(?:assistant|model|ai|agent|llm|chatbot|claude|gpt)s?\b"
_MODEL_ZH = "(?:模型|助手|助理|ai|智能体|机器人)"

_ANYWHERE: tuple[tuple[str, tuple[str, ...]], ...] = (
    (
        "orders to forget other orders",
        (
            r"\b(?:ignor|disregard|forget|overrid|overwrit|bypass|discard)\w*\b(?:\W+\w+){0,5}?\W+"
            r"(?:instructions?|rules?|prompts?|messages?|context|guidelines?|guardrails|directives?|constraints"
            r"|memor(?:y|ies)|above|everything|previous|prior|earlier)\b",
            r"\b(?:ignorier\w*|ignorez|ignor[ae]r?|пренебрег\w*|игнорируй\w*)\b.{0,40}"
            r"(?:anweisung|instruc|instruz|istruz|инструкц)",
            "(?:忽略|无视|無視|忘记|忘掉|不要?理会|抛开|绕过|覆盖|清空|舍弃|违反).{0,12}"
            "(?:指令|指示|规则|提示|设定|要求|约束|限制|上文|以上|之前|先前|前面|记忆|一切)",
        ),
    ),
    (
        "talk of a system or its developer",
        (
            r"\bsystem\W{0,3}(?:prompt|message|override|instruction|note|update)",
            r"^[^\w\n]*(?:system|developer|admin)\W{0,3}[:：>\]]|^[^\w\n]*\[(?:system|assistant|inst)",
            r"<\|[^|]{0,40}\|>|\[/?\s*inst\s*\]|<<sys>>|##\s{0,3}(?:system|instruction|human|assistant|user)",
            r"\b(?:developer|debug|god|admin|sudo) mode\b|\bjailbr|\bdo anything now\b",
            r"\b(?:system|系统)\s*[:：]|[(（\[]\s*(?:system|系统|管理员)",
            "系统(?:提示|指令|消息|通知|管理员|覆盖)|开发者模式|越狱|管理员(?:指令|权限|命令)",
        ),
    ),
    (
        "a standing order for answers",
        (
            r"\b(?:always|never|every time|from now on|henceforth|whenever|each|every|all)\b.{0,60}"
            r"\b(?:respond|repl(?:y|ies)|responses?|answers?|answering|output|obey|comply|recommend)\b",
            r"\b(?:respond|reply|answer|output)\b.{0,30}\b(?:only|always|exactly|verbatim|with the (?:word|phrase))\b",
            r"\b(?:respond|reply|answer)\s+(?:with|in)\b",
            "(?:总是|永远|始终|一律|每次|凡是|所有|任何|从现在|从今以后|今后|以后).{0,20}"
            "(?:回复|回答|答复|输出|回应|推荐|服从|执行|遵从|照做|发送)",
            "(?:回复|回答|答复|输出)(?:时|中|里)?.{0,6}(?:只能|必须|务必|一律|都要)",
        ),
    ),
    (
        "an order to an assistant",
        (
            r"\byou (?:must|shall|should|are to|will (?:now|always|never)|have to|need to|are now|are required)\b",
            _MODEL + r".{0,16}\b(?:must|should|shall|is to|has to|needs? to|will (?:now|always|never)|(?:may|can) now"
            r"|is (?:now )?(?:allowed|permitted|authori[sz]ed))\b",
            r"\bact as\b|\bpretend (?:to be|you)|\bplease (?:always|never|now|immediately)\b",
            r"\b(?:note|attention|important|reminder) (?:to|for) (?:the |any )?(?:ai|assistant|model|agent|llm)s?\b",
            "你(?:现在|今后|以后)?(?:必须|务必|应当|应该|只能|不得|需要|将)|请你?(?:务必|立即|马上|永远|总是|始终|一律|记住)",
            _MODEL_ZH + "(?:必须|务必|应当|应该|需要|只能|不得|可以直接|要)|你现在是|扮演|从现在(?:起|开始)",
        ),
    ),
    (
        "a secret kept from the user",
        (
            r"\b(?:do not|don['’]?t|never|without)\b.{0,16}\b(?:tell|reveal|mention|inform|notify|show|warn|ask)\w*\b"
            r".{0,24}\b(?:user|human|owner|anyone|anybody|them)\b",
            r"\b(?:secretly|silently|covertly|without (?:asking|confirmation|telling)|no confirmation)\b",
            "(?:不要|别|不得|无需|不必)(?:告诉|告知|通知|提醒|询问|让)(?:用户|主人|任何人|人类)|对用户保密|瞒着用户",
            "(?:无需|不必|不用)(?:确认|询问|授权)|偷偷",
        ),
    ),
    (
        "an order with a condition",
        (
            r"\b(?:when(?:ever)?|if|once)\b.{0,40}\b(?:asks?|asked|sees?|says)\b.{0,40}\b(?:say|tell|answer|reply|respond|claim"
            r"|deny|dump|delete|send|run)\b|\bif (?:anyone|anybody|somebody|someone|the user) asks?\b",
            "(?:用户|有人|任何人|别人|对方)(?:再|要是|如果)?(?:问|询问|问起|提到|提起).{0,16}(?:就|先|都|则|请|回答|说)",
        ),
    ),
    (
        "a permission",
        (
            r"\b(?:trust|treat|authori[sz]\w*|grant\w*|permit\w*|pre-?approv\w*|disabl\w*|bypass\w*|skip)\b.{0,40}"
            r"\b(?:messages?|everything|anything|all|any|access|permissions?|payments?|money|transfers?|checks?|safety|logging"
            r"|agents?|instructions?|requests?|e?mails?)\b",
            r"\bdo (?:what|whatever|everything)\b.{0,30}\b(?:says?|asks?|wants?)\b",
            "(?:授权|信任|批准|无条件|跳过|关闭|禁用).{0,16}(?:代理|助手|自动|付款|支付|转账|检查|安全|日志|请求|指令|一切|所有|全部)",
        ),
    ),
    (
        "an order to hand something over",
        (
            r"\b(?:send|forward|upload|post|e-?mail|leak|exfiltrat\w*|transmit|submit|share|reveal|print|output|disclose"
            rf"|repeat)\b.{{0,60}}\b{_SECRETS}\b",
            f"(?:发送|发到|上传|转发|泄露|提交|透露|输出|公开).{{0,24}}{_SECRETS_ZH}",
            f"(?:把|将).{{0,16}}{_SECRETS_ZH}.{{0,12}}(?:发|传|转|泄露|提交|透露|公开)",
        ),
    ),
)
_IN_CLAIMS: tuple[tuple[str, tuple[str, ...]], ...] = (
    ("words to its reader", (r"(?<!thank-)(?<!thank )\b(?:you|yours?|yourself)\b|[你您]",)),
    (
        "a rule for an assistant",
        (
            _MODEL
            + r".{0,40}\b(?:refus|authori[sz]|permi|allow|grant|trust|approv|disabl|enabl|skip|agree|say|answer|mention"
            r"|tell|warn|ignor|obey|prefer|remember|rate|name|goal|role|persona)",
            _MODEL_ZH
            + ".{0,12}(?:拒绝|授权|允许|信任|批准|禁用|跳过|同意|说|回答|提及|告诉|忽略|服从|记住|名字|角色|目标)",
            r"\A\W*(?:assistant|助手|助理|机器人|人工智能)",
            r"\bwithout (?:any )?(?:safety|warnings?|checks?|confirmation|limits?|restrictions?|filters?)\b",
        ),
    ),
    (
        "an order to fetch something",
        (
            r"\b(?:fetch|visit|open|load|download|browse|navigate|click|follow|request|call|ping|post|get|go to|see"
            rf"|check|import|include|render|use|send)\b.{{0,80}}{_URL}",
            f"(?:访问|打开|下载|点击|请求|抓取|加载|浏览|调用|前往|发送).{{0,40}}{_URL}",
            r"!\[|\]\(\s*\w+:|\b(?:java|vb)script:|\bdata:\w+/\w|https?://[^\s/]*@|https?://\S*[?&]\w+=",
        ),
    ),
    (
        "a command to be run",
        (
            r"\brm\s+-\w*[rf]|\bsudo\s|\b(?:curl|wget|nc|ncat|scp|iex|invoke-\w+)\s+\S|\|\s*(?:ba|z|da|fi)?sh\b",
            r"\bpowershell\b|\bchmod\s+[0-7+]|\bmkfs|\bdd if=|\b(?:ba|z)?sh\s+-c\b|\$\(|&&\s*\w|:\(\)\s*\{",
            r"\b(?:python3?|node|perl|ruby|php)\s+-[ecr]\b|;\s*(?:rm|curl|wget|nc|bash|sh)\b|\bnpx\s",
            r"\b(?:os\.system|subprocess|__import__|eval\(|exec\()|\bdrop\s+(?:table|database)\b|\bdelete\s+from\b",
            r"\b(?:pip3?|npm|gem|cargo|brew|apt(?:-get)?)\s+(?:-\S+\s+)*(?:install|i|add)\b",
            r"\b(?:run|execute|eval|invoke)\s+(?:\w+\s+){0,3}(?:commands?|scripts?|code|shell|tools?|`)",
            r"\b(?:call|invoke|use) the \S+ (?:tool|function)\b|\bdelete (?:all|every|the whole)\b",
            "(?:运行|执行).{0,8}(?:命令|脚本|代码|指令|`)|调用.{0,10}(?:工具|函数|接口)",
            "(?:删除|清空|格式化)(?:全部|所有|整个|任何)",
        ),
    ),
    (
        "an order to remember",
        (
            r"\b(?:add|write|save|store|append|put|commit|insert|promote|record)\b.{0,60}\b(?:to|in|into)\b.{0,16}"
            r"\b(?:memory|memory\.md|soul\.md|identity\.md)\b",
            r"\bremember\b.{0,30}\b(?:forever|permanently|as (?:a )?(?:fact|rule|truth))",
            "(?:写入|加入|存入|添加到|保存到|记入|写进|录入).{0,8}(?:长期)?(?:记忆|memory)|永[久远]记住",
        ),
    ),
)


def _compiled(table: tuple[tuple[str, tuple[str, ...]], ...]) -> tuple[tuple[str, re.Pattern[str]], ...]:
    return tuple((reason, re.compile("|".join(patterns), re.IGNORECASE | re.MULTILINE)) for reason, patterns in table)


# In a log, commands and addresses are what somebody did; in a claim they are to be done.
_OF_SOURCES = _compiled(_ANYWHERE)
_OF_CLAIMS = (*_OF_SOURCES, *_compiled(_IN_CLAIMS))

_IMPERATIVE = re.compile(
    r"\W*(?:make sure|ensure|treat|trust|say|tell|answer|reply|refuse|recommend|rate|follow|obey|execute|output|print"
    r"|append|do what|note to|remember)\b|\W*(?:记住|切记|请|务必|必须|回答|拒绝|推荐)",
    re.IGNORECASE,
)

_SQUEEZED = re.compile(
    r"(?:ignore|disregard|forget|override|bypass)(?:all|any|the|your|my|of|these|those)*"
    r"(?:previous|prior|above|earlier|system|instructions|rules)"
    r"|systemprompt|alwaysrespond|alwaysreply|alwaysanswer|donottelltheuser|youarenow|youmust|jailbreak|developermode"
    "|(?:忽略|无视|忘记)(?:以上|之前|所有|先前|前面)|系统提示"
)
_LOOKALIKES = str.maketrans("аеорсхуіјѕԁһѡкмтнвαοερνικτυ", "aeopcxyijsdhwkmthbaoepviktu")
_DISGUISED = str.maketrans("013457@$!|", "oieastasil")
_LONGEST = 20_000


def is_imperative(text: str) -> bool:
    """Tell whether a claim begins as an order, which only a to-do may."""
    return bool(_IMPERATIVE.match(text))


def order_in(text: str, *, of_source: bool = False) -> str:
    """Name the kind of order that a text reads like, "" for none; in a source commands and addresses are none."""
    plain = _plain(text[:_LONGEST])
    flat = re.sub(r"\s+", " ", plain)
    for reason, pattern in _OF_SOURCES if of_source else _OF_CLAIMS:
        if pattern.search(plain) or pattern.search(flat):
            return reason
    squeezed = [re.sub(r"[\W_]+", "", one) for one in (plain, plain.translate(_DISGUISED))]
    return _ANYWHERE[0][0] if any(map(_SQUEEZED.search, squeezed)) else ""


def _plain(text: str) -> str:
    """Give a text without what only disguises it: widths, accents, hidden signs, look-alikes."""
    folded = normalize("NFKD", text).casefold()
    kept = "".join(char for char in folded if category(char) not in ("Mn", "Cf", "Co"))
    return normalize("NFC", kept).translate(_LOOKALIKES)
