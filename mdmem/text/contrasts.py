"""Words that exclude each other: opposites, kinds of one thing, degrees. Tables alone, English and Chinese.

Each group is a line of sides parted by `|`, each side words for the same. Two texts of which one has a word of one side
and the other a word of another side do not say the same, however alike they are.
"""

from __future__ import annotations

GROUPS = """
like love enjoy prefer adore fond favourite favorite 喜欢 喜爱 热爱 爱 偏爱 爱好 | dislike hate detest loathe \
  avoid dread 讨厌 厌恶 反感 恨
on | off
enable activate 启用 开启 打开 | disable deactivate 禁用 停用 关闭 关掉
open 打开 开放 | close shut 关闭 关上
start begin began begun launch resume 开始 启动 | stop end finish quit pause cancel halt 停止 结束 停 取消 暂停
increase raise rise rose risen grow grew grown gain up more higher 增加 提高 上升 上涨 增长 涨 更多 | \
  decrease reduce lower drop fall fell shrink lose lost down less fewer cut 减少 降低 下降 下跌 减 跌 更少
add 添加 加入 | remove delete drop 删除 移除 去掉
buy bought purchase 买 购买 | sell sold 卖 出售
lend lent 借给 | borrow 借来 借入
accept approve agree 接受 同意 批准 赞成 | reject refuse decline deny 拒绝 反对 否决
allow permit 允许 准许 | forbid forbidden forbade prohibit ban 禁止 不准
always 总是 一直 每次 | never 从不 从未 从来不 | sometimes 有时 偶尔 | rarely seldom hardly 很少 难得 | often \
  usually 经常 常常 通常
all every everyone everything 全部 所有 都 | none nobody nothing | some few several 一些 几个 有些 | most \
  大多数 大部分
before 之前 以前 前 | after 之后 以后 后 | during while 期间
until till | since | by
early earlier 早 提前 | late later 晚 迟 推迟
first 第一 首先 | last 最后 | next 下一 下个 下周 下月 下次 | previous 上一 上个 上周 上月 上次 | this 这个 \
  本周 本月
with 带 | without 不带
can able 能 会 可以 | cannot unable 不能 不会 不可以
must have-to required 必须 得 | may optional 可选 可以
win won 赢 胜 | lose lost 输 败
pass passed succeed success 通过 成功 | fail failed failure 失败 不及格
true correct right 对 正确 | false wrong incorrect 错 错误
safe 安全 | dangerous unsafe 危险
good great better best 好 更好 | bad poor worse worst 坏 差 更差 糟
hot warm 热 | cold iced cool 冷 冰 凉
big large 大 | small little 小 | medium 中等 中杯
long 长 | short 短
high 高 | low 低
fast quick 快 | slow 慢
new 新 | old 旧 老
young 年轻 | elderly
full 满 全 | half 半 | empty 空
rich | poor
easy simple 容易 简单 | hard difficult 难 困难
public 公开 | private 私人 保密
inside indoor in 里 室内 | outside outdoor out 外 室外
left 左 | right 右
north 北 | south 南 | east 东 | west 西
top 顶 上面 | bottom 底 下面 | middle 中间
black 黑 | white 白 | red 红 | green 绿 | blue 蓝 | yellow 黄 | pink 粉 | purple 紫 | brown 棕 | grey gray 灰 \
  | orange 橙
breakfast 早餐 早饭 | lunch 午餐 午饭 | dinner supper 晚餐 晚饭
morning 早上 上午 早晨 清晨 | noon 中午 | afternoon 下午 | evening 傍晚 | night tonight midnight 晚上 夜里 \
  深夜 半夜
today 今天 今日 | yesterday 昨天 | tomorrow 明天 | 后天 | 前天
monday mon 周一 星期一 礼拜一 | tuesday tue 周二 星期二 礼拜二 | wednesday wed 周三 星期三 礼拜三 | thursday \
  thu 周四 星期四 礼拜四 | friday fri 周五 星期五 礼拜五 | saturday sat 周六 星期六 礼拜六 | sunday 周日 周天 \
  星期日 星期天 礼拜天
weekday 工作日 | weekend 周末
january jan 一月 | february feb 二月 | march 三月 | april apr 四月 | may 五月 | june jun 六月 | july jul 七月 \
  | august aug 八月 | september sep sept 九月 | october oct 十月 | november nov 十一月 | december dec 十二月
spring 春 | summer 夏 | autumn fall 秋 | winter 冬
daily everyday 每天 每日 | weekly 每周 | monthly 每月 | yearly annually 每年 | hourly 每小时
hour 小时 钟头 | minute 分钟 | second 秒 | day 天 日 | week 周 星期 | month 月 | year 年
kg kilo kilogram 公斤 千克 | gram g 克 | mg milligram 毫克 | pound lb 磅 | jin 斤 | ton tonne 吨
km kilometre kilometer 公里 千米 | metre meter m 米 | cm centimetre centimeter 厘米 | mm 毫米 | mile 英里 | \
  foot feet ft 英尺 | inch 英寸 | li 里
litre liter l 升 | ml millilitre 毫升 | cup 杯 | gallon
gb gigabyte | mb megabyte | kb kilobyte | tb terabyte
euro eur 欧元 | dollar usd 美元 | pound gbp 英镑 | yuan rmb cny 元 块 人民币 | yen jpy 日元
celsius 摄氏 | fahrenheit 华氏
male man boy he his him 男 他 | female woman girl she her 女 她 | they their 他们
husband 丈夫 老公 | wife 妻子 老婆 太太
mother mum mom mama 妈妈 母亲 妈 | father dad papa 爸爸 父亲 爸 | sister 姐姐 妹妹 姐 妹 | brother 哥哥 弟弟 \
  哥 弟 | grandmother grandma 奶奶 外婆 姥姥 | grandfather grandpa 爷爷 外公 姥爷 | son 儿子 | daughter 女儿 | \
  uncle 叔叔 舅舅 | aunt 阿姨 姑姑 | cousin 表哥 表弟 堂兄
姐姐 姐 | 妹妹 妹
哥哥 哥 | 弟弟 弟
奶奶 | 外婆 姥姥
i me my mine 我 | you your 你 您 | we us our 我们
boss manager 老板 经理 | colleague 同事 | customer client 客户
coffee 咖啡 | tea 茶
cat 猫 | dog 狗
beef 牛肉 | pork 猪肉 | chicken 鸡肉 | fish 鱼 | lamb 羊肉
done finished completed bought paid sent 完成 已完成 做完 已 | todo pending planned will going-to 待办 计划 \
  打算 将 要
maybe perhaps possibly might 可能 也许 或许 | certainly definitely surely 一定 肯定
decide choose chose chosen 决定 选定 | considering undecided 考虑 犹豫
development staging test 测试 开发 | production live 生产 线上
read 读 | write wrote written 写
upload 上传 | download 下载
import 导入 | export 导出
send sent 发送 寄 | receive received 收到
arrive arrival 到达 | depart departure leave left 离开 出发
married 已婚 结婚 | single divorced 单身 离婚
alive | dead died 去世
vegan 纯素 | vegetarian 素食
allergic allergy 过敏 | immune
same 相同 一样 | different 不同
"""

