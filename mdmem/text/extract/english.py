"""How English says what is worth remembering: likings, decisions, to-dos; what is so of people and things is in
`english_facts`.

Owns the words; whether a sentence is a statement at all is for `noise`, what raises and lowers confidence for
`salience`. A rule is bounded, and meets sentences of a few hundred characters.
"""

from __future__ import annotations

from functools import cache

from mdmem.model import ClaimKind
from mdmem.text.extract import english_facts
from mdmem.text.extract.phrases import Rule, best, compiled


def found(hidden: str) -> dict[ClaimKind, float]:
    """Return how surely a sentence without its quotations tells each kind of claim; kinds it does not are left out."""
    return best(_rules(), hidden)


@cache
def _rules() -> tuple[Rule, ...]:
    return compiled(
        _WORDS, {"preference": _PREFERENCES, "decision": _DECISIONS, "todo": _TODOS, "fact": english_facts.FACTS}
    )


_WORDS = r"""
C       (?:^|[,;:–—] |\b(?:and|but|because|since|so|though|although|that|as) )
J       (?:{C}|^(?:for|in|on|at|after|before|when|if|as|with|turns out|these days|nowadays|lately|recently|during
        |while|although|because|usually|personally)\b[^,;.]{0,40} )
ADV     (?:(?:really|absolutely|still|also|truly|just|generally|much|definitely|always|usually|mostly|totally|do
        |particularly|especially|strongly|actually|both|all|quite|rather|too|simply|genuinely|honestly|have|'ve|often
        |never) )
I       (?:I|we)
NOT     (?:do not|don't|does not|doesn't|did not|didn't)
N       (?-i:(?!(?:I|The|A|An|This|That|These|Those|It|We|He|She|They|There|Here|What|My|Our|Your|His|Her|If|When|And
        |But|So|No|Not|Yes|Just|Only|For|From|In|On|At|By|To|With|As|Who|How|Why|One|Two|Some|Any|All|Every|Each|Maybe
        |Please|Never|Always|Today|Tomorrow|Yesterday|Then|Now|Still|Also|Next|Last|After|Before|Because|Since|While
        |Until|Nobody|Somebody|Someone|Everyone|Everybody|Nothing|Something|Lunch|Dinner|Breakfast|You|Love|Don|Its
        |Being|Having|Family|Life|Support|Nature|Music|Self|Looks?|Can|Been|Got|Gonna|Let|Like|Even|Such|Good|Great
        |New|Old|More|Most|Many|Much|Other|Another|Both|Hard|Sports?|Pets|People|Friends|Kids|Games?|Books|Music|Art
        |Work|School|Time|Home|Food|Health|Money|Dance|Dancing|Here’s)\b|[A-Z]\w+(?:ing|ed)\b|(?:Three|Four|Five|Takes
        |Kick-off|Kickoff|Sounds)\b)[A-Z][\w’'-]*[\w](?<!'s)(?: (?:de|van|von|der|di|la|le|al|el|and|Mr\.|Mrs\.
        |Dr\.)(?= [A-Z])| [A-Z][\w’-]+| &){0,3}|(?:Mr|Mrs|Ms|Dr|Prof)\. [A-Z][\w’'-]+)
KIN     (?:mother|father|mum|mom|mam|dad|papa|parents?|sister|brother|siblings?|twin|son|daughter|kids?|children|child
        |baby|wife|husband|partner|fianc[eé]e?|girlfriend|boyfriend|spouse|grand(?:ma|pa|mother|father|dad|son
        |daughter|parents?)|gran|granny|nan|aunt(?:ie)?|uncle|cousins?|nephew|niece|(?:mother|father|sister|brother
        |son|daughter)-in-law|in-laws|stepson|stepdaughter|godson|goddaughter|friends?|best friend|roommate|flatmate
        |housemate|neighbou?rs?|boss|manager|colleague|coworker|co-worker|mentor|adviser|advisor|supervisor|landlord
        |landlady|doctor|dentist|GP|therapist|physio|vet|teacher|tutor|coach|trainer|professor|student|intern|client
        |accountant|lawyer|nanny|dogs?|cats?|puppy|kitten|rabbit|hamster|parrot|horse|pets?|ex|team ?lead|family|team
        |cofounder|co-founder)
KINNAME (?-i:Mum|Mom|Dad|Mama|Papa|Grandma|Grandpa|Granddad|Grandad|Granny|Nana|Auntie|Uncle
        |Aunt)(?: (?-i:[A-Z][\w-]+))?
WHO     (?:{N}['’]s (?:[\w-]+ )?{KIN}(?: {N})?|(?:my|our|his|her) (?:[\w’'-]+ ){0,2}{KIN}(?: (?:from|at
        |in) \w+(?: \w+)?)?(?:,? {N},?)?|the (?:dogs?|cats?|kids|children|baby|puppy|kitten|landlord|landlady|vet
        |neighbou?rs?|twins)|{KINNAME}|{N}(?:,? (?:my|our) (?:[\w-]+ ){0,2}{KIN},| \([^)]{2,30}\))?)
WITH    (?: (?:also|still|now|really|just|always|usually|actually|both|currently|recently|only|finally|already|all
        |absolutely|either|never|no longer))?
DAY     (?:(?:mon|tues|wednes|thurs|fri|satur|sun)days?|(?:jan|feb|mar|apr|may|june?|july?|aug|sept?|oct|nov
        |dec)[a-z]*\.? \d|\d{1,2}(?:st|nd|rd|th)? (?:of )?(?:jan|feb|mar|apr|may|june?|july?|aug|sept?|oct|nov|dec)
        |\d{4}-\d\d-\d\d|\d{1,2}(?::\d\d)? ?[ap]\.?m|\d{1,2}:\d\d|noon|midnight|tomorrow|next (?:week|month|year
        |spring|summer|autumn|fall|winter|mon|tues|wednes|thurs|fri|satur|sun)|the \d{1,2}(?:st|nd|rd|th))
LIKE    (?:like|love|enjoy|prefer|hate|dislike|loathe|detest|adore|favou?r|despise|can't stand|cannot stand|can't bear
        |can't handle|can't tolerate|am fond of|fancy|cherish|avoid|swear by|live for)
LIKES   (?:likes|loves|enjoys|prefers|hates|dislikes|loathes|detests|adores|favou?rs|can't stand|cannot stand|avoids
        |despises|appreciates)
VAGUE   (?:it|this|that|these|those|them|him|her|you|u|how|when|what|where|the way|the idea|to (?:see|think|hear|know
        |say)|your|one|ones|to be|being (?:here|there|able)|talking to you|seeing you|everyone|everything|reading your
        |hearing)\b
DO      (?!(?:admit|say|be|think|sleep|relax|stop|know|laugh|agree|feel|breathe|confess|believe|wonder|rest|stay|wait
        |worry|focus|remember|keep|find (?:out|my|time|peace|a way)|learn|understand|accept|live|work hard|go now
        |go to bed|run now|get used|get better|get some|see|try|hear|look|catch up|take care|take a|take some|have
        |hang|chill|enjoy|make sure|do (?:it|this|that|some)|come up|figure)\b)[a-z]+
ACT     (?!(?:check|find) (?:out|this|it)\b|(?:talk|speak|write|show|help|get|meet|text|call) (?:to )?(?:you|ya|me
        |each|us|up)\b|(?:give|tell|bring|ask|send|reply) (?:to )?(?:you|ya|me|each|us)[.! ]*(?:$
        |(?:a |more |all )?(?:about|that|when|if|how|update|shout|heads)\b)|(?:make|take|get|have|give) (?:it|sure
        |a (?:look|break|difference)|some|this|my|the most|care|time)\b|keep\b)(?:send|email|mail|call|ring|phone|text
        |write|reply|answer|ask|tell|book|order|buy|get|pick up|collect|return|bring|take|drop|drop off|pay|renew
        |cancel|schedule|reschedule|submit|hand in|file|sign|print|scan|prepare|finish|review|check|fix|update|upgrade
        |rotate|migrate|deploy|release|test|merge|move|clean|wash|repair|replace|install|set up|register|apply|invite
        |plan|organi[sz]e|contact|confirm|remind|water|feed|back up|draft|publish|upload|download|transfer|deliver
        |ship|post|visit|meet|arrange|find|look up|research|measure|assemble|pack|vaccinate|enrol|sew|bake|make|add
        |remove|delete|document|refactor|investigate|follow up|talk to|speak to|give|lend|show|help|practi[sc]e|study
        |learn|close|open|rename|record)
NOUN    (?:email|mail|call|ring|phone|text|reply|answer|book|order|drop|pay|schedule|file|sign|print|scan|review|check
        |fix|update|upgrade|release|test|merge|move|wash|repair|replace|register|plan|contact|water|feed|draft|upload
        |download|transfer|ship|post|visit|research|measure|pack|document|practi[sc]e|record|talk|look|follow)
RAN     (?!(?!bring|sing|need|feed|swing|cling|speed|breed|exceed)\w+(?:ed|ing)\b)(?!(?:said|thought|knew|had|was|were
        |did|got|made|felt|saw|went|came|been|heard|seen|wonder|will|would|found|told|gave|took|kept|a|the|in|on|been
        |forget|remember|want|wanted|say|think|know|believe|feel|wonder|dream|be|have been|get (?:so|this|that|to)
        |mind|worry)\b)[a-z]+
"""

