// The decision log: a line for each decision and effect of a real gateway, bounded and without a delay for calls. Disks are full and
// readers are slow.

import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { open } from 'node:fs/promises'
import { readFileSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { silent, type Log } from '../../src/log.ts'
import { startDecisionLog, type DecisionLog } from '../../src/telemetry/decision-log.ts'
import { openLineFile, openLineStream, type LogSink } from '../../src/telemetry/line-sink.ts'
import type { SeenCall } from '../../src/telemetry/meter.ts'
import { newFolder } from '../gateway-rig.ts'

const CALL: SeenCall = {
  ...{ door: 'http', assurance: 'advised', tool: 'notes/read', session: 's1', principal: 'agent:a' },
  ...{ reference: 'call_1', traceparent: undefined, arrived: 10, judged: 10.5, recorded: 12 },
  decided: {
    ...{ verdict: 'DENY', reason: 'NO_RULE_MATCHED', rung: 'policy', rule: undefined, detail: 'a detail' },
    ...{ receipt: 'a'.repeat(64), approval: undefined, expires: undefined },
  },
}

interface Opened {
  readonly decisions: DecisionLog
  readonly counted: Record<'written' | 'dropped', number>
  readonly messages: string[]
}

function start(sink: LogSink, patience = 2000): Opened {
  const counted = { written: 0, dropped: 0 }
  const messages: string[] = []
  const log: Log = (_, message) => void messages.push(message)
  const count = (outcome: 'written' | 'dropped', lines: number): void => void (counted[outcome] += lines)
  return { decisions: startDecisionLog({ sink, log, count, patience }), counted, messages }
}

/** A sink in memory that fails while `fault` is set, and is slow until `release` is called. */
function memorySink(): LogSink & {
  lines(): Record<string, unknown>[]
  fault?: Error
  hold?: Promise<void>
} {
  let text = ''
  return {
    async write(more) {
      await this.hold
      if (this.fault) throw this.fault
      text += more
    },
    close: () => Promise.resolve(),
    lines: () => linesOf(text),
  }
}

// Sound: a line that is not an object fails in the comparison.
const linesOf = (text: string): Record<string, unknown>[] =>
  text
    .split('\n')
    .slice(0, -1)
    .map((line) => JSON.parse(line) as Record<string, unknown>)

describe('a line', () => {
  it('has the names of a decision or an effect, and no argument, detail or id of the caller', async () => {
    const sink = memorySink()
    const { decisions, counted } = start(sink)
    decisions.decided(CALL)
    decisions.effect({ decision: 'a'.repeat(64), status: 'FAILED', reported_by: 'caller' })
    await decisions.stop()
    const time = expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/) as string
    expect(sink.lines()).toEqual([
      {
        ...{
          time,
          type: 'decision',
          receipt: 'a'.repeat(64),
          verdict: 'DENY',
          reason_code: 'NO_RULE_MATCHED',
        },
        ...{ gate: 'policy', door: 'http', assurance: 'advised', principal: 'agent:a', session: 's1' },
        ...{ tool: 'notes/read', decided_ms: 0.5, durable_ms: 1.5 },
      },
      { time, type: 'effect', decision: 'a'.repeat(64), status: 'FAILED', reported_by: 'caller' },
    ])
    expect(counted).toEqual({ written: 2, dropped: 0 })
  })

  it.each([
    ['a new line', 'a\n{"type":"decision","verdict":"ALLOW"}'],
    ['a control sequence of a terminal', 'a\u001b[2J\u009b2J'],
    ['a change of the writing direction', 'a\u202eb\u2066c'],
    ['a line separator', 'a\u2028b\u2029c'],
    ['half of a character', 'a\ud800b'],
  ])('stays one line of plain text if a name contains %s', async (_, tool) => {
    let text = ''
    const { decisions } = start({
      write: (more) => Promise.resolve(void (text += more)),
      close: () => Promise.resolve(),
    })
    decisions.decided({ ...CALL, tool })
    await decisions.stop()
    expect(text).toMatch(/^[\u0020-\u007e]+\n$/)
    expect(linesOf(text)).toMatchObject([{ tool }])
  })

  it('is short, however long a name is', async () => {
    const sink = memorySink()
    const { decisions } = start(sink)
    decisions.decided({ ...CALL, session: 'x'.repeat(1_000_000) })
    await decisions.stop()
    expect(sink.lines()).toMatchObject([{ session: `${'x'.repeat(256)}…` }])
  })
})

