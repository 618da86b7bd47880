// Used decisions and how long they are remembered.

import { expect, it } from 'vitest'
import { Spent } from '../src/spent.ts'

it('a decision is used once, also among many others', () => {
  const spent = new Spent()
  expect(spent.add('first', 0)).toBe(true)
  for (let i = 0; i < 30_000; i++) spent.add(`d${i}`, i)
  expect(spent.add('first', 59_999)).toBe(false)
})

it('a decision that can look new for longer is remembered for longer', () => {
  const spent = new Spent()
  spent.add('first', 0, 600_000)
  for (let i = 0; i < 30_000; i++) spent.add(`d${i}`, 60_000 + i)
  expect(spent.add('first', 599_999)).toBe(false)
})

it('expired decisions are forgotten when there are many', () => {
  const spent = new Spent()
  spent.add('first', 0)
  for (let i = 0; i < 9_999; i++) spent.add(`d${i}`, 0)
  expect(spent.add('first', 1_000_000)).toBe(false)
  spent.add('more', 1_000_000)
  expect(spent.add('first', 1_000_000)).toBe(true)
})
