// `tollgate policy check`: reports every mistake in a policy file, or warnings if it has none.

import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { parsePolicy, reviewPolicy, type Mistake, type Policy, type Remark } from '@tollgate/kernel/policy'
import type { Config } from '../../config/config.ts'
import { CONFIG_FILE } from '../../config/place.ts'
import type { DataOptions } from '../commands.ts'
import { dataOf } from '../program/connect.ts'
import { allowsAnything, inForceSentence, statusOn } from './policy-status.ts'
import { counted, shown } from '../program/table.ts'
import type { Terminal } from '../program/terminal.ts'
import { placed } from './policy-file.ts'

interface CheckOptions extends DataOptions {
  readonly strict?: boolean
}

/** Checks a policy file. Returns 1 for a mistake, and with `strict` also for a warning. */
export async function runCheck(terminal: Terminal, options: CheckOptions, file?: string): Promise<number> {
  const config = await configOf(terminal, options, file)
  const path = file ?? config?.policy ?? ''
  const parsed = parsePolicy(readFileSync(path, 'utf8'))
  if (!parsed.ok) return printMistakes(terminal, path, parsed.mistakes)
  const { policy } = parsed
  const remarks = reviewPolicy(policy, await knownTools(terminal, config))
  const ok = options.strict !== true || remarks.length === 0
  const { name, hash, tools, rules } = policy
  terminal.data(
    { ok, file: path, name, hash, tools: tools.length, rules: rules.length, remarks },
    remarks.map((remark) => remarkText(terminal, path, remark)).join('\n'),
  )
  printSummary(terminal, path, policy, remarks.length)
  if (file === undefined && config) await sayInForce(terminal, config)
  return ok ? 0 : 1
}

/** Returns the configuration of the data directory. A named file can also be checked without one. */
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
    warnUnknownTools(terminal, fault)
    return undefined
  }
}

function warnUnknownTools(terminal: Terminal, fault: unknown): void {
  const why = fault instanceof Error ? fault.message : String(fault)
  terminal.warn(`the check does not know the tools of your MCP servers: ${why}`)
}

/** Returns the pinned tools. They are in the ledger, so no gateway has to run. */
async function knownTools(terminal: Terminal, config: Config | undefined): Promise<readonly string[]> {
  if (!config) return []
  try {
    // Imported here, because opening a ledger takes longer than the rest of the check.
    const { openView } = await import('../../open-view.ts')
    const opened = await openView(config)
    try {
      const names = await opened.view.recordNames('pin\n')
      return names.map((name) => name.slice('pin\n'.length))
    } finally {
      await opened.close()
    }
  } catch (fault) {
    warnUnknownTools(terminal, fault)
    return []
  }
}

/** Says which policy is in force: the checked file can be another one. */
async function sayInForce(terminal: Terminal, config: Config): Promise<void> {
  const found = await statusOn(config).catch(() => undefined)
  // Without a ledger, `knownTools` has already warned.
  if (found) terminal.say(inForceSentence(found))
}

function printMistakes(terminal: Terminal, file: string, mistakes: readonly Mistake[]): number {
  terminal.data({ ok: false, file, mistakes }, () => placed(file, mistakes).join('\n'))
  return 1
}

function remarkText({ paint }: Terminal, file: string, { line, column, message, remedy }: Remark): string {
  return `${file}:${line}:${column}: ${paint.yellow('warning:')} ${shown(message)}\n  ${paint.cyan('→')} ${shown(remedy)}`
}

function printSummary(terminal: Terminal, file: string, policy: Policy, count: number): void {
  const { name, rules, tools } = policy
  const remarks = count === 0 ? 'no warnings' : counted(count, 'warning')
  terminal.say(
    `\`${file}\`: policy \`${name}\`, ${counted(rules.length, 'rule')}, ${counted(tools.length, 'tool')}; ${remarks}`,
  )
  if (!allowsAnything(policy))
    terminal.warn('the policy allows nothing', 'add a tool, and a rule that allows it')
}
