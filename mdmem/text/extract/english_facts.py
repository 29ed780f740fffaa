"""How English says what is so: of people, of oneself, of projects and things. The words in braces are `english`'s.

Owns one table of rules. What is common to many things weighs less than what is said of people: it takes a number, a
name or a day to be sure of it.
"""

FACTS = r"""
# facts about people
0.78 {C}(?:{WHO}|I|we)(?:'s|'m| is| are| am| has been)?{WITH} (?:allergic to|intolerant to|lactose|coeliac|celiac
     |diabetic|asthmatic|colou?r-?blind|left-handed|deaf|dyslexic|pregnant|engaged|married|divorced|widowed|retired
     |a widow|vegetarian|vegan|on parental leave|on maternity leave|on sabbatical)\b
0.75 ^{WHO}{WITH} (?:can't|cannot|can not|must not|mustn't|may not|isn't allowed to|doesn't|does not|don't|won't
     |never) (?:eats?|have|drink|take|touch|stand|like|drive|fly|hear|see|speak|work|use|want|read|answer|do)\b
0.75 ^{WHO}{WITH} (?:lives?|works|work(?= (?:at|in|as|for|from|with)\b)|studie[sd]|study|teach(?:es)?|leads?|owns?
     |runs?(?! of\b)|manages?|heads?(?! of\b)|speaks?|plays?(?! of\b)|goes to|attends?|drinks?|eats?|takes?|collects?
     |sings?|swims?|volunteers
     |reports to|handles|maintains?|coordinates?|covers|looks after|knows|only \w+s|hosts|coaches|drives|commutes
     |prefers|{LIKES}|wants? (?:no|only|to be|the|all|everything|us to)|has (?:an? |two|three|four|\d|no |severe
     |chronic|type)|owes me|owe me|has to (?:take|eat|wear|avoid|have|get)|have to (?:take|eat|wear|avoid)|does the
     |do the|keeps the|needs? (?:glasses|insulin|\w+ pills)|can't (?:swim|ride|walk|talk|sleep|cook|dance)
     |cannot (?:swim|ride|walk|cook))\b
0.72 ^{WHO}(?: (?:has|have|just|recently|finally|and I|'ve))*{WITH} (?:moved (?:to|from|in|out|back|into)|was born
     |were born|got (?:married|engaged|promoted|divorced|into|accepted|hired|a place|tenure|custody|his|her
     |a (?:new )?(?:job|dog|cat|puppy))|joined|graduated|turned \d+|turns \d+|passed away|died|retired|quit|resigned
     |started (?:at|a|as|school|work\w*|his|her|university|college|learning|medical)|left (?:the|his|her|for)|became
     |adopted|bought (?:a|the) (?:house|flat|car|boat|farm|apartment)|sold (?:the|his|her)|had (?:an? (?:baby|stroke
     |heart|stent|bypass|operation|transplant|implant|pacemaker|fall|accident|miscarriage)|surgery|twins|chemo)
     |broke (?:up|his|her|my)|was (?:diagnosed|promoted|elected|hired|laid off|appointed)|opened (?:a|her|his)|founded
     |took over|lent me|borrowed)\b
0.70 ^{WHO}(?:'s| is| are){WITH} (?!the (?!\w* ?(?:lead\w*|manager|owner|maintainer|head|boss|director|contact|author
     |editor|teacher|doctor|treasurer|chair\w*|captain|organi[sz]er|host|coordinator|secretary|president|founder|ceo
     |cto|admin\w*|one who|person|youngest|oldest|eldest|best man|godmother|godfather|landlord|landlady|witness
     |designer|architect|engineer|developer|accountant|lawyer)\b))(?!an? (?:\w+ )?(?:way|time|idea|part|thing|feeling
     |blast|experience|reminder|fun|joy|bit|lot|little|shame|pity|priority|journey)\b)(?!(?:the (?:best|worst|man|way
     |one|thing|goat)|a must)\b)(?:my|our|the|an?|from|based|responsible|in charge|on (?:call|leave|holiday|vacation)
     |moving|getting married|having|expecting|afraid|scared|training|learning|studying|working (?:at|for|on|as|in)
     |leaving|turning|away|out of office|\d+|\w+ years|one of|called|named|named after|trilingual|bilingual|good at
     |better at|terrible at|best reached|only available|back (?:on|from|in))\b
0.78 (?:{WHO}|\b(?:my|our))(?:'s|’s)? (?:[\w'-]+ ){0,4}(?:birthday|anniversary|phone number|number
     |e-?mail(?: address)?|address|name day|surname|last name|maiden name|shoe size|size|blood type|teacher|class
     |school|due date|wedding|recital|flight|surgery|funeral|graduation|appointment|handle|username|time ?zone
     |native language|mother tongue|job|boss|name|allergy|middle name) (?:is|are|will be|has moved to|changed to|at
     |:)(?! (?:so|too|very|really|great|amazing|boring|stressful|hard|going))
0.62 ^(?:my|our) (?:[\w'’.&-]+ ){1,5}(?:is|are|has|have|lives?|works?|was|were|starts?|ends?|belongs?|goes|go|comes
     |opens?|closes?|expires?|runs?) (?!(?:so|too|very|really|ok|okay|fine|great|good|bad|sore|tired|happy|killing
     |amazing|awesome|going|getting|hurting|still|again|nice|wonderful|lovely|cold|full|a mess|been)\b)
0.75 ^(?:the )?user(?:'s)? (?:[\w'-]+ ){0,3}(?:is|are|has|lives|works|studies|speaks|owns|moved|was born|grew up|runs
     |leads|plays|teaches|plans|started|uses|bought|adopted)\b(?! (?:asking|looking|trying|confused|happy|thinking
     |interested in whether|frustrated|unsure|stuck|working on a (?:fix|bug)))
0.80 ^(?:remember,? |note:? )?(?:{N}|(?:the|our|my) [\w -]{2,40})(?:'s)? (?:is|are|was) (?:now )?(?:called|named
     |nicknamed|codenamed|code-named|renamed)\b
# facts about the user, who goes without saying
0.78 ^(?:(?:severely|highly|mildly|also|slightly) )?(?:allergic|intolerant) to (?!{VAGUE})\w+|^(?:lactose|gluten)[ -]
     intolerant\b|^(?:vegetarian|vegan|pescatarian|teetotal|married|retired) since \w+
0.72 ^(?:works|worked|studies|studied) (?:(?:part-time|full-time|remotely|freelance) )?(?:(?:at|for) (?-i:[A-Z])[\w.&-]+
     |as an? \w+|from home\b|part-time\b|full-time\b|night shifts\b|remotely\b)(?! (?:charm|again|now)\b)
0.74 ^(?:now )?(?:lives|based|born|grew up|raised) (?:in|near|outside|on) (?-i:[A-Z])[\w'’-]+(?! ?[=:/])
     |^born in \d{4}\b|^lives (?:alone
     |with (?:his|her|their|two|three|an?|(?-i:[A-Z]))|on the \w+ floor)\b
0.76 ^(?:has|owns) (?:(?:an?|one|two|three|four|five|six|\d+|no) )(?:[\w-]+ ){0,2}(?:{KIN}|sons|daughters|sisters
     |brothers
     |cars?|bikes?|boat|house|flat|allergy|degree|phd|condition)\b|^(?:married|engaged) (?:to|with) \w+
     |^speaks (?:(?:fluent
     |some|only|no|good) )?(?-i:[A-Z])\w+|^plays the \w+
# facts about oneself
0.72 {C}(?:I'm|I am|we're|we are) (?:also |now |currently |actually |still )*an? (?!(?:bit|little|lot|mess|fool|idiot
     |fan|wreck|sucker|big|huge|total|happy|few|bad|terrible|good|great|lucky)\b)(?:[\w-]+ ){0,4}?[\w-]+(?:er|or|ist
     |ian|ant|ent|ee|nurse|chef|student|mum|mom|dad|father|mother|twin|parent|pilot|vet|cook|clerk|guide|intern
     |immigrant|veteran|native|survivor|woman|man|midwife|smith|wright|fellow|apprentice|judge|monk|rabbi|priest|coach
     |analyst|PhD)\b
0.75 {C}I (?:work|used to work|have worked|worked) (?:at|as|for|in|with|part-?time|full-?time|remotely|from home|night
     |shifts)\b|{C}(?:I|we) (?:live|lived|grew up|was born|were born|come|settled) (?:in|at|with|near|on|from|next to
     |above|by)\b|{C}(?:I'm|I am|we're) (?:originally )?from (?!now|the future|there|here)\w+
0.75 {C}(?:I|we)(?:'m| am|'re| are) (?:also |now |currently |still |already |actually |just )*(?:studying|learning
     |training for|preparing for|subletting|renting|writing (?:a|my) (?:book|novel|thesis|dissertation|memoir)
     |doing (?:a|my) (?:phd|master|degree|internship|apprenticeship)|taking (?:a |an )?[\w ]{0,25}(?:class|classes
     |course|lessons|medication)|working (?:at|as|for|in|on (?:a|my|our) )|saving (?:up )?for|building (?:a|my|our)
     |applying (?:for|to)|expecting|getting (?:married|divorced)|moving (?:to|in|out|house)|volunteering|mentoring
     |raising|adopting|running for|starting (?:a|my) |opening (?:a|my)|married|engaged|divorced|single|pregnant
     |retired|colou?r-?blind|left-handed|in (?:recovery|therapy|remission)|on (?:parental|maternity|paternity
     |sick) leave|afraid of|scared of|terrified of|bilingual|fluent in|\d\d years old|a member of|part of|in charge of
     |responsible for)\b
0.70 {C}(?:I|we) (?:speak|play|own|share|rent|teach|coach|run|manage|study|have(?: got)?|(?<=I|e)'ve got|raise|breed
     |collect|volunteer|lead|foster|belong to|suffer from|commute|drive) (?:a|an|two|three|four|five|six|\d+|no
     |the (?:piano|guitar|violin|cello|drums|flute|bass)|severe|chronic|type|asthma|diabetes|migraines?|adhd|at|from
     |by|(?-i:[A-Z]\w+)|\w+ (?:and|at|in|for))\b(?! (?:question|feeling|idea|lot|headache|meeting|cold|hunch|minute
     |plan|moment|problem|bad|good|great|hard|busy|long|quick|favou?r|clue|doubt|few|blast|ball|surprise|appointment
     |long day|choice|time|way|free|date|bit|couple|chance|huge|big|really|new (?:idea|plan|perspective)))
0.75 {C}(?:I|we)(?:'ve| have) (?:been|had|lived|worked|played|taught|known|studied|owned|practi[sc]ed|used|done|kept
     |run|danced|painted|written|collected|volunteered)\b(?!.{0,20}\b(?:thinking|busy|meaning|trying|looking|wondering
     |dying|waiting|feeling|great|good|better|hard)\b)(?:(?! so ).){2,80}\b(?:since|for (?:\w+ ){1,3}(?:years?|months?
     |decades?|weeks)|all my life|my whole life)\b
0.72 {C}(?:I|we)(?:'ve| have)?(?: (?:just|recently|finally|also|both|actually|already|even|all))*,? (?:adopted
     |got (?:married|engaged|promoted|divorced|a (?:new )?(?:job|dog|cat|puppy|kitten|apartment|degree|offer
     |scholarship|tattoo)|my (?:degree|license|licence|citizenship|visa|certificate|green card|first)|into (?:college
     |university|grad|med)|hired|accepted|fired|laid off)|moved (?:to|in|out|here|back|from|into)|joined|graduated
     |enrolled|signed up for|quit my|lost my (?:job|mother|father|mum|mom|dad|grandma|grandpa|brother|sister|dog|cat)
     |retired|passed (?:my|the)|won (?:a|an|the|my|first|second|third)|published|opened (?:a|an|my|our|the)|founded
     |launched|was diagnosed|was born|became|started (?:a|an|my|our|learning|taking|working|volunteering|school
     |playing|teaching|running|painting|therapy|university|doing(?! what)|going|practi[sc]ing)|broke up|separated
     |bought (?:a|an|our|my) (?:\w+ )?(?:house|home|flat|apartment|car|boat|van|farm|mansion|bike|piano|guitar)
     |sold (?:my|our|the)|finished (?:my|writing)|applied (?:for|to)|ran (?:a|my|the) (?:\w+ )?(?:marathon|race|half)
     |met my|named (?:him|her|it|them)|lived|served|studied|majored|grew up|have been to|was (?:promoted|elected|hired
     |laid off|raised|accepted)|wrote (?:a|my) (?:book|novel|screenplay|thesis)|did (?:a|my) (?:phd|master\w*|degree
     |internship|apprenticeship|military|training)|broke my|had (?:a stroke|cancer|surgery)|donated)\b
0.70 {C}(?:I|we)(?:'ve| have) (?:just |recently |also |really )?been (?:looking into|working (?:on|at|as|with)
     |learning|training|taking|practi[sc]ing|playing|doing|running|teaching|volunteering|studying|writing|painting
     |dating|seeing (?:a|my)|saving|living|researching|helping|making|building|collecting|coaching
     |running) (?!(?:so |really |pretty )?(?:great|good|well|okay|fine|on (?:it|that|something
     |a project lately))\b)\w+
0.64 {C}(?:I|we)(?:'ve| have)?(?: (?:just|recently|finally|also|both|actually|already|even))* (?:went (?:to|on|camping
     |hiking|skiing|surfing)|attended|visited|travell?ed|hosted|performed|ran|organi[sz]ed|took (?:my|the|a|our)
     |made (?:a|my|the)|painted|wrote|released|gave (?:a|my) (?:talk|speech|presentation)|hiked|climbed|competed
     |participated|celebrated|met|hired|received|got (?:a|an|my|our|the|some|into|back|first)|had (?:a|an|my
     |our) (?:\w+ )?(?:baby|surgery|interview|audition|accident|operation|miscarriage|wedding|reunion|exhibition|gig
     |concert)|submitted|sent (?:in|off)|donated|injured|hurt|broke|sprained|planted|built|set up|came out|lost|won
     |beat|scored|finished|completed|flew|drove|stayed|spent|reached|ran into|pitched|sold|auditioned|rescued
     |fostered) .{6,}
0.66 {C}(?:I'm|I am|we're|we are) (?:also |all )?(?:going|heading|off|travell?ing|flying|driving|headed) (?:to
     |on) (?:a|an|the|my|our|(?-i:[A-Z]))\b.{4,}|{C}(?:I'm|I am|we're|we are) (?:also |now |currently )?(?:planning
     |organi[sz]ing|hosting|putting together|launching|performing|competing|entering|hoping to start|creating
     |developing|recording|producing|directing|designing|setting up|looking for (?:a|an)) (?:a|an|my|our|some|new
     |the)\b.{4,}
0.72 {C}(?:I|we) (?!(?:was|were) (?:so|really|just))[a-z]+(?:ed|ew|ad|as|ore|ove|an|ote
     |aught)\b.{4,60}\b(?:as a (?:kid|child|teen\w*|student|girl|boy)|when (?:I|we) (?:was|were) (?:a|an|in|at|\d
     |young|little|growing|kids))|{C}(?:I|we) used to (?!think|love|be (?!an? )|it)\w+ .{3,}
0.75 ^(?:{N}|my [\w ]{2,25}) and I (?:broke up|got|are|have|met|live|moved|run|split|share|work|separated|divorced
     |married|adopted|bought)\b
0.68 {C}(?:my|our) (?:dream|goal|passion|biggest fear|main focus(?:es)?|hobby|hobbies|degree|major|specialty
     |side project|new year's resolution|ambition) (?:is|are|has always been|was)\b|{C}(?:I'm
     |I am) (?:currently )?(?:majoring|specialising|specializing) in\b|{C}I want to (?:be|become) an? \w+
# facts about projects and things
0.85 \b(?:is|are|listens?|runs?|moved|starts?|meets?|lives?|costs?|takes?|uses?|now)\b.{0,80}(?:[(,] ?(?:was|were
     |previously|formerly|before that|used to be|it was|no longer)|\((?:not|instead of|old:?|ex))\b (?!only|just|bad
     |sure|that|so)\w+
0.78 \b\d[\w.,%]*(?: \w+){0,3} instead of (?:the )?\d|\b(?:changed|moved|renamed|bumped|raised|lowered|increased
     |reduced|upgraded|downgraded|rescheduled|postponed|brought forward
     |pushed back)(?: back)? (?:from .{1,40} )?to (?:{DAY}|\d|v\d|(?-i:[A-Z`\ue000]))
0.66 ^(?!(?:i|we|he|she|they|you|it)\b)(?:the |our |a |all |each |every )?(?:[\w'’./&\ue000-]+ ){1,6}?(?:listens|runs
     |lives|sits|resides|uses|requires|needs|allows|accepts|supports|costs|expires|defaults|depends|belongs|answers
     |returns|rejects|stores|writes|reads|only works|works only|works with|talks to|closes|opens|starts|ends|meets
     |renews|happens|takes place|no longer \w+|can only|must be|has to be|keeps|speaks|weighs|measures|holds|seats
     |fits|expects|retries|times out|sends|contains|ships|replaces|serves|charges|has(?= (?:\d|two|three|four|five|six
     |no|only)\b)|(?<=s )(?:run|live|use|require|need|cost|expire|start|end|close|open|meet|depend|belong|last|return
     |support)(?= (?:on|at|in|from|every|only|to|an?|the|\d|with|for)\b)) (?!(?:better|worse|like|great|good|so
     |to be (?:honest
     |fair)|me|us|sense|fine|again|out of)\b)\w*
0.60 ^(?:(?:the|our|my|each|every|all)(?: [\w'’./&\ue000-]+){1,4}?|\ue000+|{N})(?<!\d) (?!(?:is|was|has|does|says
     |looks|seems|feels|thinks|wants|goes|gets|makes|sounds|smells|tastes|works|his|this|its|us|yes|as|always|thanks
     |tells|wonders|hopes|loves|likes|writes (?:better|well|worse)|approves|agrees|notes|news|series
     |was)\b)[a-z]{2,}[a-rt-z]s (?!(?:like|great|good|so|me|us|fine|again
     |out|and|of|for|in (?:ten|five|two|an?|half))\b)\w+
0.64 ^there (?:is|are) (?:\d+|an?|one|two|three|no|only) .{4,}
0.72 ^(?:{N}|{KINNAME})['’]s (?:[\w-]+ ){0,2}(?:phone|number|e-?mail|address|birthday|size|extension
     |handle)\s?[:=] ?\S+|^(?:the |our |my |{WHO}['’]s )?(?:[\w'’-]+ ){1,4}(?:comes|arrives|leaves|happens|falls|lands
     |runs) (?:on|every|at|each) (?:every |each )?{DAY}
0.64 ^(?:(?:the|our|my|all|each|every|any|old|new) )?(?:[\w'’./&\ue000-]+ ){1,8}?(?:is|are
     |gets?) (?:automatically |always |never |only |now )?(?!(?:tired|excited|bored|confused|delayed|closed|crowded
     |worried|scared|pleased|finished|used to|supposed|stressed|exhausted|annoyed|interested|amazed
     |blessed)\b)[a-z]{2,}ed\b
0.62 ^(?!(?:i|we|he|she|they|you|it)\b)(?:the |our |all |each |every )?(?:[\w'’./&\ue000-]+ ){1,7}?(?:is
     |are) (?:now |only |always |not |currently |still )*(?:at|on|in|with|behind|under|by|limited|capped|hosted|stored
     |located|owned|maintained|due|written|set|kept|based|built|deployed|mirrored|read-only|deprecated|available
     |scheduled|run|run by|pinned|backed up|closed|open|called|named|the|an?|\d|{N}|\ue000|responsible|made|required
     |forbidden|allowed|valid|free|paid|stable|broken by|compatible|written|protected|signed|encrypted|never|every
     |each)\b
0.74 ^(?!(?:i|we)\b)(?:the |our |my |next |new |first |last )*(?:[\w'’-]+ ){0,4}(?:release|deadline|meeting|standup
     |stand-up|exam|appointment|launch|cutover|review|kick-?off|retro|flight|train|recital|concert|wedding|party
     |check-?up|interview|presentation|demo|defen[cs]e|viva|conference|course|class|workshop|trip|match|game
     |tournament|race|sale|holiday|holidays|term|semester|hearing|inspection|delivery|visit|migration|freeze|surgery
     |ceremony|festival)s?(?: for (?:the |my |our )?[\w'’-]+(?: [\w'’-]+){0,3}?)?(?: is| are| will be| takes place
     | starts| begins| moved| has moved| is now)?(?: scheduled| set| due| planned| now)?(?: on| at| for| to|:
     | in)* (?:every )?{DAY}
0.70 {C}I have (?!to\b|\w+(?:ed|en)\b|different|been\b|had\b|got to|an? (?:question|feeling|idea|hunch|headache
     |meeting|cold|minute|plan|moment|problem|bad|good|great|hard|busy|long|quick|favou?r|clue|doubt|few|blast|ball
     |surprise|lot|bit|couple|chance|huge|big|date|picture|photo)\b|no (?:idea|clue|time|plans)|some|so |such|more|fun
     |the |this|that|it\b|you|enough|nothing|something|a ton|lots|never|always|decided|finally|just
     |already)(?:an? )?[a-z]+ \w+
0.74 ^{WHO} (?:was|were|used to be) (?:an?|the) (?!bit\b|little\b|few\b|lot\b|mess\b|great\b|good\b|bad\b)\w+
0.64 ^(?:the |our |my |all |most )?(?:[\w-]+ ){0,3}[\w-]+s (?:need|go to|belong to|contain|require|depend on|live in
     |run on|come with|expire|use) (?!(?:help|it|this|you)\b)\w+
0.64 ^(?!Reason|Cause|Why|Result|Fix|Error|Retro)[A-Z][\w ]{2,30}: (?!batch|\w+es of ).{0,40}\b(?:per|every|max
     |at most|at least|days
     |hours|seconds|requests|characters|percent)\b
0.76 ^{WHO}(?: (?:was|were|has been|have been|had been|is being)) (?:recently |just |finally )?(?:diagnosed|promoted
     |elected|hired|appointed|transferred|accepted|operated)\b
0.76 {C}I work (?:\w+ ){1,2}(?:days|hours|nights|shifts|evenings) \w+
0.76 ^(?:the |my |our )?(?:[\w’'-]+ ){0,3}(?:keys?|disks?|drives?|documents?|passports?|contracts?|folders?|files?
     |tools?|receipts?|manuals?|warrant(?:y|ies)|certificates?|chargers?|routers?|cables?|boxe?s?|papers|photos
     |meters?|valves?|fuses?|spare \w+) (?:is|are) (?:now |always |kept |stored |hidden )?(?:in|on|under|behind
     |next to|at|inside|with) (?!the (?:way|envelope|mail|post|bag|queue|channel|basket|printer)\b|sale\b
     |order\b)\w+ \w+
"""
