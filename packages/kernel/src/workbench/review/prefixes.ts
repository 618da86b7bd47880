// Paths, hosts and URLs that a condition compares by the letters they begin or end with: `/notes/../x` begins with `/notes/`.
//
// And `within` the wrong way round: a text that programs read differently is inside of nothing, so a rule that denies what is
// inside does not see it.

import type { ASTNode } from '@marcbachmann/cel-js'
import { parseWithin, withinKindOf, type WithinKind } from '../../policy/cel/within.ts'
import type { Policy, Rule } from '../../policy/parse/parse.ts'
import type { RemarkNote } from './remark.ts'
import { literalOf } from './constraint.ts'
import { testsIn, type ConditionSighting } from './sightings.ts'

/** Notes on the conditions of all rules. */
export function prefixNotes({ rules }: Policy): readonly RemarkNote[] {
  return rules.flatMap((rule, place) => {
    if (!rule.when) return []
    const tests = testsIn(rule.when.tree())
    // A pattern for all of a text says what may follow, too.
    const whole = new Set(tests.filter(isWhole).map(({ operand }) => textOf(operand, rule)))
    return tests.flatMap((test) => {
      const note = test.name === 'within' ? turnedNote(test, rule) : bareNote(test, rule, whole)
      return note ? [{ ...note, path: ['rules', place, 'when'] }] : []
    })
  })
}

type Said = Omit<RemarkNote, 'path'>

/** Whether the rule lets pass what the test is true of, or refuses what it is not true of. */
function permits({ holds }: ConditionSighting, { action }: Rule): boolean {
  return action === 'require' || (action === 'allow') === holds
}

function textOf({ start, end }: ASTNode, { when }: Rule): string {
  return when?.source.slice(start, end) ?? ''
}

function turnedNote(test: ConditionSighting, rule: Rule): Said | undefined {
  const kind = withinKindOf(test.receiver)
  if (permits(test, rule) || kind === undefined) return undefined
  return {
    code: 'WITHIN_TURNED',
    message: `rule \`${rule.id}\` ${rule.action === 'deny' ? 'denies what is' : 'allows what is not'} inside, and a ${kind} in a disguise is inside of nothing`,
    remedy: `say what may be used, and ${rule.action === 'deny' ? `deny the rest with \`!${kind}.within(…)\`` : `allow it with \`${kind}.within(…)\``}`,
  }
}

function bareNote(test: ConditionSighting, rule: Rule, whole: ReadonlySet<string>): Said | undefined {
  const part = partOf(test)
  const kind = part === undefined ? undefined : kindOf(test, part)
  const text = textOf(test.operand, rule)
  if (part === undefined || kind === undefined || whole.has(text)) return undefined
  return {
    code: 'PREFIX_BARE',
    message: `\`${test.name}\` looks at the letters of a ${kind}, and ${(permits(test, rule) ? MIMICKED : EVADED)[kind]}`,
    remedy: permits(test, rule)
      ? permitting(kind, text, part)
      : `say what may be used, with \`${kind}.within(…)\``,
  }
}

/** What a rule does not see that refuses by the letters. */
const EVADED: Readonly<Record<WithinKind, string>> = {
  path: '`/x/../notes/y` does not begin with `/notes/`',
  host: '`EXAMPLE.com` does not end with `example.com`',
  url: '`https://EXAMPLE.com/` does not begin with `https://example.com/`',
}

/** What passes a rule that allows by the letters. */
const MIMICKED: Readonly<Record<WithinKind, string>> = {
  path: '`/notes/../x` begins with `/notes/`',
  host: '`example.com.evil.test` begins with `example.com`, and `evilexample.com` ends with it',
  url: '`https://example.com.evil.test` begins with `https://example.com`',
}

function permitting(kind: WithinKind, operand: string, part: string): string {
  const base = baseOf(kind, part)
  if (base === undefined) return `write \`${kind}.within(${operand}, …)\` with what is meant`
  const more = kind === 'path' ? '' : ' and other spellings of the host'
  return `write \`${kind}.within(${operand}, ${JSON.stringify(base)})\`, which also holds for \`${base}\` itself${more}`
}

/** What a part of a text is meant to say; undefined if it is cut at an odd place. */
function baseOf(kind: WithinKind, part: string): string | undefined {
  const base = kind === 'host' ? part.replace(/^\./, '') : part.replace(/\/$/, '')
  return typeof parseWithin(kind, base) === 'string' ? undefined : base
}

/** The text that a test looks for at one end, or anywhere; undefined if it looks for something else. */
function partOf({ name, argument }: ConditionSighting): string | undefined {
  const literal = argument && literalOf(argument)
  if (typeof literal !== 'string') return undefined
  return name === 'matches' ? startOf(literal) : literal
}

/** The letters that every text of a pattern begins with; undefined for a pattern of whole texts, or of several. */
function startOf(pattern: string): string | undefined {
  if (/\$$|\\z$/.test(pattern) || pattern.includes('|')) return undefined
  const start = /^(?:\(\?i\))?\^((?:[\w/~: -]|\\[./-])+)(?:\.\*)?$/.exec(pattern)?.[1]
  return start?.replaceAll('\\', '')
}

function isWhole({ name, argument }: ConditionSighting): boolean {
  const literal = argument && literalOf(argument)
  return name === 'matches' && typeof literal === 'string' && /^(?:\(\?\w+\))?\^.*(?:\$|\\z)$/s.test(literal)
}

const WORDS: readonly (readonly [kind: WithinKind, words: RegExp])[] = [
  ['url', /^(?:urls?|uris?|links?|href|endpoint|webhook|callback)$/],
  ['host', /^(?:hosts?|hostname|domains?|server)$/],
  ['path', /^(?:paths?|files?|filename|filepath|dir|dirs|directory|directories|folders?|cwd)$/],
]

/** What an argument is, by its name or by what it is compared with; undefined where the test is harmless. */
function kindOf({ name, called }: ConditionSighting, part: string): WithinKind | undefined {
  const words = called
    .replaceAll(/([a-z0-9])([A-Z])/g, '$1 $2')
    .toLowerCase()
    .split(/[^a-z0-9]+/)
  const named = WORDS.find(([, list]) => words.some((word) => list.test(word)))?.[0]
  const isUrl = /^https?:\/\/./i.test(part)
  if (name === 'endsWith' || name === 'contains') {
    const isHost = /^\.?[a-z0-9-]+(?:\.[a-z0-9-]+)*\.[a-z]{2,}$/i.test(part)
    if (named === 'path')
      return name === 'contains' && /^[/~].*[^/.]/.test(part) && !part.includes('..') ? 'path' : undefined
    return isHost || isUrl ? named : undefined
  }
  if (isUrl) return 'url'
  if (named === 'url' || named === 'host') return named
  const isPath = /^(?:~?\/|\.\/|\w[\w.-]*\/)/.test(part)
  return named === 'path'
    ? isPath || /^\w/.test(part)
      ? 'path'
      : undefined
    : /^~?\/[\w.-]+\//.test(part)
      ? 'path'
      : undefined
}