_PREFERENCES = r"""
0.80 {J}{I} {ADV}{0,2}{LIKE} (?!{VAGUE})(?!to[.!,]|(?:all |both )?(?:the|our|my|seeing|having you)\b)[\w\ue000]+
0.76 {J}I (?:really |absolutely |also )?(?:hate|love|like|dislike|enjoy|can't stand|prefer) (?:it )?when[ ](?!you\b
     |I\b)\w+ \w+
0.74 {C}I used to (?:like|love|hate|enjoy|drink|eat|prefer|avoid|use) .{2,60}\b(?:now|but|any ?more|these days)\b
0.74 {C}{I} {ADV}{0,2}(?:prefer|hate|dislike|can't stand|cannot stand|loathe) (?:the|my) \w+ \w+
0.62 {C}{I} {ADV}{0,2}{LIKE} (?:all )?(?:the|our|my) \w+ \w+
0.80 {J}I {NOT} {ADV}{0,2}(?:like|enjoy|love|care for|eat|drink|use|watch|wear|smoke|drive|fly|tolerate|trust
     |appreciate) (?!{VAGUE})\w+
0.75 {C}I {NOT} (?:want|need) (?:any|anyone|people|calls|emails|reminders|notifications|to be (?:called|asked
     |contacted|disturbed|woken))\b
0.70 {C}I (?:don't|do not) (?!(?:think|know|believe|want|have|get|see|feel|understand|mean|remember|recall|care|need
     |mind|even|really|expect|blame|agree|deserve|wonder|suppose|regret|plan|hear|look|wish|dare|doubt|recogni[sz]e
     |notice|say|do|just|quite|yet|usually|ever|seem|envy|miss|worry|give|go)\b){RAN} \w+
0.72 {J}(?<!for now )I (?:write|keep|sleep|eat|drink|wear|use|read|listen|cook|bake|shop|park|walk|run|cycle|bike|swim
     |pay|save|charge|lock|store|track|log|answer|check|wake|get up|go to bed|turn off|travel|pack|carry|buy|order
     |train|stretch|meditate|pray|journal|watch|iron|commute|can only (?:work|sleep|concentrate|focus|eat|think|write)
     |need (?:at least|my|complete|total|silence|quiet|coffee)) (?!(?:it|this|that|you|him|her|them|the (?:note|log)
     |\w+ing)\b)\w+(?: [\w'-]+){2,}
0.74 ^please,? no \w+|^not (?:a (?:big |huge )?fan of|into) (?!{VAGUE})\w+|^(?:i'd take|prefer
     |i prefer) (?!{VAGUE}).{2,40} (?:to|over) \w+|^[\w' ]{3,40} over [\w' ]{3,30},? (?:any|every) (?:day|time)\b
0.74 ^when(?:ever)? I(?:'m| am|'ve| \w+) .{2,40}?,? I (?!was|had|went|\w+ed\b)[a-z]+ \w+|{J}I (?:can't
     |cannot) (?:sleep|work|eat|drink|concentrate|focus|think|write|study|relax|function) (?:with|when|without|in|on
     |after|if|unless|anything|dairy|gluten|\w+ food)\b|{J}I(?:'ve| have) (?:never|always) (?:liked|loved|hated
     |enjoyed|preferred|been (?:into|fond of|good with)|understood|wanted|trusted|cared for) (?!{VAGUE})\w+|\bis (?:my
     |a) (?:weakness|thing|jam|guilty pleasure|comfort food|happy place|pet peeve|dealbreaker)\b
     |^[A-Z][\w '-]{2,25}, (?:not|never) [\w '-]{3,25}[.!]?$|\bno exceptions[.!]*$
0.80 ^my (?:perfect|ideal|usual|typical|normal) (?:[\w'-]+ ){1,4}(?:is|are|includes|means)\b|{J}I(?:'m| am) (?:trying
     |learning) to (?:eat|drink|use|spend|buy|smoke|watch|sleep) (?:less|more|fewer|no)\b|{J}I (?:won't|will not
     |refuse to) \w+ .{2,40}\b(?:while|before|after|on (?:sun|satur|fri|week)\w+|without|unless)\b
0.75 {C}I find (?!it\b).{2,40} (?:exhausting|annoying|distracting|stressful|boring|relaxing|calming|helpful|difficult
     |easier|uncomfortable|soothing|unbearable|tiring|motivating|useless|confusing)\b
0.75 {C}{I} (?:no longer|never|rarely|seldom|hardly ever|barely) {RAN}
0.75 {C}{I} (?:always|usually|normally|generally|typically|mostly|tend to|prefer to|like to|only ever|only) {RAN}
0.65 {C}I (?:often|sometimes|regularly) {RAN} \w+
0.80 {C}I (?:take|drink|have|eat|like|want|need) my \w+ (?:with|without|black|hot|cold|iced|strong|weak|plain|sweet
     |rare|medium|well|unsweetened|straight)
0.70 {C}I {RAN} (?:[\w'-]+ ){0,7}(?:every (?:day|morning|evening|night|week|weekend|\w+day)|each (?:morning|evening
     |day|week)|(?:on )?\w+days\b|(?:before|after) (?:breakfast|lunch|dinner|work|bed|school)|most days
     |in the (?:mornings?|evenings?)|at least|once a week|twice a week|\w+ times a week)
0.75 {C}(?:I'm|I am|we're|we are) (?:not )?(?:really |also |such |more of |very |so |still )*(?:an? )?(?:(?:big|huge
     |great|massive|lifelong|total|strict|avid|firm|real|true|bit of an?) )*(?:fan of|vegetarian|vegan|pescatarian
     |teetotal|morning person|night owl|early (?:bird|riser)|obsessed with|passionate about|addicted to|fond of
     |keen on|picky (?:about|eater)|partial to|(?!new|different|changed|better|good|bad|nice|happy|busy
     |kind)\w+ (?:person|lover|drinker|addict|eater|nerd|enthusiast)|allergic to (?:meetings|small talk)
     |into(?! (?:the|a|this|that)\b)|a sucker for|crazy about|interested in|drawn to) (?!{VAGUE})
0.80 ^(?:(?:my|our|(?:the )?user'?s?'?s) )?(?:all-time |absolute |personal |current )?(?:favou?rite|fave|go-to
     |preferred)s? (?!part|thing about)[\w'-]+(?: [\w'-]+){0,4} ?(?:(?:is|are|was|were|has to be|remains?)(?! when)|:
     |：|=)
0.65 \b(?:is|are) (?:still |by far |probably )?(?:my|one of my) (?:all-time |absolute )?(?:favou?rites?|go-to
     |comfort (?:food|film|read))\b
0.75 {C}I (?:work|sleep|focus|think|concentrate|write|learn|study|function|run|code) (?:much |so much |far )?(?:best
     |better|worst|worse) \w+
0.75 {C}(?:I'd|I would|we'd|we would) (?:much |far |always )*(?:rather|sooner
     |prefer) (?!{VAGUE})\w+(?: [\w'-]+)+ (?:than|over|to|instead|rather)\b
0.75 ^(?:please )?(?:always|never) (?!mind|again\b|ever again|a |an |the |been|seen|had|thought|heard|felt|in my|knew
     |going|too|gonna)[a-z]+ \w+
0.70 ^(?:please,? )?(?:do not|don't) (?:ever |use|call|text|ring|add|put|write|send me|schedule|book me|give me
     |include|suggest|recommend|mention|wake|translate|explain|summari[sz]e)\b
0.75 ^please (?:use|keep|reply|answer|respond|write|call me|address|speak|avoid|format|be (?:brief|concise|direct)
     |stick|only|stop|give me|prefer|include|show|skip|leave out|limit|start)\b
0.75 ^(?:call|address) me (?!when|if|at|on|later|back|crazy|maybe|tomorrow|tonight|before|after|asap)\w+
0.75 ^(?:reply|answer|respond|speak|write)(?: to me)? (?:in|with) \w+
0.65 ^(?:use|prefer|keep|stick (?:to|with)) .{2,60}\b(?:not|instead of|rather than|over|never|no)\b \w+
0.70 ^no (?:more )?[\w' -]{3,40} (?:for me|please|at the table|in my (?:room|food|coffee|code|calendar)|before \w+
     |after \w+|on (?:week|sun|satur|fri)\w+)\b
0.65 ^never again\b.{6,}|.{6,}\bnever again\b[.!]*$
0.65 \b(?:is|are) (?:just |really )?not (?:for me|my thing|my cup of tea)\b|\bmakes? me (?:sick|nauseous|anxious|itch
     |dizzy)\b
0.75 {C}I(?:'ve| have)? (?:finally |recently |just )?(?:stopped|quit|given up|gave up|cut out|sworn off
     |gone off) (?!by|at|in|and|to|it\b|there|my job|the job|on )\w+
0.65 {C}(?:can't|cannot) (?:stand|bear|handle|do without|live without|tolerate) (?!{VAGUE})\w+|^(?:love|loves|hate
     |prefer|like|dislike|enjoy|loving) (?!{VAGUE})\w+ \w+
0.80 ^(?:the |our )?user(?: (?:strongly|really|also|generally|usually|always|clearly|much|absolutely|still|again|now
     |never|no longer|explicitly))* (?:{LIKES}|wants? (?!to (?:know|fix|see|build|write|create|rebase|find|learn
     |understand|add|go|make|get|buy|try|change|delete|remove|move|merge)\b|help|me to|an? )|wishes|insists|values
     |cares about|finds? .{2,60} (?:annoying|distracting|helpful|useful)|would (?:rather|like (?:replies|answers
     |code))|drinks|eats|takes (?:his|her|their|coffee|tea)|reads|uses|is (?:an? )?(?:vegetarian|vegan|fan|annoyed
     |night owl|morning)|(?:does not|doesn't|do not|never|no longer) (?:like|want|eat|drink|use|care|enjoy|need|read
     |watch|wear))
0.75 ^(?:the |our )?user (?:explicitly |again |also )*(?:asked|asks|requested|requests|told me|instructed|said|says
     |mentioned|confirmed|noted) (?:me )?(?:to (?:always|never|use|keep|avoid|reply|answer|write|call (?:him|her|them)
     |stop|be|format|stick|respond)|not to|never to|always to|(?:that )?(?:he|she|they)(?:'d
     | would)? (?:really |only |no longer |much )*(?:prefers?|likes?|loves?|hates?|dislikes?|wants? (?!to know)|rather
     |doesn't like|do not like|don't like|never|always|can't stand))
0.80 ^(?:from (?:now on|today(?: on(?:wards?)?)?|this \w+ on|tomorrow on|here on)|starting (?:today|now|tomorrow
     |this \w+|next \w+)|as of (?:today|now)|henceforth|going forward|for the future),? (?!we\b|the |our )\w+
0.65 ^[\w' ]{3,40} (?:over|before|beats) [\w' ]{3,40}(?:,| -| –|,? (?:any|every) (?:day|time)| always| for me)
0.74 {J}I (?:really |just |still )?(?:love|like|hate|enjoy|dislike) (?:the|my) \w+ (?:of|in|before|after|on) (?!the\b
     |this\b|that\b|you)\w+
0.80 ^(?:the )?user .{2,60}\b(?:refuses to|insists on|would (?:rather|prefer|like)|won't)\b \w+
0.76 ^\w+s are for \w+ing\b|\bis an? (?:no|no-go|must|dealbreaker|hard pass)\b.{0,10}for me\b|^[\w' ]{3,20}, (?:always
     |every time)[.!]*$
0.76 ^my (?:rule|policy|principle|motto|limit|routine|habit)(?: of thumb)?(?:\s?:| is)
0.72 ^for me: \w+
# of the user, who goes without saying
0.80 ^(?:(?:really|strongly|also|still|much|generally|usually|always|now|no longer) )?(?:prefers|hates|dislikes|loathes
     |detests|enjoys|avoids|appreciates|can't stand|(?:likes|loves)(?! (?:are|were|on|for|per|from|and)\b)
     |favou?rs(?! (?:to|for|and|from|are)\b)|(?:does not|doesn't) (?:like|want|eat|drink|enjoy
     |smoke)|insists on) (?!{VAGUE})[\w\ue000]+
0.78 ^(?:(?:also|still|always|now|only) )?wants (?!(?:to|the|it|this|that|me|us|him|her|them|an? (?:refund|fix|quote
     |call|meeting|word|list))\b)[\w\ue000]+ \w+
0.76 ^(?:drinks|eats|takes) (?:(?:his|her|their|only|no|mostly|black|green|hot|iced|decaf|oat) )+\w+|^never (?:eats
     |drinks|wears|uses|watches|reads|takes) \w+
0.76 {C}I (?:like|prefer|take|drink|eat|want) my \w+ \w+(?:[.,!]|$| and | with )
"""

