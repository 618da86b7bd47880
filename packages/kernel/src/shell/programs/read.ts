// Reads the arguments of a program as its row in the table says.

import { after, exactly, exactText, hasHole, mayBeOption, type Field } from '../script/field.ts'
import type { Argument, Effect, Option, Program, ValueUse } from './row.ts'

/** An argument, or the value of an option, with its use. */
export interface BoundValue {
  readonly use: ValueUse
  readonly field: Field
  /** The option that it is the value of. */
  readonly name?: string
}

/** The result of reading the arguments of a program. */
export interface ArgumentReading {
  readonly bound: readonly BoundValue[]
  /** The command of a wrapper such as `sudo`, or the subcommand of a program such as `git`, with its arguments. */
  readonly rest: readonly Field[]
  readonly effects: readonly Effect[]
  /** The names of the options that are given. */
  readonly given: ReadonlySet<string>
  /** Why the arguments are not understood. */
  readonly problems: readonly string[]
}

interface Progress {
  readonly bound: BoundValue[]
  readonly effects: Effect[]
  readonly given: Set<string>
  readonly positional: Field[]
  readonly problems: string[]
}

/** Reads arguments. `name` is the program, for reasons. */
export function readArguments(program: Program, fields: readonly Field[], name: string): ArgumentReading {
  const progress: Progress = { bound: [], effects: [], given: new Set(), positional: [], problems: [] }
  const rest = readFields(program, fields, name, progress)
  const { bound, effects, given, positional, problems } = progress
  const args = bindArguments(program, positional, given)
  const all = [...bound, ...args]
  return { bound: [...all, ...addedUses(program, args, given)], rest, effects, given, problems }
}

/** Reads options and arguments. Returns the fields from the first one that is a command. */
function readFields(
  program: Program,
  fields: readonly Field[],
  name: string,
  progress: Progress,
): readonly Field[] {
  const commandAt = program.commands ? 0 : program.args.findIndex(({ use }) => use === 'command')
  let isOpen = true
  for (let at = 0; at < fields.length; at++) {
    const field = fields[at] ?? exactly('')
    const { text } = field
    if (isOpen && program.until.has(text)) return []
    if (isOpen && text === '--' && exactText(field) !== undefined) isOpen = false
    else if (isOpen && text.startsWith('-') && text !== '-')
      at += readOption(program, field, fields.slice(at + 1, at + 3), name, progress)
    else {
      if (isOpen && program.isRisky && mayBeOption(field))
        progress.problems.push(`an argument of \`${name}\` may be an option`)
      if (progress.positional.length === commandAt) return fields.slice(at)
      progress.positional.push(field)
    }
    if (program.stops && (progress.positional.length > 0 || intersects(program.first, progress.given)))
      isOpen = false
  }
  return []
}

/** Reads one option. Returns how many further fields it takes. */
function readOption(
  program: Program,
  field: Field,
  next: readonly Field[],
  name: string,
  progress: Progress,
): number {
  const { text } = field
  const [long = ''] = /^--?[^=\0]+/.exec(text) ?? []
  const isLong = text.startsWith('--') || program.long || program.options.has(long)
  if (!isLong) return readShort(program, field, next, name, progress)
  const value = text[long.length] === '=' ? after(field, long.length + 1) : undefined
  if (text.length > long.length && !value)
    progress.problems.push(`an option of \`${name}\` is not known before it runs`)
  const found = optionsNamed(program, long)
  if (found.length === 0 && !program.other)
    progress.problems.push(`the option \`${shortened(long)}\` of \`${name}\` is not in the table`)
  progress.given.add(long)
  const taken = found.map((option) => use(option, long, value, next, progress))
  return Math.max(0, ...taken)
}

/** The option with this name, or those that the name abbreviates. */
function optionsNamed({ options }: Program, name: string): readonly (readonly [string, Option])[] {
  const exact = options.get(name)
  if (exact) return [[name, exact]]
  return name.startsWith('--') && name.length > 3
    ? [...options].filter(([each]) => each.startsWith(name))
    : []
}

