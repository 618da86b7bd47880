// `docs/claims.md` names a test for every claim, and each of them exists.

import { existsSync, readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'

const ROOT = new URL('../../', import.meta.url)
const PAGE = readFileSync(new URL('docs/claims.md', ROOT), 'utf8')

interface Claim {
  readonly id: string
  readonly cells: readonly string[]
}

const claims = PAGE.split('\n').flatMap((line): Claim[] => {
  const id = /^\| ([A-Z]\d+) /.exec(line)?.[1]
  if (id === undefined) return []
  return [
    {
      id,
      cells: line
        .slice(1, -1)
        .split('|')
        .map((cell) => cell.trim()),
    },
  ]
})

describe('the claims', () => {
  it('are numbered without a gap', () => {
    const numbers = ['H', 'S', 'C'].flatMap((letter) => {
      const own = claims.filter(({ id }) => id.startsWith(letter))
      return own.map((_, i) => `${letter}${i + 1}`)
    })
    expect(claims.map(({ id }) => id)).toEqual(numbers)
    expect(claims.length).toBeGreaterThan(50)
  })

  it.each(claims)('$id names the way that it is kept, and a test that exists', ({ cells }) => {
    const [, claim = '', here = '', shown = ''] = cells
    expect(cells).toHaveLength(4)
    expect(claim).toMatch(/\.$/)
    expect(here).toMatch(/\.$|\)\.$/)
    const path = /^`([^`]+)`$/.exec(shown)?.[1] ?? ''
    expect(path).not.toBe('')
    expect(existsSync(new URL(path.startsWith('vectors/') ? path : `packages/${path}`, ROOT)), path).toBe(
      true,
    )
  })
})
