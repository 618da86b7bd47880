// The object of a verb in a tool's name can make its class stricter: creating a key is `admin`.

import type { EffectClass } from '@tollgate/evidence'
import { GRAVE, KEEPERS, MESSAGES, MONEY, RUNS, setOf } from './effect-verbs.ts'
import { stricter, type EffectWord } from './effect-words.ts'

const MAKING = setOf(
  'create add make new place initiate issue start perform execute process write put insert register replace submit capture post apply close',
)
const KEEPING = setOf(
  'create add put insert register delete remove rotate manage generate replace write issue assign unassign set attach detach invite reinvite refresh',
)
const CHANGING = setOf('update edit change modify')

/** The class of a verb with its object. A read is not raised: `get_order` orders nothing. */
export function raised(
  word: string,
  effect: EffectClass,
  objects: readonly string[],
  all: readonly string[],
): EffectWord {
  if (effect === 'read') return { word, effect }
  const head = headOf(objects)
  const to = (raise: EffectClass, object: string): EffectWord =>
    stricter(effect, raise) === effect ? { word, effect } : { word: `${word} … ${object}`, effect: raise }
  // A comment that is posted in a tracker is a write. One that is sent goes to a person.
  if (effect === 'send' && word !== 'send' && COMMENTS.has(objects.at(-1) ?? ''))
    return { word, effect: 'write' }
  // Taking a label off a thing deletes nothing.
  if (DELETING.has(word) && word !== 'delete' && MARKS.has(head)) return { word, effect: 'write' }
  if (word === 'send' && INPUTS.has(head)) return { word: `send … ${head}`, effect: 'execute' }
  if (word === 'terminate' && PROGRAMS.has(head)) return { word, effect: 'execute' }
  if (RECORDS.get(word)?.has(head) === true) return { word, effect: 'write' }
  if (word === 'push' && PUBLISHED.has(head)) return { word, effect: 'send' }
  const grave = objects.find((each) => GRAVE.has(each))
  if (grave !== undefined) return to('admin', grave)
  if (CLIENTS.has(head) && all.some((each) => IDENTITY.has(each))) return to('admin', head)
  if (isKept(word, head) || isMembership(word, head, objects)) return to('admin', head)
  if (MONEY.has(head) && (MAKING.has(word) || (head === 'subscription' && CHANGING.has(word))))
    return to('pay', head)
  if (isPaid(word, head)) return to('pay', head)
  if (RUNS.has(head) && MAKING.has(word)) return to('execute', head)
  if (word === 'forward' && objects.includes('port')) return { word: 'port … forward', effect: 'execute' }
  if ((MESSAGES.has(head) || head === 'campaign') && LAUNCHING.has(word))
    return { word: `${word} … ${head}`, effect: 'send' }
  if (MESSAGES.has(head) && (MAKING.has(word) || word === 'push')) return to('send', head)
  return { word, effect }
}

const PROGRAMS = setOf('process app session program task command')
const INPUTS = setOf('command commands input inputs key keys keystroke keystrokes')
// Nothing runs after these.
const RECORDS: ReadonlyMap<string, ReadonlySet<string>> = new Map([
  ['start', setOf('session timer conversation thread chat')],
  ['build', setOf('index collection list graph')],
])
// A campaign that starts is sent.
const LAUNCHING = setOf('trigger start launch')
const COMMENTS = setOf('comment comments note notes review')
// The parts of a login service that decide who may enter.
const IDENTITY = setOf('auth iam oauth identity sso okta')
const CLIENTS = setOf('application client server connection')
const HOOKS = setOf('webhook webhooks deployment deployments')
const ROLES = setOf(
  'role roles policy policies member members membership memberships secret secrets token tokens certificate certificates key keys',
)
const DELETING = setOf('delete remove')

const MARKS = setOf(
  'tag tags label labels reaction reactions favorite favorites star watcher watchers assignee attendee attendees',
)
const PUBLISHED = setOf('image package artifact registry release')
const ASSIGNING = setOf('assign unassign')
const PEOPLE = setOf('user users member members')

function isKept(word: string, head: string): boolean {
  if (!KEEPERS.has(head)) return false
  // A person who is assigned to a card gets no rights.
  if (ASSIGNING.has(word) && PEOPLE.has(head)) return false
  if (DELETING.has(word)) return !HOOKS.has(head)
  return KEEPING.has(word) || (CHANGING.has(word) && (ROLES.has(head) || HOOKS.has(head)))
}

/** `update_member_groups` decides what a person may do. */
function isMembership(word: string, head: string, objects: readonly string[]): boolean {
  const isChange = KEEPING.has(word) || CHANGING.has(word)
  return isChange && GROUPS.has(head) && objects.some((each) => PEOPLE.has(each))
}

const GROUPS = setOf('group groups team teams')

// Changing one of these changes what is paid.
const DUE = setOf('subscription transaction transfer payment')
const MOVED = setOf('money funds payment payments payout')

function isPaid(word: string, head: string): boolean {
  if (word === 'send') return MOVED.has(head)
  return (MONEY.has(head) && MAKING.has(word)) || (DUE.has(head) && CHANGING.has(word))
}

/** Whether a thing decides who may do what, such as a key. */
export function isKeeper(head: string): boolean {
  return KEEPERS.has(head)
}

/** Words that end the object of a verb. */
export const BINDING: ReadonlySet<string> = setOf(
  'by to from for of in with on at as into via against about between',
)

/** The thing that a verb acts on: the last word before a preposition. */
export function headOf(objects: readonly string[]): string {
  const end = objects.findIndex((word) => BINDING.has(word))
  // `convert_to_markdown` has its object after the preposition.
  return (end > 0 ? objects.slice(0, end) : objects).at(-1) ?? ''
}