describe('a sink that cannot keep up', () => {
  it('costs lines, which are counted, and no memory', async () => {
    const sink = memorySink()
    let release = (): void => undefined
    sink.hold = new Promise((resolve) => (release = resolve))
    const { decisions, counted } = start(sink)
    for (let i = 0; i < 10_000; i += 1) decisions.decided({ ...CALL, session: `s${i}` })
    expect(counted.dropped).toBe(10_000 - 4096)
    release()
    await decisions.stop()
    expect(counted).toEqual({ written: 4096, dropped: 10_000 - 4096 })
    const lines = sink.lines()
    expect(lines.filter(({ type }) => type === 'decision')).toHaveLength(4096)
    expect(lines.filter(({ type }) => type === 'dropped')).toMatchObject([{ lines: 10_000 - 4096 }])
  })

  it('does not delay the end of the gateway for long', async () => {
    const sink = memorySink()
    sink.hold = new Promise(() => undefined)
    const { decisions, counted, messages } = start(sink, 20)
    for (let i = 0; i < 3; i += 1) {
      decisions.decided(CALL)
      await new Promise((resolve) => setImmediate(resolve))
    }
    await decisions.stop()
    expect(counted).toEqual({ written: 0, dropped: 2 })
    expect(messages).toEqual(['lines of the decision log were lost at the end'])
  })

  it('can be a pipe whose reader has stopped reading', async () => {
    // The child reads nothing until it is told to.
    const reader = spawn('sh', ['-c', 'kill -STOP $$; exec cat'], { stdio: ['pipe', 'pipe', 'inherit'] })
    onTestFinished(() => void reader.kill('SIGKILL'))
    const { decisions, counted } = start(openLineStream(reader.stdin))
    for (let i = 0; i < 6000; i += 1) {
      decisions.decided(CALL)
      if (i % 500 === 0) await new Promise((resolve) => setImmediate(resolve))
    }
    expect(counted.dropped).toBeGreaterThan(0)
    let text = ''
    reader.stdout.on('data', (chunk: Buffer) => (text += chunk.toString()))
    const running = setInterval(() => reader.kill('SIGCONT'), 20)
    await decisions.stop()
    clearInterval(running)
    reader.stdin.end()
    await once(reader, 'close')
    expect(counted.written + counted.dropped).toBe(6000)
    expect(linesOf(text).filter(({ type }) => type === 'decision')).toHaveLength(counted.written)
  })

  it('can be a pipe whose reader is gone', async () => {
    const reader = spawn('true', { stdio: ['pipe', 'ignore', 'inherit'] })
    await once(reader, 'exit')
    const { decisions, counted, messages } = start(openLineStream(reader.stdin))
    for (let i = 0; i < 3; i += 1) decisions.decided(CALL)
    await decisions.stop()
    expect(counted).toEqual({ written: 0, dropped: 3 })
    expect(messages).toEqual(['the decision log cannot be written; its lines are lost'])
  })
})

describe('a file', () => {
  const replace = (path: string): void => {
    rmSync(path)
    writeFileSync(path, '')
  }
  const place = (): string => join(newFolder(), 'decisions.jsonl')

  it('is appended to, and other users cannot read it', async () => {
    const path = place()
    for (let run = 0; run < 2; run += 1) {
      const { decisions } = start(await openLineFile(path))
      decisions.decided(CALL)
      await decisions.stop()
    }
    expect(linesOf(readFileSync(path, 'utf8'))).toHaveLength(2)
    const file = await open(path)
    expect((await file.stat()).mode & 0o777).toBe(0o600)
    await file.close()
  })

  it.each([
    ['renamed', (path: string) => renameSync(path, `${path}.1`)],
    ['removed', (path: string) => rmSync(path)],
    ['replaced', replace],
  ])('that is %s is created again at its path', async (_, rotate) => {
    const path = place()
    const { decisions, counted } = start(await openLineFile(path))
    decisions.decided({ ...CALL, session: 'before' })
    await vi.waitFor(() => expect(counted.written).toBe(1))
    rotate(path)
    decisions.decided({ ...CALL, session: 'after' })
    await decisions.stop()
    expect(linesOf(readFileSync(path, 'utf8'))).toMatchObject([{ session: 'after' }])
  })

  it('on a full disk costs lines, says so once, and says so in the file later', async () => {
    const path = place()
    const file = await openLineFile(path)
    const full = await open('/dev/full', 'a')
    onTestFinished(() => full.close())
    let isFull = true
    const { decisions, counted, messages } = start({
      ...file,
      write: (text) => (isFull ? full.writeFile(text) : file.write(text)),
    })
    for (let i = 1; i <= 3; i += 1) {
      decisions.decided(CALL)
      await vi.waitFor(() => expect(counted.dropped).toBe(i))
    }
    expect(messages).toEqual(['the decision log cannot be written; its lines are lost'])
    isFull = false
    decisions.decided({ ...CALL, session: 'later' })
    await decisions.stop()
    expect(linesOf(readFileSync(path, 'utf8'))).toMatchObject([
      { type: 'dropped', lines: 3 },
      { session: 'later' },
    ])
    expect(messages.at(-1)).toBe('the decision log can be written again')
    expect(counted).toEqual({ written: 1, dropped: 3 })
  })

  it.each([
    ['in a folder that does not exist', () => join(newFolder(), 'missing/log')],
    ['that is a folder', () => newFolder()],
    ['that is a device', () => '/dev/full'],
    ['that names nothing', () => (symlinkSync('/missing/log', place2), place2)],
  ])('%s is refused at the start', async (_, path) => {
    await expect(openLineFile(path())).rejects.toMatchObject({ code: 'CONFIG_INVALID' })
  })
  const place2 = join(newFolder(), 'link')

  it('that can no longer be opened costs lines, not the gateway', async () => {
    const folder = newFolder()
    const { decisions, counted } = start(await openLineFile(join(folder, 'log')))
    rmSync(folder, { recursive: true })
    decisions.decided(CALL)
    await decisions.stop()
    expect(counted).toEqual({ written: 0, dropped: 1 })
  })
})

it('needs no log of the gateway', async () => {
  const sink = memorySink()
  sink.fault = new Error('broken')
  const decisions = startDecisionLog({ sink, log: silent, count: () => undefined })
  decisions.decided(CALL)
  await expect(decisions.stop()).resolves.toBeUndefined()
})