_DECISIONS = r"""
0.82 (?:{C}|(?<!when )(?<!if )(?<!what )(?<!which )(?<!where )(?<!until )(?<!before )\b(?=(?:I|we)\b))(?:I|we|they
     |(?:the |our )?(?:team|board|committee|group|family|lab|company|council|club|management)
     |(?:my |our )?{KIN}(?: and I)?|{N}(?: and (?:I|{N}))?)(?:'ve| have| has|'d| had)?(?: (?:all|both|finally|also|now
     |just|already|jointly|unanimously|then|together|today|eventually|officially|definitely))* (?:decided|agreed|opted
     |settled on|resolved|voted|committed to|ruled out|landed on|signed off on|made up (?:my
     |our) minds?)\b:? (?!it was|yes|nothing|anything|with (?:you|him|her|that)|you)
0.78 (?:{C}|(?<!when )(?<!if )(?<!what )(?<!which )(?<!before )\b(?=we ))(?:I|we)(?:'ve| have)?(?: (?:all|both|finally
     |also|now|just|already|eventually))* (?:chose|chosen|picked|selected) (?!up\b|(?:him|her|them|it|you
     |the kids)\b)\w+
0.82 ^(?:finally |it's |so |ok,? |okay,? )?(?:decided|agreed|opted|settled)\b(?: (?:on|to|against|for|that|not|with
     |upon))?:? \w+|^cancell?ed (?:my|our|the) .{0,30}(?:membership|subscription|contract|lease|plan|policy|account
     |insurance)\b
0.75 ^(?:finally )?(?:chose|picked|selected|choosing|picking) (?!up\b|(?:him|her|them|it|you)\b)[\w'-]+[ ]
0.80 \b(?:we|i)(?:'re| are|'m| am|'ll| will| shall)(?: (?:now|definitely|finally|just))* (?:going|go|sticking|stick
     |staying|stay) with (?!(?:my|our|him|her|them|you|{N} to)\b)\w+|^let's (?:go|stick|stay) with\b|{C}(?:we|I)(?:'ll
     | will|'re going to| are going to) (?:use|keep|standardi[sz]e|ship|build|host|run|buy|rent
     |hire) .{2,60}(?:, not\b|\binstead\b|\brather than\b|\bfor now on\b|\bfrom now on\b)|{C}(?:we|I)(?:'ll| will
     |'re going to| are going to) \w+ .{2,50} instead(?: of)?\b|{C}(?:we're|we are|I'm|I am) (?:keeping|dropping
     |skipping|postponing|delaying|ditching|cancell?ing|going (?:freelance|part-time|full-time|solo|vegan|vegetarian
     |dairy-free)|closing|selling|leaving (?:the|my)) (?!(?:it|this|that|an eye|up|track|busy|in touch)\b)[\w-]+
     |^(?:the |our )?(?:\w+ )?(?:board|committee|boss|management|council|landlord|school|bank|editor|band|choir|class
     |parents|owners?) (?:has |have )?(?:approved|rejected|agreed|decided|signed off|voted|accepted|declined)\b
     |^(?:we |i )?signed (?:the|a|our|my) (?:[\w-]+ )?(?:lease|contract|papers|deal|offer|agreement)\b|{C}(?:we
     |I)(?:'re| are|'m| am) not \w+ing .{2,50}(?:this|next) (?:year|season|term|summer|winter|quarter)\b|{C}(?:we
     |I)(?:'re| are|'m| am|'ll| will)? ?not \w+ .{2,50}any ?more\b|{C}(?:I|we)(?:'ve| have)?(?: (?:just|finally
     |now))? (?:accepted|declined|turned down|rejected|took) (?:the|an?|their|his|her) (?:\w+ )?(?:offer|job|position
     |invitation|proposal|deal|role)\b|^(?:the|our) (?:[\w-]+ ){1,3}(?:has |have )?(?:decided|agreed|voted
     |opted) (?:to|on|against|that|not|for|in)\b|^let's (?:use|adopt|drop|skip|move|switch|postpone|cancel
     |standardi[sz]e|name) (?!(?:it|this|that|on|the subject)\b)\w+ \w+|, (?:that's|it's|this is) (?:settled|decided
     |final)[.!]*$|^(?:switched|migrated|changed) (?:everything|the|our|my|all) .{2,40} (?:over )?to \w+
     |^final (?:call|decision|choice|word)\s?:|^no .{3,40} (?:for|in|on) (?:this|our|the) (?:project|repo|release|team
     |sprint|house|trip)\b|^(?:it's|it is|that's|that is) (?:now )?(?:decided|settled|official)\b[,:.]? \w+|^(?:going
     |sticking|staying|went) with (?!(?:my|our|him|her|them|you)\b)\w+(?! to)
0.78 {C}(?:I|we|(?:the |our )?(?:team|company|lab|school|office|group))(?:'ve| have| has|'re| are|'m| am|'ll
     | will)?(?: (?:now|finally|just|also|all|officially|fully))* (?:switch(?:ed|ing)?|migrat(?:e|ed|ing)|chang(?:ed
     |ing)|convert(?:ed|ing)|moving(?= (?:all|our|every|the))) (?:everything |over |completely |(?:the|our|my|all
     |every) [\w -]{2,30} |all |back )*(?:from .{2,40} )?(?:to|over to) \w+
0.72 \b(?:drop(?:ped|ping)?|abandon(?:ed|ing)?|retir(?:ed|ing)|replac(?:ed|ing)|ditch(?:ed|ing)?|scrapp(?:ed
     |ing)) .{2,50} (?:in favou?r of|with|for|by) \w+
0.72 ^(?:the )?(?:final )?(?:plan|choice|verdict|decision|winner) (?:is|was)(?: made| final)?\b
     |\bis (?:now )?(?:settled|decided|final)\b|\b(?:won|wins) over\b
0.70 {C}(?:we|i)(?:'re| are|'m| am) (?:no longer|not) (?:going to (?:use|do|renew|buy|take|go|support|ship|sell|move)
     |doing|using|renewing|supporting|taking|buying|shipping|moving)\b(?! (?:anything|much|well|it))|{C}(?:we
     |i) (?:won't|will not|will no longer) (?:use|renew|support|ship|buy|take|move|sell|do)\b
0.72 ^(?:from (?:now on|today on|this \w+ on)|starting (?:today|now|this \w+|next \w+)|going forward|as of (?:today
     |now)),? (?:we|the|our)\b
0.76 {C}(?:I'm|I am|we're|we are) \w+ing .{2,40} instead of\b|{C}(?:we'll|we will) \w+ .{2,50}\b(?:everywhere
     |throughout|by default|from now on)\b
0.74 ^as of \S+,? we\b|\b(?:stays|remains) (?:as (?:it|he|she) is|the same|unchanged)\b|^voted\s?:
0.74 ^from \w+ on,? we\b
"""

