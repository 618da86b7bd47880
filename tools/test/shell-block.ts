// Reads the lines that a document gives to a shell, and checks each command against what exists. Runs none of them.

import { spawnSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { problemOf, shellWords } from '../../packages/gateway/test/cli/command-lines.ts'
import { LLM_ROUTES } from '../../packages/gateway/src/llm/routes.ts'
import { bodyProblem, routeProblem } from './api-body.ts'
import { ROOT } from './fresh-copy.ts'

/** Splits a block into its commands: without notes and redirections, with those inside of `$(…)`. */
export function commandsIn(text: string): readonly string[] {
  const inner = [...text.matchAll(/\$\(([^()]*)\)/g)].map(([, command = '']) => command)
  const plain = text.replaceAll(/ *\\\n */g, ' ').replaceAll(/\$\([^()]*\)/g, 'X')
  const parts = plain.split('\n').flatMap((line) => {
    // A quoted text may contain everything that separates commands.
    const quotes: string[] = []
    const bare = line.replaceAll(/'[^']*'|"[^"]*"/g, (quoted) => `\u0000${quotes.push(quoted) - 1}\u0000`)
    return bare
      .replace(/(?:^| )#.*$/, '')
      .split(/&&|\|\||[;|&]/)
      .map((part) => part.replaceAll(/ \d?[<>]+ *\S+/g, ''))
      .map((part) => part.replaceAll(/\u0000(\d+)\u0000/g, (_, i: string) => quotes[Number(i)] ?? ''))
  })
  return [...parts, ...inner].map((part) => part.trim()).filter((part) => part !== '')
}

/** Why a command cannot run as written; undefined if it can. */
export async function commandProblem(command: string): Promise<string | undefined> {
  const [program = '', ...rest] = shellWords(command)
  const check = PROGRAMS[program]
  return check ? check(rest, command) : `\`${program}\` is no program that documents use`
}

type Check = (words: readonly string[], command: string) => Promise<string | undefined> | string | undefined

const fine: Check = () => undefined

const PROGRAMS: Readonly<Record<string, Check>> = {
  tollgate: async (_, command) => (await problemOf(command.replace(/^.*?tollgate\s*/, '')))?.about,
  'tollgate-verify': (words) => verifyProblem(words),
  npx: ([...words], command) => {
    while (words[0]?.startsWith('--') === true) words.shift()
    const [program = '', file = ''] = words
    if (program === 'tsx' || program === 'vitest') return fileProblem(file)
    return commandProblem(command.slice(command.indexOf(` ${program}`) + 1))
  },
  node: ([file = '', ...words], command) => {
    if (file.endsWith('/verify.js')) return fileProblem(file) ?? verifyProblem(words)
    if (file === 'conformance/judge.mjs') return judgeProblem(words)
    return (
      fileProblem(file) ?? commandProblem(`tollgate ${command.slice(command.indexOf(file) + file.length)}`)
    )
  },
  npm: ([task = '', name = '']) => {
    if (task === 'ci' || task === 'install') return undefined
    return scriptProblem(task === 'run' ? name : task)
  },
  curl: (words) => curlProblem(words),
  cp: (words) => {
    const from = words.find((word) => !word.startsWith('-')) ?? ''
    // A name in capitals is a path that the reader fills in.
    return /^[A-Z]/.test(from) ? undefined : fileProblem(from)
  },
  su: (words) => commandProblem(words[words.indexOf('-c') + 1] ?? ''),
  python3: ([file = '', name]) => (file === '-m' && name === 'pip' ? undefined : fileProblem(file)),
  cd: fine,
  cat: fine,
  export: fine,
  git: fine,
  useradd: fine,
  install: fine,
  mv: fine,
  chown: fine,
  chmod: fine,
  systemctl: fine,
  docker: fine,
  helm: fine,
  promtool: fine,
  kubectl: fine,
}

/** The command of a verifier follows the options of the judge. */
function judgeProblem(words: readonly string[]): Promise<string | undefined> | string | undefined {
  const command = words[0] === '--only' ? words.slice(2) : words
  return commandProblem(command.join(' '))
}

function fileProblem(file: string): string | undefined {
  return existsSync(join(ROOT, file)) ? undefined : `there is no file \`${file}\``
}

const { scripts } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as {
  scripts: Readonly<Record<string, string>>
}

/** Why `npm run NAME` cannot run. */
export function scriptProblem(name: string): string | undefined {
  return name in scripts ? undefined : `there is no npm script \`${name}\``
}

let help: string | undefined

function verifyProblem(words: readonly string[]): string | undefined {
  const file = join(ROOT, 'packages/evidence/dist/bin/verify.js')
  help ??= spawnSync(process.execPath, [file, '--help'], { encoding: 'utf8' }).stdout
  const [unknown] = words.filter((word) => word.startsWith('--') && help?.includes(`  ${word} `) !== true)
  return unknown && `unknown option ${unknown}`
}

function curlProblem(words: readonly string[]): string | undefined {
  const address = words.find((word) => word.startsWith('http')) ?? ''
  const body = words[words.indexOf('-d') + 1]
  const method = words.includes('-d') ? 'POST' : 'GET'
  const { pathname } = new URL(address)
  if (LLM_ROUTES.includes(`${method} ${pathname}`)) return undefined
  return method === 'POST' ? bodyProblem(pathname, body ?? '') : routeProblem(method, pathname)
}
