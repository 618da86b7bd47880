// Judges our gateway by the requirements: `npm run conform`.

import { readFileSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { judge } from './judge.ts'
import { signed, statementOf, tableOf } from './report.ts'
import { LEVELS, type Requirement } from './requirement.ts'
import { REQUIREMENTS } from './requirements/table.ts'
import { tollgate } from './tollgate.ts'

const VERIFIER = fileURLToPath(new URL('../../packages/evidence/dist/bin/verify.js', import.meta.url))
const HELP = `usage: npm run conform -- [OPTION...]

  --level L1|L2|L3          only this level and those before it
  --only ID,ID              only these requirements
  --program FILE            the command of the gateway, a program for Node; default: the built one
  --report FILE --key FILE  also write a report, signed with this Ed25519 key (PEM)
  --list                    only list the requirements`

const OPTIONS = {
  level: { type: 'string', default: 'L3' },
  only: { type: 'string' },
  program: { type: 'string' },
  report: { type: 'string' },
  key: { type: 'string' },
  list: { type: 'boolean', default: false },
  help: { type: 'boolean', short: 'h', default: false },
} as const

process.exitCode = await main(process.argv.slice(2)).catch((cause: unknown) => {
  console.error(cause instanceof Error ? cause.message : cause)
  return 2
})

/** Returns 0 if all requirements are kept, 1 if one is broken. @throws Error if nothing was judged. */
async function main(args: readonly string[]): Promise<number> {
  const { values } = parseArgs({ args: [...args], options: OPTIONS })
  if (values.help) return say(HELP)
  const chosen = choose(values.level, values.only)
  if (values.list)
    return say(chosen.map(({ id, level, says }) => `${level} ${id.padEnd(4)}${says}`).join('\n'))
  if ((values.report === undefined) !== (values.key === undefined)) {
    throw new Error(
      '`--report` and `--key` belong together; `openssl genpkey -algorithm ed25519` makes a key',
    )
  }
  const key = values.key === undefined ? undefined : readFileSync(values.key, 'utf8')
  const adapter = tollgate(values.program)
  const results = await judge({ adapter, verifier: [process.execPath, VERIFIER, '--json'] }, chosen)
  if (values.report !== undefined && key !== undefined) {
    const statement = statementOf(adapter.name, new Date().toISOString(), results)
    writeFileSync(values.report, signed(statement, key))
  }
  say(tableOf(results))
  return results.every(({ broken }) => broken === undefined) ? 0 : 1
}

function say(text: string): number {
  console.log(text)
  return 0
}

function choose(level: string, only: string | undefined): readonly Requirement[] {
  const last = LEVELS.findIndex((each) => each === level)
  if (last < 0) throw new Error(`no level \`${level}\`; the levels are ${LEVELS.join(', ')}`)
  const ids = only?.split(',')
  const unknown = ids?.find((id) => !REQUIREMENTS.some((each) => each.id === id))
  if (unknown !== undefined) throw new Error(`no requirement \`${unknown}\`; \`--list\` shows them`)
  const levels: readonly string[] = LEVELS.slice(0, last + 1)
  return REQUIREMENTS.filter((each) => levels.includes(each.level) && (ids?.includes(each.id) ?? true))
}
