// Formatting policy files: it converges, and keeps the meaning and every comment.

import { parsePolicy } from '@tollgate/kernel/policy'
import { describe, expect, it } from 'vitest'
import { isScalar, parseDocument, visit } from 'yaml'
import { Random } from '../../../kernel/test/model/model-random.ts'
import { randomCondition, randomPolicy } from '../../../kernel/test/workbench/review-rig.ts'
import { formatPolicy } from '../../src/workbench/format.ts'
import { writtenPolicies } from './policies.ts'

/** The formatted text of a policy. */
function laidOut(text: string): string {
  const formatted = formatPolicy(text)
  if (!formatted.ok) throw new Error(formatted.mistakes.map(({ message }) => message).join('\n'))
  return formatted.text
}

/** The meaning of a policy without positions. */
function meaning(text: string): unknown {
  const parsed = parsePolicy(text)
  if (!parsed.ok) throw new Error('not a policy')
  const { rules, ...rest } = parsed.policy
  const plain = { ...rest, text: '', hash: '', rules: rules.map((rule) => ({ ...rule, line: 0 })) }
  return JSON.parse(
    JSON.stringify(plain, (_, value: unknown) =>
      value instanceof Map ? [...(value as Map<string, string>)] : value,
    ),
  ) as unknown
}

