// Finds PostgreSQL for tests, or installs it on Debian-like systems.

import { spawn } from 'node:child_process'
import { accessSync, constants, readdirSync } from 'node:fs'
import { delimiter, join } from 'node:path'

const DEBIAN = '/usr/lib/postgresql'
const PROGRAMS = ['postgres', 'initdb']

/** The folder with the programs of PostgreSQL: TOLLGATE_POSTGRES, Debian's newest, or on the PATH; undefined if there is none. */
export function findPostgres({ env = process.env, debian = DEBIAN } = {}) {
  const onPath = (env.PATH ?? '').split(delimiter).filter((folder) => folder !== '')
  return [env.TOLLGATE_POSTGRES, ...newestFirst(debian), ...onPath].find(isWhole)
}

function newestFirst(debian) {
  try {
    const versions = readdirSync(debian).filter((name) => /^[0-9]+$/.test(name))
    return versions.sort((a, b) => Number(b) - Number(a)).map((version) => join(debian, version, 'bin'))
  } catch {
    // Not Debian.
    return []
  }
}

function isWhole(folder) {
  if (!folder) return false
  try {
    for (const name of PROGRAMS) accessSync(join(folder, name), constants.X_OK)
    return true
  } catch {
    // Missing or not permitted: it cannot be run.
    return false
  }
}

/**
 * As `findPostgres`, but installs Debian's package if there is none and `apt-get` works without a password. Otherwise says that the
 * tests will fail, and returns undefined: they are never skipped.
 */
export async function ensurePostgres({
  env = process.env,
  uid = process.getuid?.(),
  find = () => findPostgres({ env }),
  run = runQuietly,
  say = console.error,
} = {}) {
  const found = find()
  if (found) return found
  say('no PostgreSQL found; installing the package `postgresql` with apt-get')
  const prefix = uid === 0 ? [] : ['sudo', '-n']
  // Debian's package would start a server of its own; tests start theirs.
  const apt = [...prefix, 'env', 'DEBIAN_FRONTEND=noninteractive', 'RUNLEVEL=1', 'apt-get']
  await run([...apt, 'update'])
  await run([...apt, 'install', '-y', '--no-install-recommends', 'postgresql'])
  const installed = find()
  if (!installed) {
    const line = '!'.repeat(78)
    say(line)
    say('NO POSTGRESQL: the tests of the PostgreSQL store will FAIL')
    say('install PostgreSQL 13 or newer, or set TOLLGATE_POSTGRES to the folder with its programs')
    say(line)
  }
  return installed
}

function runQuietly([command, ...args]) {
  return new Promise((resolve) => {
    const child = spawn(command, args, { stdio: 'ignore' })
    child.on('error', () => resolve(false))
    child.on('close', (code) => resolve(code === 0))
  })
}
