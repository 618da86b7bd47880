// Finds a browser for tests, or installs one on Debian-like systems. Never fails a run.

import { spawn } from 'node:child_process'
import { accessSync, constants, statSync } from 'node:fs'
import { delimiter, join } from 'node:path'

const NAMES = ['chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable', 'chrome']

const MAC_APPS = [
  '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome',
  '/Applications/Chromium.app/Contents/MacOS/Chromium',
]

/** The path of a browser: TOLLGATE_BROWSER, or one on the PATH; undefined if there is none. */
export function findBrowser({ env = process.env, platform = process.platform } = {}) {
  const named = env.TOLLGATE_BROWSER
  const installed = NAMES.map((name) => findProgram(name, env))
  const apps = platform === 'darwin' ? MAC_APPS : []
  return [named, ...installed, ...apps].find(isProgram)
}

/**
 * As `findBrowser`, but installs Debian's chromium if there is none and `apt-get` works without a password. Otherwise prints
 * that the browser tests will be skipped, and returns undefined.
 */
export async function ensureBrowser({
  env = process.env,
  platform = process.platform,
  uid = process.getuid?.(),
  find = () => findBrowser({ env, platform }),
  run = runQuietly,
  say = console.error,
} = {}) {
  if (env.TOLLGATE_BROWSER && !isProgram(env.TOLLGATE_BROWSER)) {
    say(
      `TOLLGATE_BROWSER is set to \`${env.TOLLGATE_BROWSER}\`, which is not a program; looking for another browser`,
    )
  }
  const found = find()
  if (found) return found
  const prefix =
    platform === 'linux' && findProgram('apt-get', env) ? await rootPrefix(uid, env, run) : undefined
  if (prefix && (await aptInstall(prefix, run, say))) {
    const installed = find()
    if (installed) return installed
  }
  sayLoudly(say)
  return undefined
}

/** The command prefix to run as root; undefined if that needs a password. */
async function rootPrefix(uid, env, run) {
  if (uid === 0) return []
  return findProgram('sudo', env) && (await run(['sudo', '-n', 'true'])) ? ['sudo', '-n'] : undefined
}

async function aptInstall(prefix, run, say) {
  say('no browser found; installing the package `chromium` with apt-get')
  const apt = [...prefix, 'env', 'DEBIAN_FRONTEND=noninteractive', 'apt-get']
  // A failed update of one source leaves the others usable, so only the install counts.
  await run([...apt, 'update'])
  return run([...apt, 'install', '-y', '--no-install-recommends', 'chromium'])
}

function sayLoudly(say) {
  const line = '!'.repeat(78)
  say(line)
  say('NO BROWSER: the browser part of the tests will be SKIPPED')
  say('install Chromium or Chrome, or set TOLLGATE_BROWSER to the path of one')
  say(line)
}

function findProgram(name, env) {
  const folders = (env.PATH ?? '').split(delimiter).filter((folder) => folder !== '')
  return folders.map((folder) => join(folder, name)).find(isProgram)
}

function isProgram(path) {
  if (!path) return false
  try {
    accessSync(path, constants.X_OK)
    return statSync(path).isFile()
  } catch {
    // Missing or not permitted: it cannot be run.
    return false
  }
}

function runQuietly([command, ...args]) {
  return new Promise((resolve) => {
    const child = spawn(command, args, { stdio: 'ignore' })
    child.on('error', () => resolve(false))
    child.on('close', (code) => resolve(code === 0))
  })
}
