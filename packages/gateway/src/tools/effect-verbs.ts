// The words from which the effect class of a tool is guessed: verbs, vague verbs, and objects that raise the class of a verb.

import { EFFECT_CLASSES, type EffectClass } from '@tollgate/evidence'

type VerbLists = Readonly<Partial<Record<EffectClass, string>>>

// Verbs that are hardly ever nouns. The first one of a name is its verb, wherever it is.
const FIRM: VerbLists = {
  read:
    'get list read search find fetch query show describe lookup inspect retrieve browse download display summarize analyze ' +
    'compare validate verify explain calculate compute estimate locate detect identify examine peek recall aggregate extract ' +
    'scrape crawl parse translate transcribe tokenize encode decode observe whoami whois lint diagnose poll render discover wait suggest recommend predict classify enumerate introspect grep glob ls cat stat exists ' +
    'geocode rephrase paraphrase decompile disassemble assess backtest multiply divide subtract visualize visualise summarise analyse recognize recognise brainstorm proofread traceroute nslookup await correlate',
  write:
    'create add update edit put insert append save rename move toggle replace overwrite upsert assign unassign import ' +
    'mkdir upload duplicate clone archive unarchive unpublish mute unmute subscribe unsubscribe enroll enrol approve reject ' +
    'decide accept decline confirm complete finish reopen restore activate deactivate extend renew apply attach detach adjust ' +
    'reschedule cancel revert unfavorite unlike follow unfollow emulate memorize memorise remember populate annotate scaffold bootstrap provision transcode calibrate upvote downvote fill hover scroll navigate resize acknowledge snooze ' +
    'resume configure untag unpin unstar reorder increment decrement rebase ingest reserve compress join set mark scale dismiss transition skip initialize init switch click unset invalidate ' +
    'deny connect disconnect modify rotate align distribute draw swipe tap undo redo',
  delete:
    'delete remove clear purge wipe destroy erase truncate unlink rm uninstall discard terminate shred prune cleanup del pop expunge forget evict vacuum decommission deprovision deregister unregister reclaim dispose teardown',
  execute:
    'execute exec eval evaluate signal spawn invoke restart kill launch rerun interact run start trigger control retry boot reboot shutdown delegate enqueue orchestrate',
  send: 'send publish notify reply broadcast invite respond announce dispatch retweet',
  pay: 'pay refund purchase buy sell withdraw finalize reimburse remit disburse stake unstake liquidate airdrop donate repay',
  admin:
    'grant revoke redeploy impersonate authorize install chmod chown sudo disable enable unlock suspend promote ' +
    'demote whitelist allowlist protect unprotect rollback ban unban kick cordon uncordon drain upgrade',
}

// Verbs that are often nouns. They count if a name has no firm verb.
const LOOSE: VerbLists = {
  read:
    'view count check ask think diff log scan trace map blame print dump look measure monitor review snapshot screenshot echo preview ' +
    'tail ping audit research filter plan sort rank score grade sum average survey hash interpret define explore match sample chart plot probe screen reason',
  write:
    'copy merge commit change book schedule flag label store split tick release draft comment lock link fork bookmark ' +
    'favorite like star pin tag leave swap close stop pause checkout stash pull drag select override push press register place ' +
    'use end exit zoom refresh group play go input abort trim rate vote note index turn highlight crop backup mount unmount pair allocate',
  delete: 'drop reset trash void clean flush empty',
  execute: 'build compile call agent command shell bash terminal request step reload power wake test',
  send: 'post submit email mail message tweet share forward answer redirect compose replay',
  pay: 'charge order transfer trade exercise settle deposit redeem bid bet invest bridge',
  admin: 'deploy login logout authenticate',
}

/** A vague verb: the description decides, but never below `floor`. `otherwise` counts if the description has no action. */
export interface VagueVerb {
  readonly floor: EffectClass
  readonly otherwise: EffectClass
  /** Whether a description that begins with reading counts, as in "Parse a text". */
  readonly isMild?: boolean
}

/** Verbs whose class depends on the rest of the definition. */
export const VAGUE: ReadonlyMap<string, VagueVerb> = new Map([
  ['manage', { floor: 'write', otherwise: 'delete' }],
  ['management', { floor: 'write', otherwise: 'admin' }],
  ['handle', { floor: 'write', otherwise: 'admin', isMild: true }],
  ['process', { floor: 'write', otherwise: 'admin', isMild: true }],
  ['perform', { floor: 'write', otherwise: 'admin' }],
  ['write', { floor: 'write', otherwise: 'write' }],
  ['patch', { floor: 'write', otherwise: 'write' }],
  ['export', { floor: 'write', otherwise: 'write' }],
  ['generate', { floor: 'write', otherwise: 'write', isMild: true }],
  ['convert', { floor: 'write', otherwise: 'write', isMild: true }],
  ['format', { floor: 'write', otherwise: 'write', isMild: true }],
  ['transform', { floor: 'write', otherwise: 'write', isMild: true }],
  ['normalize', { floor: 'write', otherwise: 'write', isMild: true }],
  ['resolve', { floor: 'write', otherwise: 'write', isMild: true }],
  ['sync', { floor: 'write', otherwise: 'write' }],
  ['watch', { floor: 'read', otherwise: 'write' }],
  ['load', { floor: 'write', otherwise: 'write', isMild: true }],
  ['simulate', { floor: 'read', otherwise: 'read' }],
  ['type', { floor: 'read', otherwise: 'write' }],
  ['capture', { floor: 'read', otherwise: 'write' }],
  ['make', { floor: 'write', otherwise: 'admin' }],
  ['take', { floor: 'write', otherwise: 'admin' }],
])