function comments(text: string): readonly string[] {
  return [...text.matchAll(/(?:^|\s)#(.*)$/gm)].map(([, comment = '']) => comment.trim()).sort()
}

function demandLaws(text: string, from: string): void {
  const once = laidOut(text)
  expect(laidOut(once), from).toBe(once)
  expect(meaning(once), from).toEqual(meaning(text))
}

describe('formatting', () => {
  it.each(writtenPolicies().map(({ from, text }) => [from, text]))(
    '%s converges and keeps the meaning',
    (from, text) => {
      demandLaws(text, from)
    },
  )

  it('random policies in random style converges, keeps the meaning and loses no comment', () => {
    const large = writtenPolicies().filter(({ text }) => text.length > 800 && text.length < 3000)
    let scrawls = 0
    for (let seed = 1; seed <= 16; seed++) {
      const random = new Random(seed)
      const plain = randomPolicy(random, () => randomCondition(random))
      const neat = random.chance(50) ? random.pick(large).text : plain
      const text = scrawled(neat, random)
      if (text === neat) continue
      scrawls++
      demandLaws(text, `seed ${seed}`)
      expect(comments(laidOut(text)), `seed ${seed}`).toEqual(comments(text))
    }
    expect(scrawls).toBeGreaterThan(10)
  })

  it('the same policy in another style gives the same text', () => {
    const words = [
      'tollgate: 1\nname: x\nrules: [{ id: a, allow: fs/read, door: mcp }]\n',
      '"name": "x"\n"tollgate": 1\nrules: [{ door: "mcp", "allow": "fs/read", id: a }]\n',
      "tollgate: 1\r\nname: 'x'\r\nrules: [\r\n  {\r\n\r\n id: 'a', allow: \"fs/read\",\r\n door: mcp }\r\n]\r\n",
    ]
    const expected = "tollgate: 1\nname: x\nrules: [{ id: a, allow: 'fs/read', door: mcp }]\n"
    expect(words.map(laidOut)).toEqual([expected, expected, expected])
  })
})

/** A policy in a careless style: keys in any order, all kinds of quotes, comments and empty lines. */
function scrawled(text: string, random: Random): string {
  const document = parseDocument(text)
  let count = 0
  visit(document, {
    Map(_, node) {
      // The order of tools and principals is significant.
      const isFree = node.items.every(({ key }) => isScalar(key) && /^[a-z-]+$/.test(String(key.value)))
      if (isFree && random.chance(40)) node.items.reverse()
      if (random.chance(20)) node.flow = random.chance(50)
    },
    Scalar(_, node) {
      if (typeof node.value === 'string')
        node.type = random.pick(['QUOTE_DOUBLE', 'QUOTE_SINGLE', 'PLAIN'] as const)
      if (random.chance(8)) node.comment = ` after ${count++}`
    },
    Pair(_, { key }) {
      if (!isScalar(key)) return
      if (random.chance(8)) key.commentBefore = ` before ${count++}\n and more ${count}`
      if (random.chance(10)) key.spaceBefore = true
    },
  })
  const written = document.toString({ lineWidth: 0, singleQuote: random.chance(50) })
  // Texts that do not parse are skipped.
  return parsePolicy(written).ok ? written : text
}

describe('the format', () => {
  it('has keys in the order of the documentation, and keeps the order of rules, tools and principals', () => {
    const text = `gates: { compliance: { rules: [] }, egress: { deny: [b.com], allow: [a.com] } }
rules:
  - { because: why, when: 'true', door: mcp, deny: z, id: z }
  - { id: a, deny: a }
tools: { z: { browser: true, effect: read }, a: { effect: read } }
principals: { z: { delegate-only: true, tier: admin }, a: { tier: observer } }
context: { workspaces: w, environments: e }
name: x
tollgate: 1
`
    expect(laidOut(text)).toBe(`tollgate: 1
name: x
context: { environments: e, workspaces: w }
principals: { 'z': { tier: admin, delegate-only: true }, 'a': { tier: observer } }
tools: { 'z': { effect: read, browser: true }, 'a': { effect: read } }
rules:
  - { id: z, deny: 'z', door: mcp, when: 'true', because: why }
  - { id: a, deny: 'a' }
gates: { egress: { allow: [a.com], deny: [b.com] }, compliance: { rules: [] } }
`)
  })

  it('splits collections that are wider than 110 columns, outermost first', () => {
    const list = Array.from({ length: 12 }, (_, i) => `server/tool_${i}`).join(', ')
    const text = `tollgate: 1\nname: x\nrules: [{ id: a, allow: [${list}], door: [mcp, llm] }]\n`
    const lines = laidOut(text).split('\n')
    expect(lines.slice(2, 7)).toEqual([
      'rules:',
      '  - id: a',
      '    allow:',
      "      - 'server/tool_0'",
      "      - 'server/tool_1'",
    ])
    expect(lines).toContain('    door: [mcp, llm]')
    const wide = (length: number): string =>
      laidOut(`tollgate: 1\nname: x\nrules:\n  - { id: a, deny: '${'n'.repeat(length)}' }\n`)
    expect(wide(87).split('\n')[3]).toHaveLength(110)
    expect(wide(88).split('\n')[3]).toBe('  - id: a')
  })

  it('keeps comments where they belong, also when keys move', () => {
    const text = `# about the file
name: x # the name
# about the version
tollgate: 1

# about the rules
rules:
  # about the first
  - allow: a # what
    # about the id
    id: a

  - { id: b, deny: b } # behind

# last words
`
    expect(laidOut(text)).toBe(`# about the file
# about the version
tollgate: 1
name: x # the name

# about the rules
rules:
  # about the first
  # about the id
  - id: a
    allow: 'a' # what

  - { id: b, deny: 'b' } # behind

# last words
`)
  })

  it('leaves conditions of several lines and schemas of tools as they are', () => {
    const text = `tollgate: 1
name: x
tools:
  'a':
    effect: read
    schema: { "type": "object", properties: { b: { type: "string" }, a: {} } }
rules:
  - id: a
    deny: 'a'
    when: |
      has(args.b) &&
        args.b == "c"
`
    expect(laidOut(text)).toBe(text)
  })

  it('keeps comments above their key if the preceding block ends with a comment', () => {
    const text = `tollgate: 1
gates:
  egress:
    allow:
      - a.test
      # end of hosts
    # about asking
    ask: []
    # end of the gate

# ABOUT RULES
rules:
  - allow: t
    id: a
    # end of a

  # ABOUT B

  # never remove
  - deny: t
    id: b
  # end of rules

# ABOUT NAME
name: n
`
    expect(laidOut(text)).toBe(`tollgate: 1

# ABOUT NAME
name: n

# ABOUT RULES
rules:
  - id: a
    allow: 't'
    # end of a

  # ABOUT B

  # never remove
  - id: b
    deny: 't'
  # end of rules
gates:
  egress:
    allow:
      - a.test
      # end of hosts
    # about asking
    ask: []
    # end of the gate
`)
  })

  it('does not treat texts as comments', () => {
    const text = `tollgate: 1
name: n
tools:
  'a':
    effect: read
    schema:
      description: |
        one
          # two

        # three
      title: "x

        # y"
      # end of the schema
  # about b
  'b': { effect: read }
rules: []
# last words
`
    expect(laidOut(text)).toContain('        one\n          # two\n\n        # three\n')
    expect(laidOut(text)).toContain("      # end of the schema\n  # about b\n  'b': { effect: read }\n")
    expect(laidOut(text).endsWith('rules: []\n\n# last words\n')).toBe(true)
  })

  it('keeps numbers as written', () => {
    const text = `tollgate: 1
name: x
tools:
  'a':
    effect: read
    schema: { maximum: 1e3, minimum: .5, multipleOf: 0x10, maxLength: +7, default: 1.50 }
rules: []
gates:
  session-risk: { threshold: .40 }
`
    expect(laidOut(text)).toBe(text)
  })

  it('is refused for an invalid policy, with its mistakes', () => {
    expect(formatPolicy('tollgate: 1\nname: x\nrules: [{ id: a, permit: b }]\n')).toMatchObject({
      ok: false,
      mistakes: [{ line: 3 }, { line: 3 }],
    })
    for (const text of ['', 'a: [', '\u0000', '- a', '&a x: *a']) expect(formatPolicy(text).ok).toBe(false)
  })
})
