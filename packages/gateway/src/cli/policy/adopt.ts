// Makes an activated file the policy file of the data directory: by a copy, or by its path in `tollgate.yaml`. Otherwise the next
// `policy activate` would put the old file in force.

import {
  copyFileSync,
  existsSync,
  readFileSync,
  realpathSync,
  renameSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { join, resolve } from 'node:path'
import process from 'node:process'
import { sha256Hex } from '@tollgate/evidence/core'
import { CONFIG_FILE, readConfig, type Config } from '../../config/config.ts'
import { answerTo, canAsk } from '../program/confirm.ts'
import { readIfThere } from '../program/connect.ts'
import { CommandError, UsageError, type Terminal } from '../program/terminal.ts'

/** The way to treat a file that is not the policy file. `leave` changes nothing. */
type Adoption = 'copy' | 'remember' | 'leave'

export interface AdoptOptions {
  readonly copy?: boolean
  readonly remember?: boolean
}

/** Returns what to do with `file`. Asks on a terminal, unless an option says it. @throws UsageError for both options. */
export async function adoptionOf(config: Config, file: string, options: AdoptOptions): Promise<Adoption> {
  if (options.copy === true && options.remember === true) {
    throw new UsageError('`--copy` and `--remember` exclude each other', 'give one of them')
  }
  if (isSame(config.policy, file)) return 'leave'
  if (options.copy === true) return 'copy'
  if (options.remember === true) return 'remember'
  if (!canAsk()) return 'leave'
  const answer = await answerTo(
    `\`${file}\` is not the policy file \`${config.policy}\`: copy it there, remember its path, or leave both as they are? [copy/remember/LEAVE] `,
  )
  return /^c(opy)?$/i.test(answer) ? 'copy' : /^r(emember)?$/i.test(answer) ? 'remember' : 'leave'
}

/** Whether both names lead to the same file, also through links. */
function isSame(a: string, b: string): boolean {
  try {
    return realpathSync(a) === realpathSync(b)
  } catch {
    return resolve(a) === resolve(b)
  }
}

/** Adopts a file whose policy is in force. Keeps a replaced file under another name. */
export function adopt(terminal: Terminal, config: Config, file: string, how: Adoption, text: string): void {
  if (how === 'copy') copyTo(terminal, config.policy, file, text)
  else if (how === 'remember') remember(terminal, config, resolve(file))
  else if (!isSame(config.policy, file)) {
    terminal.warn(
      `\`${config.policy}\` is still the policy file: \`tollgate policy activate\` without a file puts that one in force`,
      'use `--copy` to copy the activated file there, or `--remember` to use its path',
    )
  }
}

/** Copies the policy, and its cases if it has some: the cases of the replaced policy do not fit. */
function copyTo(terminal: Terminal, target: string, file: string, text: string): void {
  replacePolicyFile(terminal, target, text)
  terminal.say(`copied \`${file}\` to \`${target}\`; change the policy there`)
  const [from, to] = [casesOf(file), casesOf(target)]
  if (from === undefined || to === undefined) return
  if (!existsSync(from)) {
    if (existsSync(to)) terminal.warn(`\`${to}\` still has the test cases of the previous policy`)
    return
  }
  replacePolicyFile(terminal, to, readFileSync(from, 'utf8'))
  terminal.say(`copied the test cases to \`${to}\``)
}

function casesOf(file: string): string | undefined {
  return file.endsWith('.yaml') ? file.replace(/\.yaml$/, '.test.yaml') : undefined
}

/** Writes a file in one step, and keeps what was there under a name with its hash. */
export function replacePolicyFile(terminal: Terminal, target: string, text: string): void {
  const before = readIfThere(target)
  if (before === text) return
  if (before !== undefined) {
    const kept = `${target}.${sha256Hex(before.toWellFormed()).slice(0, 8)}`
    copyFileSync(target, kept)
    terminal.say(`kept the previous \`${target}\` as \`${kept}\``)
  }
  write(target, text, 0o600)
}

function write(target: string, text: string, mode: number): void {
  const beside = `${target}.${process.pid}`
  writeFileSync(beside, text, { mode, flush: true })
  renameSync(beside, target)
}

/** Sets `policy` in `tollgate.yaml`. Comments and all other lines stay. */
function remember(terminal: Terminal, { data }: Config, path: string): void {
  const file = join(data, CONFIG_FILE)
  const before = readFileSync(file, 'utf8')
  // JSON strings are valid in YAML.
  const line = `policy: ${JSON.stringify(path)}`
  const after = /^policy:.*$/m.test(before)
    ? before.replace(/^policy:.*$/m, () => line)
    : `${before.replace(/\n*$/, '\n')}${line}\n`
  const mode = statSync(file).mode & 0o777
  write(file, after, mode)
  if (!isRemembered(data, path)) {
    write(file, before, mode)
    throw new CommandError(`\`${file}\` could not be changed`, `write \`${line}\` into it`)
  }
  terminal.say(`\`${file}\` now names \`${path}\` as the policy file`)
  terminal.say('a gateway that runs uses the new path after a restart')
}

function isRemembered(data: string, path: string): boolean {
  try {
    return readConfig(data).policy === path
  } catch {
    return false
  }
}
