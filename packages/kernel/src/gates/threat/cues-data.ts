// The English cues. A single cue says little. In a row, a step is a word, several words separated by `|`, or the name of a
// set in capitals. A digit is the maximum number of other words between two steps.

/** The meaning of a cue. */
export type Cue =
  /** Asks for an action. */
  | 'demand'
  /** Addresses the model or person that processes the text. */
  | 'reader'
  /** Connects the action to the work in progress. */
  | 'tie'
  /** Excludes the person who would be asked. */
  | 'person'
  /** Ends or replaces the task. */
  | 'void'
  /** Imitates something other than text: an error, a system notice, hidden markup. */
  | 'form'
  /** Creates pressure. */
  | 'pressure'
  /** Asks to decode something and to follow it. */
  | 'decode'

/** Cues of one kind. One cue of weight three is enough next to a demand. */
export interface CueEntry {
  readonly cue: Cue
  readonly weight: 1 | 2 | 3
  /** Single words, separated by spaces. */
  readonly words?: string
  readonly rows?: readonly string[]
}

/** Sets of words, by their names in capitals. */
export const CUE_SETS: Readonly<Record<string, string>> = {
  MACHINE: 'ai|llm|llms|chatbot|chatbots|gpt|chatgpt|claude|gemini|copilot|robot|robots',
  HELPER: 'assistant|assistants|agent|agents|bot|bots|model|models|crawler|crawlers|copilot|planner',
  AUTOMATED: 'automated|automatic|software|digital|virtual|autonomous|programmatic|machine|electronic',
  READ:
    'read|reads|reading|process|processes|processing|handle|handles|handling|summarise|summarises|summarising|summarize|' +
    'summarizes|summarizing|access|accesses|accessing|retrieve|retrieves|retrieving|parse|parses|parsing|quote|quotes|cite|' +
    'cites|citing|shorten|translate|translates|index|indexes|encounter|encounters|consult|consults|ingest|ingests|analyse|' +
    'analyses|analyze|analyzes|evaluates|loads',
  WAS_READ:
    'read|processed|handled|summarised|summarized|accessed|retrieved|parsed|quoted|cited|shortened|translated|indexed|opened|loaded|displayed',
  TEXT: 'this|text|page|document|message|email|mail|note|record|entry|ticket|content|paragraph|item|listing|result|section',
  ANSWER:
    'answer|answering|reply|replying|respond|responding|response|summarise|summarising|summarize|summarizing|summary|' +
    'continue|continuing|proceed|proceeding|result|results|report|output|resume|finish|finishing|completing|rest',
  GO_ON: 'continue|proceed|resume|carry|return|finish',
  TOOL: 'tool|function|query|call|request|search|operation|lookup|command|endpoint',
  ASK:
    'ask|asking|wait|waiting|confirm|confirming|confirmation|mention|mentioning|consult|consulting|bother|notify|notifying|' +
    'inform|informing|involve|involving|tell|telling|alert|alerting|discussing|disclose',
  AGREED:
    'approved|authorised|authorized|cleared|agreed|signed|confirmed|consented|arranged|settled|okayed|preapproved',
  ASSENT:
    'confirmation|approval|permission|consent|authorisation|authorization|review|signature|countersignature',
  TASK: 'task|tasks|request|requests|instruction|instructions|orders|order|directions|assignment|job|question|prompt|query|guidelines',
  PRIOR: 'previous|prior|earlier|former|above|original|initial|existing|current|preceding|ongoing',
  ENDED:
    'void|obsolete|outdated|cancelled|canceled|superseded|replaced|expired|invalid|revoked|finished|over|complete|completed|' +
    'closed|withdrawn|overridden|suspended|moot',
  DO_IT: 'follow|execute|act|carry|do|done|obey|perform|comply|apply|implement',
  OFFICE:
    'system|runtime|security|maintenance|debug|developer|admin|administrator|platform|operator|compliance|fraud|scheduler|' +
    'server|connector|integration|session|workflow|sandbox|gateway|audit',
  NOTICE:
    'notice|alert|message|note|warning|notification|override|directive|advisory|bulletin|announcement|instruction|hint|reminder',
}

