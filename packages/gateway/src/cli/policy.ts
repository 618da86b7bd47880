// `tollgate policy`: reading the policy file, and putting it in force.

import { readFileSync } from 'node:fs'
import { parsePolicy } from '@tollgate/kernel'
import { readConfig } from '../config.ts'
import type { DataOptions, GatewayOptions } from './commands.ts'
import { ask } from './ask.ts'
import { connect, dataOf } from './connect.ts'
import { allowsAnything } from './standing.ts'
import { CommandError, type Terminal } from './terminal.ts'

/** Reads a policy file and tells every mistake; 1 if there is one. */
export function runCheck(terminal: Terminal, options: DataOptions, file?: string): Promise<number> {
  const path = file ?? readConfig(dataOf(options)).policy
  const parsed = parsePolicy(readFileSync(path, 'utf8'))
  if (!parsed.ok) {
    const { mistakes } = parsed
    terminal.data({ ok: false, file: path, mistakes }, () =>
      mistakes.map(({ line, column, message }) => `${path}:${line}:${column}: ${message}`).join('\n'),
    )
    return Promise.resolve(1)
  }
  const { name, hash, tools, rules } = parsed.policy
  const facts = { ok: true, file: path, name, hash, tools: tools.length, rules: rules.length }
  terminal.data(facts, `${path}: \`${name}\` is a policy of ${rules.length} rules on ${tools.length} tools`)
  if (!allowsAnything(parsed.policy))
    terminal.warn('it lets nothing pass', 'add a tool, and a rule that allows it')
  return Promise.resolve(0)
}

/** Puts a policy file in force. One with mistakes changes nothing. */
export async function runActivate(
  terminal: Terminal,
  options: GatewayOptions,
  file?: string,
): Promise<number> {
  const path = file ?? readConfig(dataOf(options)).policy
  const text = readFileSync(path, 'utf8')
  const parsed = parsePolicy(text)
  if (!parsed.ok) {
    throw new CommandError(
      `\`${path}\` has mistakes; the policy in force stays`,
      ...parsed.mistakes.map(({ line, column, message }) => `${path}:${line}:${column}: ${message}`),
    )
  }
  const connection = await connect(options, 'write')
  try {
    const said = await ask<{ readonly receipt: string; readonly name: string; readonly hash: string }>(
      connection,
      '/v1/policy',
      { text },
    )
    terminal.data(said, said.receipt)
    terminal.say(`\`${said.name}\` (${said.hash.slice(0, 8)}) is in force from now on`)
    if (!allowsAnything(parsed.policy)) terminal.warn('it lets nothing pass')
    return 0
  } finally {
    await connection.close()
  }
}