const TEXTS = 'text string json yaml xml csv html css markdown sql code date number url'

/** Objects with which a vague verb only computes or looks: `resolve_id`, `generate_types`, `take_screenshot`. */
export const COMPUTED: ReadonlyMap<string, ReadonlySet<string>> = new Map([
  [
    'generate',
    setOf(
      'url link code types type schema summary report diff query hash uuid urls links deeplink deeplinks markdown text docs documentation prompt sql preview embedding embeddings locator selector chart graph diagram message messages faq boilerplate template outline title titles caption captions snippet regex description explanation plan ideas names test tests statement',
    ),
  ],
  ['convert', setOf(`time timezone timestamp currency unit units color temperature coordinates ${TEXTS}`)],
  ['format', setOf(TEXTS)],
  ['transform', setOf(`coordinates ${TEXTS}`)],
  ['normalize', setOf(TEXTS)],
  ['resolve', setOf('id name url uri library hostname dns path reference')],
  ['take', setOf('snapshot screenshot')],
])

/** Query languages in which nothing can be written. */
export const READING_LANGUAGES: ReadonlySet<string> = setOf('soql sosl promql logql traceql jql kql')

// Nouns at the end of a name without a verb: something is shown.
const SHOWN =
  'analysis news price sentiment scanner screener distance direction directions location version versions results usage info status history tree stats details contents lookup card queue slots entry entries profile overview summary balance prices ' +
  'rates weather forecast calendar agenda roster rota directory catalog inventory stock members logs timeline metrics notes report reports statistics stats trend trends preview ranking rankings comparison snapshot information data definition documentation docs lyrics transcript transcripts headlines feed availability schema specification changelog glossary metadata keywords suggestions rate pricing cost quotes'

/** Words of a sentence that mean an action there, in addition to the verbs of names. */
const SPOKEN: VerbLists = {
  read: 'return display provide answer research solve think view count check capture echo monitor load map compare watch look demonstrate preview',
  write:
    'set change store mark schedule copy link draft record stage close stop merge commit manage write convert emulate simulate generate click press type open play',
  delete: 'drop reset clean discard',
  execute: 'run start trigger build call control execute',
  send: 'post submit share forward transmit',
  pay: 'charge settle',
  admin: 'deploy allow roll',
}

/** Verbs that count anywhere in the description of a tool that reads. */
export const STRONG: ReadonlySet<string> = setOf(
  'delete remove overwrite erase destroy wipe purge truncate execute send upload publish pay purchase charge refund transmit revoke grant start trigger launch',
)
/** Verbs that count in its first sentence. */
export const PLAIN: ReadonlySet<string> = setOf('create update modify insert write save store')

/** Objects that make an action administrative, anywhere after its verb. */
export const GRAVE: ReadonlySet<string> = setOf(
  'admin permission permissions restriction restrictions sharing acl iam root access privilege privileges rights password passwords passcode credential ' +
    'credentials mfa auth oauth apikey apikeys',
)
/** Objects that make an action administrative, as the thing that is created, removed or assigned. */
export const KEEPERS: ReadonlySet<string> = setOf(
  'webhook webhooks key keys role roles user users member members membership memberships policy policies token tokens secret secrets grant grants dsn ' +
    'infrastructure certificate certificates collaborator collaborators deployment deployments',
)
/** Objects with which a creating verb moves money. */
export const MONEY: ReadonlySet<string> = setOf(
  'payment payments charge order orders refund refunds booking payout payouts settlement transfer transaction money ' +
    'subscription purchase trade position positions checkout',
)
/** Objects with which a creating verb runs something. */
export const RUNS: ReadonlySet<string> = setOf('pipeline run execution build job migration migrations port')
/** Objects with which a creating verb sends something. */
export const MESSAGES: ReadonlySet<string> = setOf(
  'message messages email mail sms call notification notifications invitation tweet reply post posts',
)

const PREFIXES = ['re', 'un']

export const firm: ReadonlyMap<string, EffectClass> = lexicon(FIRM)
export const loose: ReadonlyMap<string, EffectClass> = withPrefixes(lexicon(LOOSE))
export const shown: ReadonlySet<string> = setOf(SHOWN)
export const spoken: ReadonlyMap<string, EffectClass> = new Map([...firm, ...lexicon(SPOKEN)])

/** The set of the words of a text. */
export function setOf(words: string): ReadonlySet<string> {
  return new Set(words.split(' '))
}

function lexicon(words: VerbLists): ReadonlyMap<string, EffectClass> {
  return new Map(
    EFFECT_CLASSES.flatMap((effect) =>
      (words[effect] ?? '')
        .split(' ')
        .filter((word) => word !== '')
        .map((word) => [word, effect] as const),
    ),
  )
}

/** Also "resend" and "unconfirm": a verb that acts, done again or undone. Readers keep their own words, because of "unlist". */
function withPrefixes(own: ReadonlyMap<string, EffectClass>): ReadonlyMap<string, EffectClass> {
  const acting = [...firm, ...own].filter(([, effect]) => effect !== 'read')
  const derived = acting.flatMap(([word, effect]) =>
    PREFIXES.map((prefix) => [prefix + word, effect] as const),
  )
  return new Map([...derived.filter(([word]) => !firm.has(word)), ...own])
}
