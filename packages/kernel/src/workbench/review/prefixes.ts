// Finds conditions that compare paths, hostnames and URLs by prefix or suffix: `/notes/../x` begins with `/notes/`.
//
// It also finds inverted uses of `within`: an ambiguous text is inside nothing, so a rule that denies what is inside misses it.

import type { ASTNode } from '@marcbachmann/cel-js'
import { parseWithin, withinKindOf, type WithinKind } from '../../policy/cel/within.ts'
import type { Policy, Rule } from '../../policy/parse/parse.ts'
import type { RemarkNote } from './remark.ts'
import { literalOf } from './constraint.ts'
import { testsIn, type ConditionSighting } from './sightings.ts'

/** Returns remarks on the conditions of all rules. */
export function prefixNotes({ rules }: Policy): readonly RemarkNote[] {
  return rules.flatMap((rule, place) => {
    if (!rule.when) return []
    const tests = testsIn(rule.when.tree())
    // A pattern for the whole text also limits the rest.
    const whole = new Set(tests.filter(isWhole).map(({ operand }) => textOf(operand, rule)))
    return tests.flatMap((test) => {
      const note = test.name === 'within' ? turnedNote(test, rule) : bareNote(test, rule, whole)
      return note ? [{ ...note, path: ['rules', place, 'when'] }] : []
    })
  })
}

type Unplaced = Omit<RemarkNote, 'path'>

/** Returns whether the rule allows texts that pass the test, or denies texts that do not. */
function permits({ holds }: ConditionSighting, { action }: Rule): boolean {
  return action === 'require' || (action === 'allow') === holds
}

function textOf({ start, end }: ASTNode, { when }: Rule): string {
  return when?.source.slice(start, end) ?? ''
}

function turnedNote(test: ConditionSighting, rule: Rule): Unplaced | undefined {
  const kind = withinKindOf(test.receiver)
  if (permits(test, rule) || kind === undefined) return undefined
  return {
    code: 'WITHIN_TURNED',
    message: `rule \`${rule.id}\` ${rule.action === 'deny' ? 'denies what is' : 'allows what is not'} inside, but a disguised ${kind} counts as outside and is ${rule.action === 'deny' ? 'not denied' : 'allowed'}`,
    remedy:
      rule.action === 'deny'
        ? `deny everything outside the allowed ${kind}s with \`!${kind}.within(…)\``
        : `allow only what is inside the allowed ${kind}s with \`${kind}.within(…)\``,
  }
}

function bareNote(test: ConditionSighting, rule: Rule, whole: ReadonlySet<string>): Unplaced | undefined {
  const part = partOf(test)
  const kind = part === undefined ? undefined : kindOf(test, part)
  const text = textOf(test.operand, rule)
  if (part === undefined || kind === undefined || whole.has(text)) return undefined
  return {
    code: 'PREFIX_BARE',
    message: `\`${test.name}\` compares only characters of a ${kind}: ${(permits(test, rule) ? MIMICKED : EVADED)[kind]}`,
    remedy: permits(test, rule)
      ? permitting(kind, text, part)
      : `list what is allowed instead, with \`${kind}.within(…)\``,
  }
}

/** Texts that a rule misses if it denies by prefix or suffix. */
const EVADED: Readonly<Record<WithinKind, string>> = {
  path: '`/x/../notes/y` does not begin with `/notes/`',
  host: '`EXAMPLE.com` does not end with `example.com`',
  url: '`https://EXAMPLE.com/` does not begin with `https://example.com/`',
}

/** Texts that pass a rule that allows by prefix or suffix. */
const MIMICKED: Readonly<Record<WithinKind, string>> = {
  path: '`/notes/../x` begins with `/notes/`',
  host: '`example.com.evil.test` begins with `example.com`, and `evilexample.com` ends with it',
  url: '`https://example.com.evil.test` begins with `https://example.com`',
}

function permitting(kind: WithinKind, operand: string, part: string): string {
  const base = baseOf(kind, part)
  if (base === undefined) return `write \`${kind}.within(${operand}, …)\` with the intended ${kind}`
  const more = kind === 'path' ? '' : ' and other spellings of the hostname'
  return `write \`${kind}.within(${operand}, ${JSON.stringify(base)})\`, which also matches \`${base}\` itself${more}`
}

/** Returns the base for `within`; undefined if the part is cut at an odd place. */
function baseOf(kind: WithinKind, part: string): string | undefined {
  const base = kind === 'host' ? part.replace(/^\./, '') : part.replace(/\/$/, '')
  return typeof parseWithin(kind, base) === 'string' ? undefined : base
}

/** Returns the text that a test searches for; undefined if it searches for something else. */
function partOf({ name, argument }: ConditionSighting): string | undefined {
  const literal = argument && literalOf(argument)
  if (typeof literal !== 'string') return undefined
  return name === 'matches' ? startOf(literal) : literal
}

/** Returns the fixed prefix of a pattern; undefined for a pattern of whole texts or with alternatives. */
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

/** Returns the kind of an argument, by its name or its literal; undefined if the test is harmless. */
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
