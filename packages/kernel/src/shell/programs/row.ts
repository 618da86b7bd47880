// How the table describes a program, and how its short notation is read.
//
// `options` lists names, separated by commas. After the names: `=USE` (a value), `==USE` (a name and a value), `?USE` (a value that is only ever attached), `!EFFECT`
// (no value, but an effect). A name alone changes nothing of importance. `args` lists the uses of the arguments in order; `*` marks
// the one that repeats, and `:TEXT` gives what it is if it is left out. `does` lists effects that every call has.

/** The uses of a value. */
const USES = [
  'text',
  'read',
  'write',
  'delete',
  'edit',
  'move',
  'script',
  'code',
  'module',
  'shell',
  'command',
  'host',
  'url',
  'from',
  'to',
  'install',
  'push',
  'remote',
  'publish',
  'kill',
  'secret',
  'chdir',
  'data',
  'setting',
  'volume',
  'object',
] as const
/** The use of a value. */
export type ValueUse = (typeof USES)[number]

/** A program, or a subcommand of one, as the table describes it. */
export interface Row {
  readonly options?: string
  readonly args?: string
  readonly does?: string
  /** Options that replace the first argument. */
  readonly first?: string
  /** Options that replace the last argument. */
  readonly last?: string
  /** A use that options add to each file among the arguments, as `-i=write`. */
  readonly also?: string
  /** Options that are not listed change nothing of importance, and their values, if any, are harmless as arguments. */
  readonly other?: boolean
  /** Options end at the first argument, or at an option that replaces it. */
  readonly stops?: boolean
  /** Options after which everything is a command. */
  readonly until?: string
  /** Long options have one `-`, and short ones are not combined. */
  readonly long?: boolean
  /** The row of every other subcommand, such as the scripts of `yarn`. */
  readonly otherwise?: Row
  readonly commands?: Readonly<Record<string, Row>>
}

/** Programs by name. */
export type ProgramTable = Readonly<Record<string, Row>>

/** An effect that does not depend on an argument. */
export interface Effect {
  readonly name: string
  readonly value: string | undefined
}

/** An option of a program. */
export interface Option {
  readonly use: ValueUse | undefined
  /** The value is only ever attached. */
  readonly isAttached: boolean
  /** A name comes before the value. */
  readonly isNamed: boolean
  readonly effect: Effect | undefined
}

/** An argument of a program. */
export interface Argument {
  readonly use: ValueUse
  readonly repeats: boolean
  readonly standard: string | undefined
}

/** A row in the form in which it is used. */
export interface Program {
  readonly options: ReadonlyMap<string, Option>
  readonly args: readonly Argument[]
  readonly does: readonly Effect[]
  readonly first: ReadonlySet<string>
  readonly last: ReadonlySet<string>
  readonly also: ReadonlyMap<string, ValueUse>
  readonly other: boolean
  readonly long: boolean
  readonly stops: boolean
  readonly until: ReadonlySet<string>
  readonly commands: ProgramTable | undefined
  readonly otherwise: Row | undefined
  /** An option that nothing in the command shows could do harm. */
  readonly isRisky: boolean
}

const read = new WeakMap<Row, Program>()

/** Returns a row in the form in which it is used. @throws TypeError if the row is not valid. */
export function programOf(row: Row): Program {
  const known = read.get(row)
  if (known) return known
  const program = parseRow(row)
  read.set(row, program)
  return program
}

function parseRow({
  options = '',
  args = 'text*',
  does = '',
  first = '',
  last = '',
  also = '',
  ...row
}: Row): Program {
  const parsed = new Map(wordsIn(options).flatMap(parseOption))
  const other = row.other === true
  // Such a program has a gap in its facts anyway.
  const runsCode = wordsIn(does).includes('code')
  return {
    options: parsed,
    args: wordsIn(args).map(parseArgument),
    does: wordsIn(does).map(parseEffect),
    first: new Set(first.split(/[ ,]+/)),
    last: new Set(last.split(/[ ,]+/)),
    also: new Map(
      wordsIn(also)
        .map((word) => splitAt(word, '='))
        .map(([name, use]) => [name, useOf(use)]),
    ),
    other,
    long: row.long === true,
    stops: row.stops === true,
    until: new Set(row.until?.split(' ')),
    commands: row.commands,
    otherwise: row.otherwise,
    isRisky: !runsCode && (!other || [...parsed.values()].some(isHarmful)),
  }
}

/** A file that an option writes is no reason: an argument that is not known is a path that is not known either. */
function isHarmful({ use, effect }: Option): boolean {
  const isFile = use !== undefined && /^(?:text|read|write|edit|move|from|to|chdir|data)$/.test(use)
  return (use !== undefined && !isFile) || (effect !== undefined && effect.name !== 'stop')
}

function wordsIn(text: string): readonly string[] {
  return text.split(/\s+/).filter((word) => word !== '')
}

function parseOption(word: string): readonly (readonly [string, Option])[] {
  const [, names = '', mark, rest = ''] = /^([^=?!]+)(?:(==?|[?!])(.*))?$/.exec(word) ?? []
  const option = {
    use: mark !== undefined && mark !== '!' ? useOf(rest === '' ? 'text' : rest) : undefined,
    isAttached: mark === '?',
    isNamed: mark === '==',
    effect: mark === '!' ? parseEffect(rest) : undefined,
  }
  return names.split(',').map((name) => [name, option])
}

function parseArgument(word: string): Argument {
  const [before, standard] = splitAt(word, ':')
  const repeats = before.endsWith('*')
  return {
    use: useOf(repeats ? before.slice(0, -1) : before),
    repeats,
    standard: word.includes(':') ? standard : undefined,
  }
}

function parseEffect(word: string): Effect {
  const [name, value] = splitAt(word, ':')
  return { name, value: word.includes(':') ? value : undefined }
}

function splitAt(word: string, mark: string): readonly [string, string] {
  const at = word.indexOf(mark)
  return at < 0 ? [word, ''] : [word.slice(0, at), word.slice(at + 1)]
}

function useOf(word: string): ValueUse {
  const use = USES.find((each) => each === word)
  if (use) return use
  throw new TypeError(`the table has an unknown use \`${word}\``)
}
