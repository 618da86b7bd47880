// `tollgate doctor`: checks the installation without changing it, and prints how to fix problems.

import { statSync } from 'node:fs'
import process from 'node:process'
import { readConfig, type Config } from '../../config/config.ts'
import { GatewayError } from '../../error.ts'
import type { DataOptions } from '../commands.ts'
import { dataOf } from '../program/connect.ts'
import { CHECKS, type DoctorFinding } from './doctor-checks.ts'
import { fitted } from '../program/fit.ts'
import { runnable } from '../program/runnable.ts'
import type { Terminal } from '../program/terminal.ts'

/** Runs every check. Returns 1 if one fails. */
export async function runDoctor(terminal: Terminal, options: DataOptions): Promise<number> {
  const findings: DoctorFinding[] = []
  const config = configOf(dataOf(options), findings)
  if (config) for (const [name, check] of CHECKS) findings.push(...(await guarded(name, () => check(config))))
  terminal.data({ ok: !findings.some(({ level }) => level === 'fail'), findings }, () =>
    format(findings, terminal),
  )
  return findings.some(({ level }) => level === 'fail') ? 1 : 0
}

function configOf(data: string, findings: DoctorFinding[]): Config | undefined {
  try {
    const config = readConfig(data)
    findings.push({
      level: 'ok',
      about: 'configuration',
      found: `\`${config.data}\`, ledger ${config.ledger}`,
    })
    findings.push(...modeOf(config.data))
    return config
  } catch (fault) {
    findings.push(failed('configuration', fault))
    return undefined
  }
}

function modeOf(data: string): readonly DoctorFinding[] {
  const mode = statSync(data).mode & 0o077
  if (process.platform === 'win32' || mode === 0) return []
  return [
    {
      level: 'warn',
      about: 'data directory',
      found: 'other users can read it',
      remedy: [`run \`chmod 700 ${data}\``],
    },
  ]
}

/** Runs one check. A check that throws is a failed check, and does not stop the others. */
async function guarded(
  name: string,
  check: () => Promise<readonly DoctorFinding[]>,
): Promise<readonly DoctorFinding[]> {
  try {
    return await check()
  } catch (fault) {
    return [failed(name, fault)]
  }
}

function failed(about: string, fault: unknown): DoctorFinding {
  const found = fault instanceof Error ? fault.message : String(fault)
  return { level: 'fail', about, found, remedy: fault instanceof GatewayError ? fault.hints : [] }
}

/** A line with its commands as the user's shell takes them, because only then is its width known. */
function line(text: string, indent: number): string {
  return fitted(runnable(text), indent, process.stdout.columns)
}

function format(findings: readonly DoctorFinding[], { paint }: Terminal): string {
  const levels = { ok: paint.green('ok  '), warn: paint.yellow('warn'), fail: paint.red('FAIL') }
  return findings
    .flatMap(({ level, about, found, remedy = [] }) => [
      line(`${levels[level]}  ${about.padEnd(16)} ${found}`, 23),
      ...remedy.map((each) => line(`${' '.repeat(22)} ${paint.cyan('→')} ${each}`, 25)),
    ])
    .join('\n')
}
