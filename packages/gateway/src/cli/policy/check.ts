// `tollgate policy check`: every mistake in a policy file; and in one without mistakes, what is hardly meant so.

import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { parsePolicy, reviewPolicy, type Mistake, type Policy, type Remark } from '@tollgate/kernel/policy'
import type { Config } from '../../config/config.ts'
import { CONFIG_FILE } from '../../config/place.ts'
import type { DataOptions } from '../commands.ts'
import { dataOf } from '../program/connect.ts'
import { allowsAnything } from './standing.ts'
import { shown } from '../program/table.ts'
import type { Terminal } from '../program/terminal.ts'
import { placed } from './policy-file.ts'

interface CheckOptions extends DataOptions {
  readonly strict?: boolean
}

/** Reads a policy file and tells every mistake, or else every remark; 1 if there is a mistake, or with `strict` a remark. */
export async function runCheck(terminal: Terminal, options: CheckOptions, file?: string): Promise<number> {
  const config = await configOf(terminal, options, file)
  const path = file ?? config?.policy ?? ''
  const parsed = parsePolicy(readFileSync(path, 'utf8'))
  if (!parsed.ok) return tellMistakes(terminal, path, parsed.mistakes)
  const { policy } = parsed
  const remarks = reviewPolicy(policy, await knownTools(terminal, config))
  const ok = options.strict !== true || remarks.length === 0
  const { name, hash, tools, rules } = policy
  terminal.data(
    { ok, file: path, name, hash, tools: tools.length, rules: rules.length, remarks },
    remarks.map((remark) => remarkText(terminal, path, remark)).join('\n'),
  )
  tellSummary(terminal, path, policy, remarks.length)
  return ok ? 0 : 1
}

/** How the gateway of the data directory runs. A file that was named can also be checked without one. */
async function configOf(
  terminal: Terminal,
  options: DataOptions,
  file: string | undefined,
): Promise<Config | undefined> {
  const data = dataOf(options)
  if (file !== undefined && !existsSync(join(data, CONFIG_FILE))) return undefined
  const { readConfig } = await import('../../config/config.ts')
  if (file === undefined) return readConfig(data)
  try {
    return readConfig(data)
  } catch (fault) {
    warnOfUnknown(terminal, fault)
    return undefined
  }
}

function warnOfUnknown(terminal: Terminal, fault: unknown): void {
  const why = fault instanceof Error ? fault.message : String(fault)
  terminal.warn(`the tools that servers offer are not known here: ${why}`)
}

/** The tools that people have pinned: the ledger knows them, whether or not a gateway runs. */
async function knownTools(terminal: Terminal, config: Config | undefined): Promise<readonly string[]> {
  if (!config) return []
  try {
    // Only here: opening a ledger takes longer than all the rest.
    const { openView } = await import('../../open-view.ts')
    const opened = await openView(config)
    try {
      const names = await opened.view.recordNames('pin\n')
      return names.map((name) => name.slice('pin\n'.length))
    } finally {
      await opened.close()
    }
  } catch (fault) {
    warnOfUnknown(terminal, fault)
    return []
  }
}

function tellMistakes(terminal: Terminal, file: string, mistakes: readonly Mistake[]): number {
  terminal.data({ ok: false, file, mistakes }, () => placed(file, mistakes).join('\n'))
  return 1
}

function remarkText({ paint }: Terminal, file: string, { line, column, message, remedy }: Remark): string {
  return `${file}:${line}:${column}: ${paint.yellow('warning:')} ${shown(message)}\n  ${paint.cyan('→')} ${shown(remedy)}`
}

function tellSummary(terminal: Terminal, file: string, policy: Policy, count: number): void {
  const { name, rules, tools } = policy
  const remarks = count === 0 ? 'no remarks' : count === 1 ? '1 remark' : `${count} remarks`
  terminal.say(
    `\`${file}\`: \`${name}\` is a policy of ${rules.length} rules on ${tools.length} tools; ${remarks}`,
  )
  if (!allowsAnything(policy)) terminal.warn('it lets nothing pass', 'add a tool, and a rule that allows it')
}
