// The measures as aligned text.

import type { Way } from '../ways/trace.ts'
import type { Knot } from './graph.ts'
import { LIMITS, type Amount, type Core, type House } from './measure.ts'
import { isShipped } from './tree.ts'

/** How long the last `npm test` took, as `tools/run.mjs` left it. */
export interface LastTest {
  readonly seconds: number
  readonly steps: readonly { readonly name: string; readonly seconds: number }[]
}

/** What is printed. */
export interface Measured {
  readonly house: House
  readonly ways: ReadonlyMap<string, Way> | undefined
  readonly lastTest: LastTest | undefined
}

/** All measures; with `verbose`, also every name and place that is only counted otherwise. */
export function formatHouse({ house, ways, lastTest }: Measured, verbose: boolean): string {
  const parts = [
    ['rooms', rooms(house.rooms)],
    ['the trusted core: what `road/enforce.ts` needs to run, without the gates themselves', core(house.core)],
    ['the same with the gates', core(house.coreWithGates)],
    ['public names', surface(house, verbose)],
    ['type names in two or more files of a package', typeNames(house, verbose)],
    ['cycles of files', cycles(house.cycles.files, house.cycles.filesLater, verbose)],
    ['cycles of rooms', cycles(house.cycles.rooms, house.cycles.roomsLater, verbose)],
    ['unused exports', unused(house, verbose)],
    [`files over ${LIMITS.file} lines`, longFiles(house, verbose)],
    [`functions over ${LIMITS.function} lines`, longFunctions(house)],
    ['the ways', waysText(ways)],
    ['the last `npm test`', testText(lastTest)],
  ] as const
  return parts.map(([title, lines]) => [title, ...lines.map((line) => `  ${line}`)].join('\n')).join('\n\n')
}

function rooms(found: Readonly<Record<string, Amount>>): readonly string[] {
  const amounts = Object.values(found)
  const all = {
    files: amounts.reduce((sum, { files }) => sum + files, 0),
    lines: amounts.reduce((sum, { lines }) => sum + lines, 0),
  }
  return table(Object.entries({ ...found, all }).map(([room, { files, lines }]) => [room, files, lines]))
}

function core({ files, lines, rooms: inside }: Core): readonly string[] {
  return [
    `${files} files, ${lines} lines`,
    ...table(Object.entries(inside).map(([room, amount]) => [room, amount.files, amount.lines])),
  ]
}

function surface(house: House, verbose: boolean): readonly string[] {
  const entries = Object.entries(house.surface)
  return [
    ...table(entries.map(([entry, names]) => [entry, names.length])),
    ...(verbose ? entries.map(([entry, names]) => `${entry}: ${names.join(', ')}`) : []),
  ]
}

function typeNames({ typeNames: { all, shared } }: House, verbose: boolean): readonly string[] {
  const share = ((shared.length / Math.max(all, 1)) * 100).toFixed(1)
  const list = shared.map(
    ({ package: home, name, files }) => `${home} ${name}: ${files.map(short).join(' ')}`,
  )
  return [`${shared.length} of ${all} (${share} %)`, ...(verbose ? list.sort() : [])]
}

function cycles(knots: readonly Knot[], later: readonly Knot[], verbose: boolean): readonly string[] {
  const sizes = later.map(({ members }) => members.length)
  return [
    ...(knots.length === 0 ? ['none'] : knots.flatMap((knot) => knotLines(knot, verbose))),
    ...(sizes.length > 0 ? [`with imports that are loaded later: knots of ${sizes.join(', ')}`] : []),
  ]
}

function knotLines({ members, round, pairs }: Knot, verbose: boolean): readonly string[] {
  return [
    `a knot of ${members.length}: ${members.map(short).join(' ')}`,
    `  such as ${round.map(short).join(' ► ')}`,
    ...(verbose ? pairs.map(([a, b]) => `  ${short(a)} ◄► ${short(b)}`) : []),
  ]
}

function unused({ unused: { names, onlyTests } }: House, verbose: boolean): readonly string[] {
  const list = names.map(({ path, line, name }) => `${path}:${line} ${name}`)
  return [`${names.length}, and ${onlyTests.length} that only tests use`, ...(verbose ? list : [])]
}

function longFiles({ long: { files } }: House, verbose: boolean): readonly string[] {
  const shown = files.filter(({ path }) => verbose || isShipped(path))
  return [
    ...table(shown.map(({ path, lines }) => [path, lines])),
    `${files.filter(({ path }) => isShipped(path)).length} that ship, ${files.filter(({ path }) => !isShipped(path)).length} of tests, tools and measurements`,
  ]
}

function longFunctions({ long: { functions } }: House): readonly string[] {
  if (functions.length === 0) return ['none']
  return table(functions.map(({ path, line, name, lines }) => [`${path}:${line} ${name}`, lines]))
}

function waysText(ways: Measured['ways']): readonly string[] {
  if (!ways) return ['not measured, see `--ways`']
  return [...ways].flatMap(([name, { rooms: entered, hops, files, threads, parses }]) => {
    const times = Object.entries(parses).map(([parser, count]) => `${parser} ${count}`)
    return [
      `${name}: ${hops} hops, ${files} files, ${threads} threads; arguments: ${times.join(', ')}`,
      `  ${entered.join(' ► ')}`,
    ]
  })
}

function testText(last: LastTest | undefined): readonly string[] {
  if (!last) return ['not measured']
  return [
    `${last.seconds.toFixed(1)} s`,
    ...table(last.steps.map(({ name, seconds }) => [name, seconds.toFixed(1)])),
  ]
}

/** Rows with a name and then numbers: names to the left, numbers to the right. */
function table(rows: readonly (readonly [string, ...(number | string)[]])[]): readonly string[] {
  const width = Math.max(0, ...rows.map(([name]) => name.length))
  return rows.map(
    ([name, ...numbers]) => name.padEnd(width) + numbers.map((each) => String(each).padStart(8)).join(''),
  )
}

function short(path: string): string {
  return path.replace('packages/', '').replace('/src/', '/')
}