_TODOS = r"""
0.72 ^(?:i |we )?(?:still |really |also |just |then )*(?:need|have|have got|'ve got|ought) to {DO}|{C}(?:i
     |we)(?:'ve got| have got| need| have| ought| still need| still have| really need| also need| also have
     | just need) to {DO}|^(?:i |we )?(?:still |really |also )*(?:must|gotta) {DO}|{C}(?:i
     |we) (?:still |really |also )*(?:must|gotta) {DO}
0.60 {C}(?:i|we) (?:should|want to|plan to|intend to|am planning to|are planning to) (?:really |also )?{ACT}\b
0.78 ^(?:please )?(?:remember|don't forget|do not forget|remind me|be sure|note to self:?|must not forget
     |mustn't forget|remember|make sure):? (?:to )?(?!to\b){DO}|\b(?:i|we) (?:mustn't|must not|can't|should not
     |shouldn't) forget to\b|^note to self\b
0.82 (?:^|{C}(?:i|we)(?:'ve| have)? (?:also |just |already )?)(?:promised|owe|assured) (?!myself|you\b|to (?:love
     |laugh|be))\w+
0.72 {C}(?:i|we) (?:told .{2,30}?|said to .{2,30}?|said) (?:that )?(?:i'd|i would|we'd|we would|i'll)\b|^got to {DO}
     |^{WHO} needs? .{3,60} (?:by|before|until) {DAY}|{C}(?:i|we)(?:'ve| have)? (?:agreed|offered|volunteered
     |signed up) to (?:{ACT})\b
0.66 {C}(?:i'll|i will|we'll|we will|i'm going to|i am going to|we're going to
     |i'm gonna) (?:also |then |definitely )?(?:{ACT})\b .{4,}
0.60 ^(?:{N}|{KINNAME}|(?:my|our) (?:[\w-]+ ){0,2}{KIN})(?:'ll| will| is going to| has to| needs to| must
     | promised to) (?:{ACT})\b .{3,}
0.75 ^(?:the )?user (?:still |also )*(?:needs? to|has to|must|promised|plans to|intends to|wants to be reminded
     |asked (?:me )?to (?:be reminded|remind))\b
0.60 ^(?!(?:{NOUN}|bring|take|give|show|help|make|learn|study|close|open|cancel|find)\b)(?:{ACT})\b .{14,}
     |^(?:book|order|call|email|text|pay|sign|print|repair|replace|wash|bring|take|give|cancel|visit) (?!(?:it|you
     |care|that|this)\b).{3,}\b(?:on|by|before|until|for) (?:{DAY}|the|\w+ \w+)|^(?:{NOUN}|cancel|find) (?:(?:the|an?
     |my|our|some|back|for|with|about
     |up) .{8,}|(?-i:[A-Z]).{8,})
0.72 ^(?:still )?waiting for .{2,40} to \w+|^(?:still )?(?:to do|to-do|open|outstanding|missing): \w+
0.82 \bdue (?:on|by|back on|back by) (?:the )?{DAY}|\b(?:has|have|needs?|must) (?:to )?be [a-z]+(?:ed|en|t
     |id) .{0,40}(?:by|before|until) (?:the )?(?:end of )?{DAY}
0.74 ^(?:{N}|{WHO}) (?:asked|wants|needs|told|expects) (?:me|us) to {DO}|{C}(?:i'm|i am|we're) supposed to {DO} .{3,}
     |\bneeds? (?:replacing|fixing|cleaning|washing|repairing|renewing|updating|painting|ironing|descaling|refilling
     |a new|to be (?:replaced|fixed|renewed|cleaned|paid|repaired|returned))\b
0.72 ^(?:ask|tell|call|ring|email|text|remind|pay|thank|invite|visit|write to|reply to|return|give back|pick up
     |talk to|speak to|meet|check with|get back to|follow up with|collect) (?:the|my|our|{N}|{KINNAME}|{KIN})\b.{3,}
0.66 \bis (?:over)?due (?:on|by|back|before|next)?\b|\bwaiting for .{2,40} to (?:send|reply|answer|confirm|call)
     |\bstill (?:missing|to do|open)\b
0.82 ^(?:the |our |my )?\w+(?: \w+)? (?:wants|needs|expects|requires) .{3,50} (?:by|before) {DAY}|^can't forget:? \w+
0.74 ^(?:next week|tomorrow|this week|tonight|(?:on )?{DAY})\s?[:,] ?{ACT}\b.{3,}
0.72 ^(?:buy|book|renew|pay|pick up|drop off|water|mail|collect|order) (?:an?|some|new|more|the|my|our) .{4,}
0.82 ^(?-i:TODO|FIXME|To-do)\b[ :-]+\w+ \w+
0.74 ^{WHO} needs? .{3,50} before \w+
"""
