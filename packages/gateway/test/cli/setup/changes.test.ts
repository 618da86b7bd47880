// Changes of the user's files: all or none, each can be undone byte for byte, also after a crash.

import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { applyChanges, type FileChange } from '../../../src/cli/setup/changes/apply.ts'
import { readJournal, writeJournal } from '../../../src/cli/setup/changes/journal.ts'
import { statusOf, undoAll, undoInterrupted } from '../../../src/cli/setup/changes/undo.ts'

let root: string
let journal: string
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'tollgate-changes-'))
  journal = join(root, 'journal')
})
afterEach(() => rmSync(root, { recursive: true, force: true }))

const never = (): undefined => undefined

function put(name: string, text: string | Buffer = `before ${name}`): string {
  writeFileSync(join(root, name), text)
  return join(root, name)
}

function change(file: string, after = 'after'): FileChange {
  return { file, before: readFileSync(file), after: Buffer.from(after), places: [['a']] }
}

function text(name: string): string {
  return readFileSync(join(root, name), 'utf8')
}

test('undo restores the exact bytes, and leaves no backup behind', () => {
  const bytes = Buffer.from([0xef, 0xbb, 0xbf, 0x7b, 0x0d, 0x0a, 0xff, 0x7d])
  const file = put('a', bytes)
  chmodSync(file, 0o640)
  const { files } = applyChanges(journal, 't', [change(file)])
  expect(text('a')).toBe('after')
  expect(statSync(file).mode & 0o777).toBe(0o640)
  expect(statSync(files[0]?.backup ?? '').mode & 0o777).toBe(0o640)
  expect(files[0]?.backup).toMatch(/\/a\.tollgate-backup-\d{8}T\d{6}Z$/)
  expect(statusOf(journal, 't')).toMatchObject([{ file, state: 'in-place' }])
  expect(undoAll(journal, 't', never)).toMatchObject([{ file, how: 'restored' }])
  expect(readFileSync(file)).toEqual(bytes)
  expect(statSync(file).mode & 0o777).toBe(0o640)
  expect(readdirSync(root).sort()).toEqual(['a', 'journal'])
  expect(statusOf(journal, 't')).toEqual([])
})

test('a symbolic link still leads to the same file', () => {
  const file = put('real')
  symlinkSync(file, join(root, 'link'))
  applyChanges(journal, 't', [change(join(root, 'link'))])
  expect(lstatSync(join(root, 'link')).isSymbolicLink()).toBe(true)
  expect(text('real')).toBe('after')
  undoAll(journal, 't', never)
  expect(text('real')).toBe('before real')
})

test('two runs on the same file are undone in the right order', () => {
  const file = put('a')
  const now = new Date()
  applyChanges(journal, 't', [change(file, 'one')], now)
  applyChanges(journal, 't', [change(file, 'two')], now)
  expect(undoAll(journal, 't', never).map(({ how }) => how)).toEqual(['restored', 'restored'])
  expect(text('a')).toBe('before a')
})

test('a run of another target stays', () => {
  applyChanges(journal, 'other', [change(put('a'))])
  expect(undoAll(journal, 't', never)).toEqual([])
  expect(text('a')).toBe('after')
})

describe('a crash', () => {
  test('between two files is undone by the next run, and status says so', () => {
    const [a, b] = [put('a'), put('b')]
    applyChanges(journal, 't', [change(a), change(b)])
    // As if the process had ended before the second file and the last entry of the journal.
    writeFileSync(b, 'before b')
    writeJournal(
      journal,
      readJournal(journal).map((run) => ({ ...run, state: 'changing' })),
    )
    expect(statusOf(journal, 't').map(({ state }) => state)).toEqual(['interrupted', 'interrupted'])
    expect(undoInterrupted(journal, 't', never).map(({ how }) => how)).toEqual(['as-before', 'restored'])
    expect([text('a'), text('b')]).toEqual(['before a', 'before b'])
    expect(undoInterrupted(journal, 't', never)).toEqual([])
    expect(readdirSync(root).sort()).toEqual(['a', 'b', 'journal'])
  })

  test('that left the lock of an ended process does not block the next run', () => {
    mkdirSync(journal)
    writeFileSync(join(journal, 'lock'), '999999999')
    applyChanges(journal, 't', [change(put('a'))])
    expect(text('a')).toBe('after')
  })

  test('that damaged the journal stops every change', () => {
    mkdirSync(journal)
    writeFileSync(join(journal, 'journal.json'), '{"tollgate-setup":1,"runs":[{"target"')
    const planned = change(put('a'))
    expect(() => applyChanges(journal, 't', [planned])).toThrow('cannot be read')
    expect(() => undoAll(journal, 't', never)).toThrow('cannot be read')
    expect(text('a')).toBe('before a')
  })
})

