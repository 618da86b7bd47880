// `tollgate mcp show`: shows the full definition of a tool or a server, with hidden characters made visible.

import type { Json, JsonObject } from '@tollgate/evidence'
import { visible } from '../../tools/hidden.ts'
import type { ListedServer, ShownTool } from '../../tools/listing.ts'
import { isList, isObject, originIn, serverPart, textOf } from '../../tools/offer.ts'
import type { GatewayOptions } from '../commands.ts'
import { withConnection, type Connection } from '../program/connect.ts'
import { findingLines, painted } from './list.ts'
import { definitionsOf, find, listingOf } from './names.ts'
import { pairs, shown, table } from '../program/table.ts'
import type { Colors, Terminal } from '../program/terminal.ts'

/** Shows a server or a tool. */
export async function runShow(terminal: Terminal, options: GatewayOptions, name = ''): Promise<number> {
  return withConnection(options, 'memory', async (connection) => {
    const { server, tools, isServer } = await find(connection, await listingOf(connection), name)
    const [only] = tools
    if (isServer || !only) return await showServer(terminal, connection, server)
    const tool = await definitionsOf(connection, only.tool)
    terminal.exact(tool, () => toolText(tool, terminal.paint))
    return 0
  })
}

async function showServer(terminal: Terminal, connection: Connection, server: ListedServer): Promise<number> {
  const faculty = server.tools.find(({ kind }) => kind === 'faculty')
  const described = faculty ? await definitionsOf(connection, faculty.tool) : undefined
  const definition = described?.offered_definition ?? described?.pinned_definition ?? null
  terminal.exact({ ...server, definition }, () => serverText(server, definition, terminal.paint))
  if (!terminal.json) terminal.say('show one tool with `tollgate mcp show SERVER/TOOL`')
  if (server.more > 0) terminal.warn(`${server.more} more tools are not listed`)
  return 0
}

function serverText(server: ListedServer, definition: JsonObject | null, paint: Colors): string {
  const rows = server.tools.map((each) => [shown(each.tool), painted(each, paint)])
  const findings = [...server.findings, ...server.tools.flatMap((each) => each.findings)]
  const origin = definition ? originIn({ content: definition }) : undefined
  return [
    ...(origin === undefined ? [] : [pairs([['from', shown(origin)]]), '']),
    ...(definition ? fieldLines(serverPart({ content: definition })) : []),
    ...(findings.length > 0 ? ['findings:', ...findingLines(findings, paint), ''] : []),
    table(['TOOL', 'STATE'], rows),
  ].join('\n')
}

const STATE_TEXTS = {
  pinned: 'pinned: a person approved exactly this definition',
  new: 'new: not approved, so calls are blocked',
  changed: 'changed since it was approved: every call is denied',
  gone: 'gone: approved, but no server offers it now',
} as const

/** Formats a tool completely. */
export function toolText(tool: ShownTool, paint: Colors): string {
  const { state, offered, pinned, findings, diff } = tool
  const definition = tool.offered_definition ?? tool.pinned_definition
  const origin = definition ? originIn({ content: definition }) : undefined
  return [
    pairs([
      ['tool', paint.bold(shown(tool.tool))],
      ['state', STATE_TEXTS[state]],
      ...(origin === undefined ? [] : [['from', shown(origin)] as const]),
      ...(offered === null ? [] : [['offered', offered] as const]),
      ...(pinned === null ? [] : [['pinned', pinned] as const]),
    ]),
    '',
    ...(findings.length > 0 ? ['findings:', ...findingLines(findings, paint), ''] : []),
    ...(diff.length > 0 ? ['changed since it was approved:', ...diffLines(diff, paint), ''] : []),
    ...(definition ? fieldLines(serverPart({ content: definition })) : []),
  ]
    .join('\n')
    .trimEnd()
}

/** Colours a diff. */
export function diffLines(diff: readonly string[], paint: Colors): readonly string[] {
  return diff.map((line) => {
    const mark = line.trimStart().charAt(0)
    const safe = `  ${shown(line)}`
    return mark === '+' ? paint.green(safe) : mark === '-' ? paint.red(safe) : safe
  })
}

/** Formats all fields of a definition: texts as text, the others as JSON. */
function fieldLines(content: JsonObject): readonly string[] {
  const texts = ['name', 'title', 'description', 'instructions'].filter(
    (name) => textOf(content, name) !== '',
  )
  const others = Object.keys(content).filter((name) => !texts.includes(name) && content[name] !== null)
  return [
    ...texts.flatMap((name) => [`${name}:`, ...linesOf(textOf(content, name)), '']),
    ...others.flatMap((name) => [`${visible(name)}:`, ...jsonLines(content[name] ?? null), '']),
  ]
}

function linesOf(text: string): readonly string[] {
  return text.split('\n').map((line) => `  ${visible(line)}`)
}

function jsonLines(value: Json): readonly string[] {
  const text = isObject(value) || isList(value) ? JSON.stringify(value, null, 2) : JSON.stringify(value)
  return linesOf(text)
}