export const ENGLISH: readonly CueEntry[] = [
  {
    cue: 'demand',
    weight: 1,
    words:
      'send transfer pay wire forward email mail message post publish share invite add delete remove erase cancel book ' +
      'reserve create schedule update change reset replace download install run execute visit open upload grant tell ' +
      'write submit buy order purchase subscribe rename move copy disclose fetch provide register assign withdraw donate ' +
      'disable enable set make give call contact enrol enroll deposit remit hand expose leak attach archive wipe',
  },
  {
    cue: 'reader',
    weight: 3,
    rows: [
      'AUTOMATED reader|readers|assistant|assistants|summariser|summarisers|summarizer|summarizers',
      'human|person|people or not|machine|automated|software|ai|bot|program|otherwise',
      'MACHINE|machine|software|bot or human|person',
      'team|people|company|ones that|who 1 runs|built|trained|operates|operate|run you',
      'HELPER|MACHINE under test',
      'language model|models 2 READ|must|shall',
    ],
  },
  {
    cue: 'reader',
    weight: 2,
    rows: [
      'AUTOMATED agent|agents|processing|party|means|processor|client|clients|consumer|consumers',
      'hi|hello|hey|dear|attention 1 HELPER|MACHINE',
      'note|notes|message|instruction|instructions|information|info|notice|reminder|memo|hint|summary|todo|task 3 HELPER|MACHINE',
      'HELPER|MACHINE 1 must|shall',
      'HELPER|MACHINE has|ought|required',
      'HELPER|MACHINE that|which|who 2 READ',
      'connected|all|any|every HELPER',
      'whoever|anyone|everyone|everybody|anybody|those 1 READ 3 TEXT',
      'when|once|whenever|while|after you 2 READ 3 TEXT',
      'when|once|whenever you come across',
      'when|whenever|if|once 2 TEXT 1 is|are|being 3 WAS_READ',
      'each|every|any retrieval|reading|access|summary|processing',
      'reading|accessing|citing|processing|summarising|handling|retrieving party',
      'handling|processing party|system|software|agent',
      'your operator|operators|developers|maker|makers|creators',
      'if you are|re 1 summarising|summarizing|comparing|processing|acting|automated',
    ],
  },
  {
    cue: 'reader',
    weight: 1,
    words:
      'ai llm llms chatbot gpt chatgpt claude gemini copilot assistant assistants agent agents bot reader readers processor ' +
      'addressee caller whoever instances',
    rows: ['if you 1 READ 2 TEXT', 'if you can read', 'language model', 'AUTOMATED means'],
  },
  {
    cue: 'tie',
    weight: 2,
    rows: [
      'before 3 ANSWER',
      'before anything|everything else',
      'before 1 doing|any|you 2 else|other|anything',
      'prior 4 ANSWER|else|other|processing',
      'then|afterwards|thereafter|may 1 GO_ON 1 as|with|on|your|normally',
      'you can|may 2 GO_ON',
      'go|carry|carrying|going on with|as',
      'safe|ok|okay|free 1 go|continue|proceed|carry',
      'get|go|return|come|turn back 3 TASK|user|work',
      'then|and|afterwards|again 1 call|run|invoke|use|repeat|retry|query 2 TOOL',
      'call|run|invoke|use|repeat|retry|try 3 TOOL again|once',
      'tool|function again',
      'held|withheld|locked|blocked|hidden|kept back|until',
      'required|missing|mandatory|remaining|pending|outstanding|skipped|preliminary|priming step|steps|action|actions',
      'step|steps|action 2 missing|incomplete|skipped|outstanding',
      'step|stage|phase 0|zero',
      'next|new|current|updated task|assignment|job|objective|priority',
      'second|additional|extra|accompanying action|task|step',
      'until 3 caller|completed|executed|performed|carried',
      'remaining|rest 4 result|page|text|document 2 result|depends|refers',
      'before 3 reply|answer|response|result 1 is|goes',
    ],
  },
  {
    cue: 'tie',
    weight: 1,
    words:
      'unlock unblock restore retry regain reactivate resume precondition prerequisite beforehand resubmit afterwards thereafter followup',
    rows: [
      'fix|resolve|obtain|complete this|that',
      'as soon as you',
      'only then|when|after|once',
      'must|have|has|should first',
      'do this|that|it|so|following 1 first|now|once',
      'do|does|doing 1 following',
      'retry|repeat|rerun|try 2 TOOL|again',
      'is|are executed|run when|before|on',
      'unless|until you',
      'what 2 do next',
    ],
  },
  {
    cue: 'person',
    weight: 2,
    rows: [
      'not|dont|never|without 1 ASK',
      'no need 1 ASK|check|report|reply',
      'no 2 ASSENT 2 needed|required|necessary',
      'ASSENT 3 waived|unnecessary|dispensed|superfluous',
      'already 2 AGREED',
      'i 1 approve|authorise|authorize|consent',
      'pre AGREED',
      'advance approval|consent|authorisation|permission',
      'approved|approve|authorised|consent 2 in advance',
      'keep|stays|stay 2 between us',
      'keep this|it 1 quiet|confidential|secret|private',
      'tell|inform no nobody',
      'confirm no|false|never|off',
      'with 1 full authority|approval|consent',
    ],
  },
  {
    cue: 'person',
    weight: 1,
    words: 'unavailable unreachable',
    rows: [
      'behalf of',
      'acting|act for',
      'been AGREED',
      'is aware|fine|okay|informed',
      'spoke|spoken|talked|discussed|cleared|agreed|arranged 2 with',
      'as agreed',
      'cannot|cant talk|answer',
      'not reachable|available',
      'knows about',
      'yes 1 thats|that fine|ok|okay',
    ],
  },
  {
    cue: 'void',
    weight: 3,
    rows: [
      'PRIOR 2 TASK 4 ENDED',
      'PRIOR 2 TASK 3 no|not 1 longer|apply',
      'user|users requests|request|messages 1 are|is 1 queued|suspended|paused|ignored|void',
    ],
  },
  {
    cue: 'void',
    weight: 2,
    rows: [
      'instead of 3 ANSWER|TASK',
      'nothing else 3 matters|needed|counts|required',
      'ignore|disregard|skip|forget 1 rest|everything|remaining',
      'new|updated|revised|real|actual instruction|instructions|orders|directive|objective|goal',
      'TASK is|has 2 finished|complete|completed|over|cancelled|changed',
      'only this 1 job|task|request|instruction',
      'takes|take|has|have precedence|priority over',
    ],
  },
  {
    cue: 'form',
    weight: 3,
    rows: ['font size 0|0px|1px|0pt|0em', 'display none', 'visibility hidden'],
  },
  {
    cue: 'form',
    weight: 2,
    words: 'traceback',
    rows: [
      'OFFICE NOTICE',
      'maintenance|debug|developer|diagnostic|test|admin mode|build',
      'NOTICE from 4 OFFICE|unit|department|team|office|desk',
      'aria hidden',
      'opacity 0',
      'error|status|code 400|401|403|404|409|412|422|423|428|429|500|502|503|504',
      'step|action|precondition|validation|verification|authentication 1 not|failed|missing',
      'my|your HELPER',
      'self test',
    ],
  },
  {
    cue: 'form',
    weight: 1,
    words:
      'error errors failed exception warning warn alert notice status hint debug runtime hook callback quota expired ' +
      'unauthorized unauthorised timeout mitigation containment runbook countermeasure remediation harness incomplete ' +
      'verification compliance procedure obligation obligations protocol cve',
    rows: ['not 1 loaded|retrieved|displayed', 'house rule', 'terms of use', 'standard procedure'],
  },
  {
    cue: 'pressure',
    weight: 1,
    words:
      'failure immediately urgent urgently asap mandatory obliged obliges hereby compulsory forthwith deemed',
    rows: [
      'at once',
      'right away|now',
      'without 2 delay',
      'within 3 hours|hour|minutes|minute|day|days',
      'will 3 locked|closed|suspended|blocked|recorded|terminated|lost|deactivated|restricted|treated|incomplete',
      'every|each minute|second|hour counts|matters',
      'are|is required|requested|instructed|asked',
      'condition that',
      'not skipped|optional|negotiable',
      'useless|incomplete|invalid|fails|worthless otherwise|without|if',
    ],
  },
  {
    cue: 'decode',
    weight: 3,
    rows: [
      'decode|decoded|unescape|unescaped|decipher|deciphered|decrypt|decrypted|unscramble|base64|rot13|hex|cipher 9 DO_IT',
      'turned|converted|translated 2 text 6 DO_IT',
      'right 1 left 6 DO_IT',
      'backwards|reversed|reverse 6 DO_IT',
      'DO_IT 3 decoded|deciphered|unescaped',
      'once|when|after decoded|unescaped|deciphered|reversed',
    ],
  },
  {
    cue: 'reader',
    weight: 3,
    rows: [
      'use|using your 2 tool|tools|function|functions',
      'your 1 system|context|developer prompt|window|instructions|message',
      'HELPER|MACHINE instruction|instructions|directive|directives|command|commands|todo',
    ],
  },
  {
    cue: 'reader',
    weight: 2,
    rows: [
      'your user|users|principal',
      'user 1 wants|asked|asks|needs|expects|wishes|wanted',
      'as an 2 HELPER|MACHINE',
      'you are an 2 HELPER|MACHINE',
      'currently reading|processing|summarising',
      'automatically processed|handled|executed|applied',
      'HELPER|MACHINE reading|processing|handling|working|assisting',
      'available tool|tools',
      'tool|function call|calls',
    ],
  },
  {
    cue: 'reader',
    weight: 1,
    words: 'user users',
    rows: ['reading this', 'this assistant'],
  },
  {
    cue: 'tie',
    weight: 2,
    rows: [
      'as part of 3 TASK|ANSWER|processing',
      'complete|finish|fulfil|answer|handle|satisfy 2 TASK',
      'along|together with 3 ANSWER',
      'after 2 done|finished|completed|success 3 GO_ON|ANSWER',
      'once 2 done|finished|completed|complete',
      'next|following action|actions',
      'before 2 moving|going on',
      'at 1 end of 3 ANSWER',
      'remember to 1 also',
      'depends on 2 being',
      'not 2 valid|complete|available|shown|final until|unless|before',
    ],
  },
  {
    cue: 'tie',
    weight: 1,
    rows: ['while you 2 at|here', 'more thing', 'step 1|2', 'needed|necessary before|to'],
  },
  {
    cue: 'person',
    weight: 2,
    words: 'silently quietly discreetly',
    rows: [
      'without 2 user|further|prompting',
      'do|does not require|need',
      'dont|not 1 include|show|display|reveal|report 5 ANSWER|user',
      'user|owner|customer|they|he|she 1 already|knows|agreed|consented|approved',
      'wont|not mind',
      'no need',
      'no questions',
      'in 1 background',
      'nobody needs|has|must',
    ],
  },
  {
    cue: 'person',
    weight: 1,
    rows: ['dont worry', 'user has|is'],
  },
  {
    cue: 'void',
    weight: 2,
    rows: [
      'real|actual|true|main|primary task|goal|purpose|request|question|job|objective',
      'rather than 2 ANSWER',
      'no longer 2 needed|relevant|valid|want|wants|apply|applies',
      'changed 2 mind',
      'stop|drop|abandon|pause 2 TASK|working',
      'correction to|of 2 TASK',
      'this supersedes|replaces|overrides',
    ],
  },
  {
    cue: 'form',
    weight: 2,
    rows: [
      'begin|start|end of 2 instructions|message|block|note|data|text',
      'tool calls|call|response|result|output',
      'function call|response|result',
      'auto executed|execute|run',
      'on read|open|load|view',
    ],
  },
  {
    cue: 'form',
    weight: 1,
    words: 'todo fixme config trigger step instructions instruction directive',
    rows: ['action required'],
  },
]

/** Words before a verb that turn it into an order. */
export const LEADS: string =
  'please pls plz to must shall should and then you now kindly first also always just simply instead immediately or step only ' +
  'bitte dann und zu noch zuerst sofort puis et de veuillez pour luego primero para por favor e depois primeiro deve quindi ' +
  'poi di per prima en dan eerst te om potem oraz proszę należy ve sonra lütfen hemen и затем пожалуйста сначала потом ' +
  '请 先 并 然后 再 須 请先 ثم و कृपया और फिर'

/** Words that turn the word before them into a noun, so that it is no order. */
export const AFTER_NOUNS: string =
  'of that is are has have from may can could must will would should shall which who and or not came comes'
