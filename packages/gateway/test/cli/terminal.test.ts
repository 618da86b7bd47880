import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { moment, pairs, shown, table, until } from '../../src/cli/program/table.ts'
import { CommandError, complain, openTerminal, UsageError } from '../../src/cli/program/terminal.ts'
import { GatewayError } from '../../src/error.ts'

let stderr: string
let stdout: string
const { isTTY: outWas } = process.stdout
const { isTTY: errWas } = process.stderr
const { NO_COLOR: colourWas } = process.env

function pretend(terminal: boolean): void {
  process.stdout.isTTY = terminal
  process.stderr.isTTY = terminal
}

beforeEach(() => {
  stderr = ''
  stdout = ''
  delete process.env.NO_COLOR
  vi.spyOn(process.stderr, 'write').mockImplementation((text) => ((stderr += String(text)), true))
  vi.spyOn(process.stdout, 'write').mockImplementation((text) => ((stdout += String(text)), true))
})
afterEach(() => {
  vi.restoreAllMocks()
  process.stdout.isTTY = outWas
  process.stderr.isTTY = errWas
  if (colourWas !== undefined) process.env.NO_COLOR = colourWas
})

describe('colours', () => {
  it('appear only on terminals', () => {
    pretend(true)
    expect(openTerminal(false).paint.red('x')).not.toBe('x')
    complain(new CommandError('no'))
    expect(stderr).toContain('\u001b[31m')
    pretend(false)
    expect(openTerminal(false).paint.red('x')).toBe('x')
  })

  it('are switched off by NO_COLOR, and by --json', () => {
    pretend(true)
    expect(openTerminal(true).paint.red('x')).toBe('x')
    process.env.NO_COLOR = '1'
    expect(openTerminal(false).paint.red('x')).toBe('x')
    complain(new CommandError('no'))
    expect(stderr).not.toContain('\u001b')
    process.env.NO_COLOR = ''
    expect(openTerminal(false).paint.red('x')).not.toBe('x')
  })
})

describe('a complaint', () => {
  it('prints the error, then the hints, each after the name of the command', () => {
    pretend(false)
    expect(
      complain(new GatewayError('KEY_UNUSABLE', 'the key is loose', { hints: ['run `chmod`', 'or not'] })),
    ).toBe(1)
    expect(stderr).toBe('tollgate: error: the key is loose\ntollgate: → run `chmod`\ntollgate: → or not\n')
    expect(stdout).toBe('')
  })

  it('about wrong usage returns 2', () => {
    expect(complain(new UsageError('which one?'))).toBe(2)
    expect(complain(new CommandError('no'))).toBe(1)
    expect(complain('x')).toBe(1)
  })

  it('about a file names the file and no system call', () => {
    complain(
      Object.assign(new Error('ENOENT: no such file or directory, open'), { code: 'ENOENT', path: '/x' }),
    )
    expect(stderr).toBe('tollgate: error: no such file: `/x`\n')
  })
})

describe('progress', () => {
  it('is shown on a terminal after half a second, and cleared', () => {
    pretend(true)
    const now = vi.spyOn(performance, 'now').mockReturnValue(0)
    const progress = openTerminal(false).progress('checking')
    now.mockReturnValue(400)
    progress.show(1, 10)
    expect(stderr).toBe('')
    now.mockReturnValue(600)
    progress.show(5, 10)
    expect(stderr).toContain('checking ███████████████░░░░░░░░░░░░░░░ 50 %')
    progress.clear()
    expect(stderr.endsWith('\r\u001b[K')).toBe(true)
  })

  it('is not shown elsewhere', () => {
    pretend(false)
    const now = vi.spyOn(performance, 'now').mockReturnValue(0)
    const progress = openTerminal(false).progress('checking')
    now.mockReturnValue(5000)
    progress.show(5, 10)
    progress.clear()
    expect(stderr).toBe('')
  })
})

describe('data', () => {
  it('is the value with --json, otherwise the text with one newline, and nothing for an empty text', () => {
    openTerminal(true).data({ a: 1 }, 'text')
    openTerminal(true).row({ a: 1 }, () => 'text')
    openTerminal(false).data({ a: 1 }, 'text')
    openTerminal(false).data({ a: 1 }, 'line\n')
    openTerminal(false).data({ a: 1 }, '')
    expect(stdout).toBe('{\n  "a": 1\n}\n{"a":1}\ntext\nline\n')
  })
})

describe('tables', () => {
  it('are as wide as their widest cell, without colours', () => {
    expect(
      table(
        ['A', 'B'],
        [
          ['\u001b[31mred\u001b[0m', 'x'],
          ['longer', 'y'],
        ],
      ),
    ).toBe('A       B\n\u001b[31mred\u001b[0m     x\nlonger  y')
    expect(
      pairs([
        ['a', '1'],
        ['bcd', '2'],
      ]),
    ).toBe('a    1\nbcd  2')
  })

  it('show untrusted names without control characters', () => {
    expect(shown('agent:\u001b[2Jci\n\u202ex')).toBe('agent:·[2Jci··x')
  })

  it('show readable times', () => {
    const now = Date.UTC(2026, 0, 5, 9)
    const after = (ms: number): string => until(new Date(now + ms).toISOString(), now)
    expect(moment('2026-01-05T09:00:00.123Z')).toBe('2026-01-05 09:00:00Z')
    expect([0, 1, 59_999, 60_000, 7_199_999, 7_200_000, 200_000_000].map(after)).toEqual([
      'ended',
      '1 s',
      '60 s',
      '1 min',
      '119 min',
      '2 h',
      '2 d',
    ])
  })
})
