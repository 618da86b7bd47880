// The facts of a command as one line of text, as in the tables of commands.

import type { CommandFacts } from '../../src/shell/facts.ts'
import { readCommand } from '../../src/shell/command.ts'

/** Where the commands of the tables start. */
export const PLACE = { cwd: '/proj', project: '/proj', home: '/home/dev' } as const

const LISTS = {
  hosts: 'hosts',
  secrets: 'secrets',
  installs: 'installs',
  publishes: 'publishes',
  pushes: 'pushes',
  kills: 'kills',
  runs_other_code: 'code',
  unknown_programs: 'strange',
} as const

/** Returns the facts of a command as one line, without the programs. A path of the project is relative, and one with `?` is unknown. */
export function factsLine(command: string): string {
  return lineOf(readCommand(command, { cwd: PLACE.cwd, home: PLACE.home }))
}

function lineOf(facts: CommandFacts): string {
  const paths = (['reads', 'writes', 'deletes'] as const).map(
    (use) => [use, facts.paths.filter((path) => path.use === use).map(pathText)] as const,
  )
  const lists = Object.entries(LISTS).map(
    // Sound: the keys of the table are names of facts that are lists of texts.
    ([name, short]) => [short, facts[name as keyof typeof LISTS]] as const,
  )
  const said = [...paths, ...lists].filter(([, items]) => items.length > 0)
  const flags = (['privileged', 'background'] as const).filter((name) => facts[name])
  const unknown = facts.unknown.length > 0 ? ['unknown'] : []
  return [
    ...said.map(([name, items]) => `${name}=${[...items].sort().join(',')}`),
    ...flags,
    ...unknown,
  ].join(' ')
}

function pathText({ path, kind }: CommandFacts['paths'][number]): string {
  const plain = path.replaceAll('/./', '/').replaceAll('$…', '?')
  const short = plain.replace(/^\/proj(?:\/|$)/, '').replace(/^\/home\/dev(?=\/|$)/, '~')
  return (short === '' ? '.' : short) + (kind === 'unknown' && !plain.includes('?') ? '?' : '')
}