describe('nothing is changed', () => {
  test('if a file differs from the plan', () => {
    const planned = [change(put('a')), change(put('b'))]
    put('b', 'changed meanwhile')
    expect(() => applyChanges(journal, 't', planned)).toThrow('changed by another program')
    expect(text('a')).toBe('before a')
    expect(readJournal(journal)).toEqual([])
  })

  test('if a later file cannot be written', () => {
    const [a, b] = [change(put('a')), change(put('b'))]
    // The name of its temporary file is taken by a directory that is not empty.
    mkdirSync(join(root, `b.tollgate-${process.pid}`, 'x'), { recursive: true })
    expect(() => applyChanges(journal, 't', [a, b])).toThrow()
    expect([text('a'), text('b')]).toEqual(['before a', 'before b'])
    expect(readJournal(journal)).toEqual([])
  })

  test('while another setup runs', () => {
    mkdirSync(journal)
    writeFileSync(join(journal, 'lock'), String(process.pid))
    const planned = change(put('a'))
    expect(() => applyChanges(journal, 't', [planned])).toThrow('another `tollgate setup`')
  })
})

describe('a file that changed since', () => {
  test('keeps the changes of the user, if our entries can be taken out', () => {
    const file = put('a')
    const { files } = applyChanges(journal, 't', [change(file)])
    put('a', 'after and mine')
    expect(statusOf(journal, 't')).toMatchObject([{ state: 'changed-since' }])
    const takeOut = (_: string, bytes: Uint8Array): Uint8Array =>
      Buffer.from(Buffer.from(bytes).toString().replace('after', 'before'))
    expect(undoAll(journal, 't', takeOut)).toMatchObject([{ how: 'taken-out' }])
    expect(text('a')).toBe('before and mine')
    expect(existsSync(files[0]?.backup ?? '')).toBe(true)
  })

  test('is left as it is, if they cannot; it can be undone later', () => {
    const file = put('a')
    applyChanges(journal, 't', [change(file), change(put('b'))])
    put('a', 'garbage')
    expect(undoAll(journal, 't', never).map(({ how }) => how)).toEqual(['restored', 'refused'])
    expect([text('a'), text('b')]).toEqual(['garbage', 'before b'])
    put('a', 'after')
    expect(undoAll(journal, 't', never)).toMatchObject([{ file, how: 'restored' }])
    expect(text('a')).toBe('before a')
  })

  test('is not restored from a damaged backup', () => {
    const file = put('a')
    const { files } = applyChanges(journal, 't', [change(file)])
    writeFileSync(files[0]?.backup ?? '', 'half')
    expect(undoAll(journal, 't', never)).toMatchObject([{ how: 'refused' }])
    expect(text('a')).toBe('after')
  })

  test('belongs to the user, if we wrote the whole file', () => {
    const file = put('a')
    applyChanges(journal, 't', [{ ...change(file), places: [] }])
    put('a', 'mine')
    expect(undoAll(journal, 't', never)).toMatchObject([{ how: 'kept' }])
    expect(text('a')).toBe('mine')
  })

  test('that is gone is no fault', () => {
    const file = put('a')
    applyChanges(journal, 't', [change(file)])
    rmSync(file)
    expect(statusOf(journal, 't')).toMatchObject([{ state: 'missing' }])
    expect(undoAll(journal, 't', never)).toMatchObject([{ how: 'missing' }])
  })
})
