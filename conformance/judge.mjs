// Judges a verifier: runs it on every case of `vectors/packs` and compares its reports. Plain JavaScript without dependencies, so that
// it judges a verifier in any language.

import { execFile } from 'node:child_process'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { isDeepStrictEqual } from 'node:util'

const CASES = fileURLToPath(new URL('../vectors/packs/', import.meta.url))
const WITHIN_MS = 60_000
const MAX_OUTPUT = 1 << 24
const HELP = `usage: node conformance/judge.mjs [--only TEXT] COMMAND [ARGUMENT...]

Runs COMMAND ARGUMENT... PACK [--trust FILE] for each case, or for those whose names contain TEXT.
COMMAND prints a JSON object with \`level\` and \`findings\`, and ends with the exit code of the level.
conformance/README.md has the details.

example: node conformance/judge.mjs node packages/evidence/dist/bin/verify.js --json`

process.exitCode = await main(process.argv.slice(2))

async function main(args) {
  const only = args[0] === '--only' ? args.splice(0, 2)[1] : ''
  const [command, ...rest] = args
  if (command === undefined || only === undefined || command.startsWith('-')) {
    console.log(HELP)
    return command === '--help' || command === '-h' ? 0 : 2
  }
  const names = readdirSync(CASES).filter((name) => name.includes(only))
  if (names.length === 0) {
    console.error(`no case has a name with \`${only}\`; \`ls vectors/packs\` lists them`)
    return 2
  }
  const wrong = await inParallel(names, (name) => judge(name, command, rest))
  const failing = names.filter((name) => readCase(name).findings.length > 0).length
  console.log(`${names.length} cases (${failing} failing): ${names.length - wrong} right, ${wrong} wrong`)
  return wrong === 0 ? 0 : 1
}

/** Works on the items with one worker for each core. Returns how many were wrong. */
async function inParallel(items, work) {
  const left = [...items]
  let wrong = 0
  const worker = async () => {
    for (let item = left.shift(); item !== undefined; item = left.shift()) if (!(await work(item))) wrong++
  }
  await Promise.all(Array.from({ length: availableParallelism() }, worker))
  return wrong
}

async function judge(name, command, args) {
  const { level, exit, findings } = readCase(name)
  const found = await run(name, command, args)
  const expected = { level, exit, findings }
  if (isDeepStrictEqual(found, expected)) return true
  console.log(`WRONG ${name}\n  expected ${JSON.stringify(expected)}\n  found    ${JSON.stringify(found)}`)
  return false
}

function readCase(name) {
  return JSON.parse(readFileSync(join(CASES, name, 'case.json'), 'utf8'))
}

/** The report of the verifier, as far as it is compared; a text that says why there is none. */
function run(name, command, args) {
  const trust = join(CASES, name, 'trust.json')
  const all = [...args, join(CASES, name, 'pack'), ...(existsSync(trust) ? ['--trust', trust] : [])]
  return new Promise((resolve) => {
    execFile(command, all, { timeout: WITHIN_MS, maxBuffer: MAX_OUTPUT }, (fault, stdout) => {
      if (fault && typeof fault.code !== 'number') resolve(`it did not run: ${fault.code ?? fault.signal}`)
      else resolve(readReport(stdout, fault ? fault.code : 0))
    })
  })
}

function readReport(stdout, exit) {
  try {
    const { level, findings } = JSON.parse(stdout)
    return { level, exit, findings: findings.map(readFinding) }
  } catch {
    return 'its output is no report in JSON'
  }
}

/** A finding without its sentence. */
function readFinding({ code, index, member }) {
  return { code, ...(index !== undefined && { index }), ...(member !== undefined && { member }) }
}