NEGATIONS = (
    *("not", "no", "never", "none", "nor", "neither", "nobody", "nothing", "nowhere", "without", "cannot", "hardly"),
    *("rarely", "seldom", "only", "stopped", "stop", "quit", "except", "unless", "instead"),
    *("former", "formerly", "used-to"),
)
"""English words that turn a sentence round, besides `n't`."""

NEGATION_SIGNS = ("不", "没", "无", "非", "别", "未", "勿", "莫", "否", "除了", "除非", "只有", "仅", "以前", "曾经")
"""The same in Chinese."""

HARMLESS = (
    "不过",
    "不仅",
    "不但",
    "不只",
    "差不多",
    "不管",
    "不论",
    "无论",
    "非常",
    "特别",
    "分别",
    "别人",
    "无糖",
    "从不",
)
"""What holds one of those signs and turns nothing round by it, or is told apart above."""

DIRECTED = (
    *("over", "than", "from", "before", "after", "gave", "gives", "instead", "rather", "owes", "beats", "until"),
    *("比", "给", "从", "向", "把", "被", "让", "替", "欠", "胜过", "而不是", "借", "教"),
)
"""Words of which it matters what stands before them and what behind."""

IDLE = """
a an the this that these those there here it its he she him they them we us our you your i me my mine his her their user
users and but or so then when while since because if as for in on at by of to into with about is are was were be been
being am do does did has have had will would shall should can could may might must also just very really quite too
please remember note get got take took place make made who which what where how one any each own other such
"""
"""English words that another text may have in place of others, or may lack."""

IDLE_SIGNS = frozenset("的了是一名个位在正着吧啊呀和与及也就都很有把对于这那之其被所得地们要以来去呢")
"""The same in Chinese, sign by sign."""

ALIKE = """
movie film picture cinema
sci-fi science-fiction
kilometre kilometer km
kilogram kilogramme kg
mum mom mother mama
dad father papa
phone telephone mobile
job work
reside live dwell
talk speak chat
repair fix
organise organize arrange
colour color
meeting appointment
laptop notebook
电影 影片
手机 电话
居住 住
购买 买 购
"""
"""Words for the same thing, a line each; besides them, those of one side above."""

_COUNTED = (
    *("two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve", "thirteen"),
    *("fourteen", "fifteen", "sixteen", "seventeen", "eighteen", "nineteen", "twenty"),
)

NUMBERS = {
    **dict(zip(_COUNTED, map(str, range(2, 21)), strict=True)),
    **{"zero": "0", "thirty": "30", "forty": "40", "fifty": "50", "sixty": "60", "seventy": "70", "eighty": "80"},
    **{"ninety": "90", "hundred": "100", "thousand": "1000", "million": "1000000", "once": "1x", "twice": "2x"},
    **{"thrice": "3x", "half": "1/2", "quarter": "1/4", "dozen": "12", "double": "2x", "triple": "3x", "both": "2"},
}
HAN_NUMBERS = dict(zip("〇零二两三四五六七八九十百千万亿半", "00223456789十百千万亿半", strict=True))
"""Numbers as words. One is left out: it is an article as well."""
