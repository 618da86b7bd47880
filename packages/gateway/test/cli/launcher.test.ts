// The launcher that `self-install` writes, in a home of the test, started by a real shell.

import { execFileSync } from 'node:child_process'
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import {
  commandWord,
  foldersOf,
  foundOn,
  launcherIn,
  launcherText,
  leadsHere,
  PROGRAM,
  shellWord,
  startWords,
} from '../../src/cli/program/launcher.ts'

let home: string
beforeEach(() => void (home = mkdtempSync(join(tmpdir(), "tollgate it's "))))
afterEach(() => rmSync(home, { recursive: true, force: true }))

function install(folder: string, text = launcherText()): string {
  mkdirSync(folder, { recursive: true })
  writeFileSync(launcherIn(folder), text)
  chmodSync(launcherIn(folder), 0o755)
  return launcherIn(folder)
}

describe('the words that another program starts us with', () => {
  test('are our launcher, as an absolute path', () => {
    const bin = join(home, 'bin')
    expect(startWords({ PATH: install(bin) && bin, HOME: home })).toEqual([launcherIn(bin)])
    const installed = install(join(home, '.local', 'bin'))
    expect(startWords({ PATH: '', HOME: home })).toEqual([installed])
  })

  test('are this Node and our script, if there is no launcher, a link or another program', () => {
    const words = [process.execPath, PROGRAM]
    expect(startWords({ PATH: '', HOME: home })).toEqual(words)
    const linked = join(home, 'linked')
    mkdirSync(linked)
    symlinkSync(PROGRAM, join(linked, 'tollgate'))
    expect(startWords({ PATH: linked, HOME: home })).toEqual(words)
    const other = join(home, 'other')
    install(other, '#!/bin/sh\necho other\n')
    expect(startWords({ PATH: other, HOME: home })).toEqual(words)
  })
})

describe('the word for the command', () => {
  test('is `tollgate` if the shell finds our launcher or a link to the program', () => {
    const bin = join(home, 'bin')
    install(bin)
    expect(commandWord({ PATH: bin, HOME: home })).toBe('tollgate')
    const linked = join(home, 'linked')
    mkdirSync(linked)
    symlinkSync(PROGRAM, join(linked, 'tollgate'))
    expect(commandWord({ PATH: linked, HOME: home })).toBe('tollgate')
  })

  test.each([
    ['another program', '#!/bin/sh\necho other\n'],
    ['the launcher of another installation', launcherText(process.execPath, '/elsewhere/tollgate.mjs')],
  ])('is absolute if the shell finds %s', (_, text) => {
    const bin = join(home, 'bin')
    install(bin, text)
    expect(commandWord({ PATH: bin, HOME: home })).toBe(
      `${shellWord(process.execPath)} ${shellWord(PROGRAM)}`,
    )
  })

  test('is the launcher’s path if the launcher is there and not on the PATH', () => {
    const file = install(join(home, '.local', 'bin'))
    expect(commandWord({ PATH: '/usr/bin', HOME: home })).toBe(shellWord(file))
  })

  test('does not count the folders that npm adds for its scripts', () => {
    const npm = join(home, 'node_modules', '.bin')
    install(npm)
    expect(foldersOf(`${npm}:/usr/bin:`)).toEqual(['/usr/bin'])
    expect(foundOn(npm)).toBeUndefined()
  })

  test('starts this installation in a shell, also from a path with a quote and a space', () => {
    const file = install(join(home, '.local', 'bin'))
    expect(leadsHere(file)).toBe(true)
    const word = commandWord({ PATH: '/usr/bin', HOME: home })
    expect(execFileSync('/bin/sh', ['-c', `${word} --version`], { encoding: 'utf8' })).toMatch(
      /^\d+\.\d+\.\d+\n$/,
    )
  })
})

describe('self-install', () => {
  const run = (...args: readonly string[]): { readonly code: number; readonly text: string } => {
    try {
      const env = { ...process.env, HOME: home, PATH: `/usr/bin:/bin`, NO_COLOR: '1' }
      const all = [PROGRAM, 'self-install', ...args]
      return {
        code: 0,
        text: execFileSync(process.execPath, all, {
          encoding: 'utf8',
          env,
          stdio: ['ignore', 'pipe', 'pipe'],
        }),
      }
    } catch (fault) {
      // Sound: that is what `execFileSync` throws for a program that fails.
      const { status, stderr } = fault as { readonly status: number; readonly stderr: string }
      return { code: status, text: stderr }
    }
  }

  test('installs, replaces its own launcher, and removes it', () => {
    const file = join(home, '.local', 'bin', 'tollgate')
    expect(run()).toEqual({ code: 0, text: `${file}\n` })
    expect(run().code).toBe(0)
    expect(readFileSync(file, 'utf8')).toBe(launcherText())
    expect(run('--remove').code).toBe(0)
    expect(existsSync(file)).toBe(false)
  })

  test('never replaces or removes a program of someone else', () => {
    const bin = join(home, 'bin')
    const file = install(bin, '#!/bin/sh\necho mine\n')
    for (const args of [[], ['--remove']]) {
      const { code, text } = run('--dir', bin, ...args)
      expect(code).toBe(1)
      expect(text).toContain('is another program')
    }
    expect(readFileSync(file, 'utf8')).toBe('#!/bin/sh\necho mine\n')
  })
})
