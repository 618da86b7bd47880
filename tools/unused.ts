// `npm run unused`: fails if a package file exports a name that no other file imports. `--tests` also lists the names that
// only tests use, which is allowed.

import { fileURLToPath } from 'node:url'
import { readCode } from './house/tree.ts'
import { findUnused, type UnusedName } from './house/unused-names.ts'

function main(args: readonly string[]): void {
  const { names, onlyTests } = findUnused(readCode(fileURLToPath(new URL('..', import.meta.url))))
  for (const each of names) console.error(format(each))
  if (args.includes('--tests')) for (const each of onlyTests) console.log(`${format(each)} (only tests)`)
  console.log(`${names.length} exported names are unused; only tests use ${onlyTests.length} more`)
  if (names.length > 0) process.exitCode = 1
}

function format({ path, line, name }: UnusedName): string {
  return `${path}:${line} ${name}`
}

main(process.argv.slice(2))
