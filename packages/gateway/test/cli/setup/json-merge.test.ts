// Adds entries to the JSON of a user, and takes them out again: everything else keeps its bytes.

import { describe, expect, test } from 'vitest'
import { edited } from '../../../src/cli/program/unified-diff.ts'
import { additionEdits, without, type AddedMembers } from '../../../src/cli/setup/clients/json-merge.ts'

const ADDED = { hooks: { Pre: [{ run: 'OURS pre' }], Post: [{ run: 'OURS post' }] } }

function added(text: string, value: AddedMembers = ADDED): string {
  return edited(text, additionEdits(text, value))
}

/** Files as users have them. Taking the entries out gives the exact bytes back. */
const FILES: Readonly<Record<string, string>> = {
  'without hooks': '{\n  "theme": "dark"\n}\n',
  'on one line': '{ "theme": "dark" }',
  'with tabs': '{\n\t"theme": "dark",\n\t"hooks": {\n\t\t"Pre": [\n\t\t\t{ "run": "mine" }\n\t\t]\n\t}\n}\n',
  'with Windows line ends':
    '{\r\n  "hooks": {\r\n    "Pre": [\r\n      { "run": "mine" }\r\n    ]\r\n  }\r\n}\r\n',
  'with comments':
    '{\n  // mine\n  "hooks": {\n    "Pre": [\n      { "run": "mine" } // first\n      // last\n    ],\n    /* more */\n    "Other": []\n  }\n}\n',
  'with trailing commas': '{\n  "hooks": {\n    "Pre": [\n      { "run": "mine" },\n    ],\n  },\n}\n',
  'with a byte order mark': '\uFEFF{ "a": 1 }\n',
  'with hooks before other members': '{ "hooks": { "Pre": [{ "run": "mine" }] }, "z": [1, 2] }',
  'with hooks on one line': '{"hooks":{"Pre":[{"run":"mine"}],"Post":[{"run":"a"},{"run":"b"}]}}',
}

describe.each(Object.entries(FILES))('a file %s', (_, text) => {
  test('gets the entries, and gives the exact bytes back', () => {
    const after = added(text)
    expect(after).toContain('OURS pre')
    expect(without(after, 'hooks', 'OURS')).toBe(text)
  })

  test('keeps every byte of its own, in order', () => {
    const after = added(text)
    let at = 0
    for (const sign of text) {
      const next = after.indexOf(sign, at)
      expect(next).toBeGreaterThanOrEqual(at)
      at = next + 1
    }
  })

  test('loses only the entries, also after a change of the user', () => {
    const after = added(text).replace('{', '{ "new": true,')
    const left = without(after, 'hooks', 'OURS')
    expect(left).not.toContain('OURS')
    expect(left).toBe(text.replace('{', '{ "new": true,'))
  })
})

test('an empty object gets the entries', () => {
  expect(JSON.parse(added('{}'))).toEqual(ADDED)
  expect(JSON.parse(added('{\n}\n'))).toEqual(ADDED)
  expect(without(added('{}'), 'hooks', 'OURS')).toBe('{}')
})

test('a comment in an empty list stays', () => {
  const after = added('{ "hooks": { "Pre": [ /* none yet */ ] } }')
  expect(after).toContain('/* none yet */')
  expect(without(after, 'hooks', 'OURS')).not.toContain('OURS')
})

test('a scalar is only added where nothing is', () => {
  expect(JSON.parse(added('{ "version": 2 }', { version: 1, hooks: {} }))).toEqual({ version: 2, hooks: {} })
})

test.each([
  ['[]', /not a JSON object/],
  ['{ "hooks": [] }', /`hooks` is not an object/],
  ['{ "hooks": { "Pre": {} } }', /`hooks.Pre` is not a list/],
  ['{ "hooks": {}, "hooks": {} }', /`hooks` is there twice/],
  ['{ "hooks": { "Pre": [1, 2 } }', /line 1/],
])('%s is refused', (text, because) => {
  expect(() => added(text)).toThrow(because)
})
