import { describe, expect, it } from 'vitest'
import { inserted, insertRule } from '../../src/workbench/splice.ts'

const POLICY = `rules:
  - id: reading
    allow: "files/*"
    # of the rule above
  # of the rule below
  - id: acting
    require: "files/*"
`

describe('a rule that is inserted before another one', () => {
  it('leaves the comments of both rules with them', () => {
    const insertion = insertRule(POLICY, 'acting', '- id: new\n  allow: "files/add"')
    expect(inserted(POLICY, insertion ? [insertion] : [])).toBe(`rules:
  - id: reading
    allow: "files/*"
    # of the rule above
  - id: new
    allow: "files/add"
  # of the rule below
  - id: acting
    require: "files/*"
`)
  })
})
