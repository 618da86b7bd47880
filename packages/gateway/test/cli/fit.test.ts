import { describe, expect, it } from 'vitest'
import { fitted, withNotesBelow } from '../../src/cli/program/fit.ts'

describe('a line that is too long for the terminal', () => {
  it.each([
    ['between words', 'one two three', 9, 2, ['one two', '  three']],
    ['and keeps the space before an answer', 'one two? ', 5, 0, ['one', 'two? ']],
    ['with less indent for a long word', 'aaaaa bbbbbbb cc', 8, 4, ['aaaaa', ' bbbbbbb', '    cc']],
    ['more than once', 'a bb ccc dd e', 5, 1, ['a bb', ' ccc', ' dd e']],
    [
      'not inside a command',
      'run `tollgate up --port 0` now',
      14,
      0,
      ['run', '`tollgate up --port 0`', 'now'],
    ],
    [
      'and keeps its columns',
      'ok    gateway  it runs well',
      22,
      15,
      ['ok    gateway  it runs', `${' '.repeat(15)}well`],
    ],
    [
      'without counting colours',
      '\u001B[31mred\u001B[39m and blue',
      12,
      0,
      ['\u001B[31mred\u001B[39m and blue'],
    ],
    ['after its label, if the word then fits', 'label abcdefghi', 10, 6, ['label', ' abcdefghi']],
    ['although a backtick has no partner', 'a ` b c', 5, 0, ['a ` b', 'c']],
  ] as const)('is broken %s', (_, line, columns, indent, parts) => {
    expect(fitted(line, indent, columns).split('\n')).toEqual(parts)
  })

  it.each([
    ['fits', 'one two', 7],
    ['goes to no terminal', 'one two', undefined],
    ['is one word', 'x'.repeat(20), 7],
  ])('is unchanged if it %s', (_, line, columns) => {
    expect(fitted(line, 2, columns)).toBe(line)
  })
})

it('puts the note of a long example below it', () => {
  const text = 'Examples:\n  tollgate up     # start\n  tollgate up --port 0   # on a free port\n'
  expect(withNotesBelow(text, 30)).toBe(
    'Examples:\n  tollgate up     # start\n  tollgate up --port 0\n      # on a free port\n',
  )
  expect(withNotesBelow(text, undefined)).toBe(text)
})
