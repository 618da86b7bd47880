// Reads the tables of calls: a developer's day, and calls that must not pass. Each line is one call in the form of Claude Code.

import { readFileSync } from 'node:fs'
import type { JsonObject } from '@tollgate/evidence'

/** A line of a table. */
export type Line =
  | { readonly is: 'session'; readonly project: string }
  | { readonly is: 'user'; readonly text: string }
  | {
      readonly is: 'call'
      readonly text: string
      /** The verdict that the table names; undefined if it names none. */
      readonly expects: 'ESCALATE' | 'DENY' | undefined
      readonly tool: string
      readonly args: JsonObject
      readonly output: string
    }

/** The places that the tables name. */
export interface Places {
  readonly project: string
  readonly home: string
}

/** Reads a table. `places` gives the directories of a session. */
export function readDay(name: string, places: (project: string) => Places): readonly Line[] {
  const lines: Line[] = []
  let at = places('')
  for (const line of readFileSync(new URL(name, import.meta.url), 'utf8').split('\n')) {
    const last = lines.at(-1)
    if (line === '' || line.startsWith('#')) continue
    const [word, rest] = split(line)
    if (word === '>' && last?.is === 'call')
      lines[lines.length - 1] = { ...last, output: joined(last.output, rest) }
    else if (word === 'session') {
      at = places(rest)
      lines.push({ is: 'session', project: rest })
    } else if (word === 'user') lines.push({ is: 'user', text: rest })
    else
      lines.push(Object.hasOwn(EXPECTS, word) ? callIn(rest, EXPECTS[word], at) : callIn(line, undefined, at))
  }
  return lines
}

const EXPECTS: Readonly<Record<string, 'ESCALATE' | 'DENY'>> = { ask: 'ESCALATE', deny: 'DENY' }

function joined(before: string, line: string): string {
  return before === '' ? line : `${before}\n${line}`
}

function split(text: string): readonly [string, string] {
  const at = text.indexOf(' ')
  return at < 0 ? [text, ''] : [text.slice(0, at), text.slice(at + 1)]
}

function callIn(text: string, expects: 'ESCALATE' | 'DENY' | undefined, { project, home }: Places): Line {
  const [word, named] = split(text)
  const rest = named.replaceAll('⏎', '\n').replaceAll('{p}', project).replaceAll('{h}', home)
  const call = argsOf(word, rest, project)
  if (!call) throw new Error(`no tool: ${text}`)
  return { is: 'call', text, expects, ...call, output: '' }
}

function argsOf(
  word: string,
  rest: string,
  project: string,
): { readonly tool: string; readonly args: JsonObject } | undefined {
  const file_path = /^[/~]/.test(rest) ? rest : `${project}/${rest}`
  const [first, second] = split(rest)
  switch (word) {
    case '$':
      return { tool: 'Bash', args: { command: rest, description: 'Runs a command' } }
    case 'read':
      return { tool: 'Read', args: { file_path } }
    case 'write':
      return { tool: 'Write', args: { file_path, content: CODE } }
    case 'edit':
      return { tool: 'Edit', args: { file_path, old_string: 'const limit = 10', new_string: CODE } }
    case 'grep':
      return {
        tool: 'Grep',
        args: { pattern: first, output_mode: 'content', ...(second !== '' && { path: second }) },
      }
    case 'grepglob':
      return { tool: 'Grep', args: { pattern: second, glob: first, output_mode: 'content' } }
    case 'glob':
      return { tool: 'Glob', args: { pattern: rest } }
    case 'fetch':
      return { tool: 'WebFetch', args: { url: rest, prompt: 'Summarise the page' } }
    case 'web':
      return { tool: 'WebSearch', args: { query: rest } }
    case 'tool':
      return { tool: first, args: {} }
    default:
      return undefined
  }
}

/** What is written: code with an address and a template, as code has them. */
const CODE = `
export async function search(query: string): Promise<Item[]> {
  const response = await fetch(\`https://api.shop.example/items?q=\${query}\`)
  if (!response.ok) throw new Error(\`status \${response.status}\`)
  return await response.json() // ../../items.json has an example
}
`
