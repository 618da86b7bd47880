#!/usr/bin/env node
// `tollgate-verify`: checks an evidence pack offline.
//
// Writes the report to standard output. Errors go to standard error, prefixed with `tollgate-verify:`, in lower case and without
// a full stop: the problem, then what to do.

import { readFile } from 'node:fs/promises'
import { parseArgs } from 'node:util'
import { coloured, formatReport, plain, verifyFile } from '../node/index.ts'
import { EvidenceError, parseTrust, type Progress, type Trust } from '../src/index.ts'

const HELP = `tollgate-verify: check an evidence pack, offline

usage: tollgate-verify PACK --trust FILE [--json] [--workers N]

  PACK            the evidence pack to check
  --trust FILE    the trust file: the keys of the ledger, its witnesses and the last checkpoint that you saw. Get it
                  through another channel than the pack. Without it the origin of the pack is not proved
  --json          print the whole report as JSON
  --workers N     extra threads that check signatures; with 0, the main thread checks them (default: one per core for
                  large packs, else 0)
  --version       print the version
  --help          print this help

exit code: 0 verified, 1 a check failed, 2 malformed, or nothing was checked (wrong option, file or trust file),
3 integrity only (no trust file)

The operator of the ledger gives you the trust file. Example:

  { "tollgate_trust": 1,
    "ledger": "ledger.example/demo",
    "keys": ["ledger.example/demo+521aad1c+ARWFHBB1ICIODauRzkKAqZfaeACls9E9wpTecc14jb4e"] }
`

/** A wrong option or argument. The message says what to do. */
class UsageError extends Error {}

interface Command {
  readonly pack: string
  readonly trust: string | undefined
  readonly json: boolean
  readonly workers: number | undefined
}

async function main(args: readonly string[]): Promise<number> {
  const command = parseCommand(args)
  if (typeof command === 'string') {
    process.stdout.write(command)
    return 0
  }
  const trust = command.trust === undefined ? undefined : await readTrust(command.trust)
  const progress = progressBar()
  const report = await verifyFile(command.pack, {
    ...(trust && { trust }),
    ...(command.workers !== undefined && { workers: command.workers }),
    onProgress: progress.show,
  }).finally(progress.clear)
  const { NO_COLOR } = process.env
  const paint = process.stdout.isTTY && !NO_COLOR ? coloured : plain
  // Set before writing: a closed pipe must not turn a failure into success.
  process.exitCode = report.exit
  process.stdout.write(command.json ? `${JSON.stringify(report, null, 2)}\n` : formatReport(report, paint))
  return report.exit
}

/** Returns the parsed command, or a text to print instead. */
function parseCommand(args: readonly string[]): Command | string {
  const { values, positionals } = parseOptions(args)
  if (values.help === true) return HELP
  if (values.version === true) return `${VERSION}\n`
  const [pack, ...rest] = positionals
  if (pack === undefined) throw new UsageError('no pack given; run `tollgate-verify --help`')
  if (rest.length > 0) throw new UsageError('more than one pack given; give one pack at a time')
  const workers = values.workers === undefined ? undefined : Number(values.workers)
  if (workers !== undefined && !(Number.isInteger(workers) && workers >= 0 && workers <= 256)) {
    throw new UsageError('`--workers` must be a whole number from 0 to 256')
  }
  return { pack, trust: values.trust, json: values.json === true, workers }
}

function parseOptions(args: readonly string[]) {
  try {
    return parseArgs({
      args: [...args],
      allowPositionals: true,
      options: {
        trust: { type: 'string' },
        json: { type: 'boolean' },
        workers: { type: 'string' },
        version: { type: 'boolean' },
        help: { type: 'boolean', short: 'h' },
      },
    })
  } catch (fault) {
    const [problem = ''] = (fault instanceof Error ? fault.message : String(fault)).split('.')
    throw new UsageError(
      `${problem.charAt(0).toLowerCase()}${problem.slice(1)}; run \`tollgate-verify --help\``,
    )
  }
}

async function readTrust(path: string): Promise<Trust> {
  return parseTrust(await readFile(path))
}

/** A progress bar for verifications of more than half a second, on terminals only. */
function progressBar(): { show: (progress: Progress, total: number) => void; clear: () => void } {
  const began = Date.now()
  let drawn = 0
  const clear = (): void => {
    if (drawn > 0) process.stderr.write('\r\u001b[K')
  }
  return {
    show({ bytes, receipts }, total) {
      const now = Date.now()
      if (!process.stderr.isTTY || now - began < 500 || now - drawn < 100) return
      // Registered with the first draw: before that there is nothing to clear.
      if (drawn === 0) process.once('SIGINT', () => process.exit(130)).once('exit', clear)
      drawn = now
      const done = Math.min(1, bytes / total)
      const bar = '█'.repeat(Math.round(done * 30)).padEnd(30, '░')
      process.stderr.write(`\r${bar} ${Math.floor(done * 100)} %  ${receipts} receipts `)
    },
    clear,
  }
}

/** Describes a fault in one line. */
function explain(fault: unknown): string {
  if (fault instanceof UsageError || fault instanceof EvidenceError) return fault.message
  // Sound: both members are tested before use.
  const { code, path } = fault as NodeJS.ErrnoException
  if (code === 'ENOENT') return `there is no file \`${String(path)}\`; check the path`
  if (code === 'EISDIR') return 'this is a directory; give a file'
  if (code === 'EACCES') return `no permission to read \`${String(path)}\``
  return fault instanceof Error ? fault.message : String(fault)
}

const VERSION = '0.1.0'

// Until there is a report, the exit code says that the pack could not be checked.
process.exitCode = 2
process.on('uncaughtException', (fault) => {
  process.stderr.write(`tollgate-verify: ${explain(fault)}\n`)
  process.exit(2)
})
// A closed pipe is not an error; a full disk is. Neither says anything about the pack.
process.stdout.on('error', (fault: NodeJS.ErrnoException) => {
  if (fault.code !== 'EPIPE')
    process.stderr.write(`tollgate-verify: the report could not be written: ${fault.message}\n`)
  process.exit(fault.code === 'EPIPE' ? process.exitCode : 2)
})

main(process.argv.slice(2)).then(
  (exit) => {
    process.exitCode = exit
  },
  (fault: unknown) => {
    process.stderr.write(`tollgate-verify: ${explain(fault)}\n`)
    process.exitCode = 2
  },
)