function use(
  [known, option]: readonly [string, Option],
  name: string,
  value: Field | undefined,
  next: readonly Field[],
  { bound, effects, given, positional }: Progress,
): number {
  given.add(known).add(name)
  if (option.effect) effects.push(option.effect)
  if (option.use === undefined) return 0
  if (value || option.isAttached) {
    if (value) bound.push({ use: option.use, field: value, name: known })
    return 0
  }
  const field = next[option.isNamed ? 1 : 0]
  if (field) bound.push({ use: option.use, field, name: known })
  // A pattern can become several files, and only the first of them is the value.
  if (field?.isMany === true) positional.push(field)
  return option.isNamed ? 2 : 1
}

/** Reads a group of options of one letter, such as `-xzf FILE`. */
function readShort(
  program: Program,
  field: Field,
  next: readonly Field[],
  name: string,
  progress: Progress,
): number {
  const { text } = field
  if (/^-\d+$/.test(text) && program.other) return 0
  for (let at = 1; at < text.length; at++) {
    const letter = `-${text[at] ?? ''}`
    const option = program.options.get(letter)
    if (!option) {
      const isHole = hasHole(exactly(letter))
      if (isHole) progress.problems.push(`an option of \`${name}\` is not known before it runs`)
      else if (!program.other)
        progress.problems.push(`the option \`${letter}\` of \`${name}\` is not in the table`)
      progress.given.add(letter)
      continue
    }
    const value = at + 1 < text.length ? after(field, at + 1) : undefined
    if (option.use === undefined) use([letter, option], letter, undefined, [], progress)
    else return use([letter, option], letter, value, next, progress)
  }
  return 0
}

function shortened(name: string): string {
  return name.slice(0, 40)
}

/** Gives each argument its use. */
function bindArguments(
  program: Program,
  fields: readonly Field[],
  given: ReadonlySet<string>,
): readonly BoundValue[] {
  const args = program.args.filter((_, i) => {
    const isFirst = i === 0 && intersects(program.first, given)
    const isLast = i === program.args.length - 1 && intersects(program.last, given)
    return !isFirst && !isLast
  })
  const star = args.findIndex(({ repeats }) => repeats)
  const fixed = args.length - (star < 0 ? 0 : 1)
  const isUncertain =
    fields.some((field) => field.isMany && hasHole(field)) || (fields.length < fixed && star >= 0)
  if (fields.length === 0) return standards(args)
  // With an unknown number of arguments, each can be any of them.
  if (isUncertain) return fields.flatMap((field) => args.map(({ use: each }) => ({ use: each, field })))
  const tail = star < 0 ? [] : args.slice(star + 1)
  const bound = fields.flatMap((field, i) => {
    const fromEnd = fields.length - i
    const arg =
      star < 0 || i < star ? args[i] : fromEnd <= tail.length ? tail[tail.length - fromEnd] : args[star]
    // A pattern can become several files, the first of which come before the last argument.
    const before = field.isMany && star >= 0 && arg !== args[star] ? args[star] : undefined
    return [...(arg ? [{ use: arg.use, field }] : []), ...(before ? [{ use: before.use, field }] : [])]
  })
  return [...bound, ...standards(args.slice(fields.length))]
}

function standards(args: readonly Argument[]): readonly BoundValue[] {
  return args.flatMap(({ use: each, standard }) =>
    standard === undefined ? [] : [{ use: each, field: exactly(standard) }],
  )
}

function intersects(names: ReadonlySet<string>, given: ReadonlySet<string>): boolean {
  return [...given].some((name) => names.has(name))
}

function addedUses(
  { also }: Program,
  args: readonly BoundValue[],
  given: ReadonlySet<string>,
): readonly BoundValue[] {
  const files = args.filter(({ use: each }) => /^(?:read|write|edit)$/.test(each))
  return [...also]
    .filter(([name]) => given.has(name))
    .flatMap(([, added]) => files.map(({ field }) => ({ use: added, field })))
}
