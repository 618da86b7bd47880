import { REASONS, type ReasonCode } from '@tollgate/evidence'
import { describe, expect, it } from 'vitest'
import { LADDER } from '../src/index.ts'
import { THREAT_CLASSES, THREAT_CODES } from '../src/gates/threat/finding.ts'
import { parseVector, readVectors, runVector, type Expected } from './decisions.ts'

const vectors = readVectors()
const expectations = vectors.flatMap(({ steps }) => steps.flatMap(({ expected }) => expected ?? []))

describe('decision vectors', () => {
  for (const vector of vectors) {
    it(`${vector.name}: ${vector.fact}`, async () => {
      expect(await runVector(vector)).toEqual([])
    })
  }
})

const built = LADDER.map(({ name }) => name)

describe('the vectors together', () => {
  it('reach every reason code', () => {
    const reached = new Set(expectations.map(({ decision }) => decision?.reason))
    // Safe cast: the keys of the table are the codes.
    const codes = Object.keys(REASONS) as ReasonCode[]
    expect(codes.filter((code) => !reached.has(code))).toEqual([])
  })

  it('show for every step that it objects, that it is silent, and that it denies if it fails', () => {
    expect(built.flatMap((rung) => missingOf(rung))).toEqual([])
  })

  it('are more than 300, and at least three for every step', () => {
    expect(vectors.length).toBeGreaterThan(300)
    const by = (rung: string): number =>
      vectors.filter(({ steps }) => steps.some(({ expected }) => expected?.decision?.rung === rung)).length
    expect(['capture', ...built].filter((rung) => by(rung) < 3)).toEqual([])
  })

  it('show for every step that escalates that an approval overrides it', () => {
    const by = (test: (reason: ReasonCode) => boolean): string[] => [
      ...new Set(expectations.flatMap(({ decision: d }) => (d && test(d.reason) ? [d.rung] : []))),
    ]
    const asking = by((reason) => REASONS[reason].verdict === 'ESCALATE')
    const lifted = by((reason) => reason === 'APPROVAL_GRANTED')
    expect(asking).toContain('compliance')
    expect(asking.filter((rung) => !lifted.includes(rung))).toEqual([])
  })

  it('show every class of finding', () => {
    const words = expectations.flatMap(({ lines }) => lines.flatMap((line) => line.split(/[^A-Z_]+/)))
    const shown = new Set(words.map((word) => THREAT_CODES[word]?.class))
    expect(THREAT_CLASSES.filter((each) => !shown.has(each))).toEqual([])
  })

  it('each have a unique fact', () => {
    const facts = vectors.map(({ fact }) => fact)
    expect(facts.filter((fact, i) => facts.indexOf(fact) !== i)).toEqual([])
  })
})

/** Returns which of the three behaviours of a step no vector shows. */
function missingOf(rung: string): readonly string[] {
  const by = (test: (reason: ReasonCode) => boolean): boolean =>
    expectations.some(({ decision }) => decision?.rung === rung && test(decision.reason))
  const shown = {
    objects: by((reason) => reason !== 'GATE_FAILED' && REASONS[reason].verdict !== 'ALLOW'),
    'is silent': expectations.some(({ lines }: Expected) => lines.includes(`silent ${rung}`)),
    'is faulty': by((reason) => reason === 'GATE_FAILED'),
  }
  return Object.entries(shown).flatMap(([what, found]) =>
    found ? [] : [`no vector in which ${rung} ${what}`],
  )
}

const POLICY = `-- policy.yaml --
tools: { fs/read: { effect: read }, db/write: { effect: write } }
rules: [{ id: reading, allow: fs/read }, { id: writing, require: db/write }]
`
const CALL = `-- call.json --
{ "principal": "agent:ci", "session": "s1", "tool": "fs/read" }
`
const ALLOWED = '-- expect --\nALLOW RULE_ALLOWED by policy rule reading\n'

describe('a malformed vector', () => {
  const refuses = (what: string, text: string, name = 'a-case'): void => {
    it(`is refused if it has ${what}`, () => {
      expect(() => parseVector(name, text)).toThrow(/^[^,]+, line \d+: /)
    })
  }
  refuses('no fact', `${POLICY}${CALL}${ALLOWED}`)
  refuses('a malformed comment', `# a fact\npolicy\n${POLICY}${CALL}${ALLOWED}`)
  refuses('a name that is not in kebab-case', `# a fact\n${POLICY}${CALL}${ALLOWED}`, 'A_case')
  refuses('an unknown step', `# a fact\n-- allow --\n${POLICY}${CALL}${ALLOWED}`)
  refuses('a call without an expectation', `# a fact\n${POLICY}${CALL}${CALL}${ALLOWED}`)
  refuses('an expectation without a step', `# a fact\n${ALLOWED}`)
  refuses('two expectations of one call', `# a fact\n${POLICY}${CALL}${ALLOWED}${ALLOWED}`)
  refuses('no expectation at all', `# a fact\n${POLICY}`)
  refuses('an unknown reason', `# a fact\n${POLICY}${CALL}-- expect --\nDENY BECAUSE by policy\n`)
  refuses(
    'a reason of another verdict',
    `# a fact\n${POLICY}${CALL}-- expect --\nDENY RULE_ALLOWED by policy\n`,
  )
  refuses('a quota after the first step', `# a fact\n${POLICY}-- quota --\n3/h\n${CALL}${ALLOWED}`)
})

describe('the runner', () => {
  const finds = (what: string, steps: string, count = 1): void => {
    it(`finds ${what}`, async () => {
      expect(await runVector(parseVector('a-case', `# a fact\n${POLICY}${steps}`))).toHaveLength(count)
    })
  }
  finds('no problem in a correct vector', `${CALL}${ALLOWED}`, 0)
  finds('another verdict', `${CALL}-- expect --\nDENY NO_RULE_MATCHED by policy\n`)
  finds('another step', `${CALL}-- expect --\nALLOW RULE_ALLOWED by egress rule reading\n`)
  finds('a rule that was left out', `${CALL}-- expect --\nALLOW RULE_ALLOWED by policy\n`)
  finds('another score', `${CALL}${ALLOWED}score 0.1000\n`)
  finds('a detail that was not given', `${CALL}${ALLOWED}detail contains something\n`)
  finds('a step that is silent but not configured', `${CALL}${ALLOWED}silent temporal\n`)
  finds('an unknown line', `${CALL}${ALLOWED}scores 0.0000\n`)
  finds('a receipt that should not be', `${CALL}${ALLOWED}no receipt\n`)
  finds(
    'an answer that was accepted',
    `${CALL.replace('fs/read', 'db/write')}-- expect --
ESCALATE APPROVAL_REQUIRED by policy rule writing
-- approve --
{ "by": "user:olga", "request": "#1" }
-- expect --
REFUSED
`,
  )
  finds(
    'a receipt that is missing',
    `-- break-store --\n${CALL}-- expect --\nDENY LEDGER_UNAVAILABLE by capture\n`,
  )
  finds(
    'one of many calls that was not allowed',
    `${CALL.replace('"s1"', '"s1", "times": 2, "raw": "{"')}${ALLOWED}`,
  )

  const WATCHED = `-- policy.yaml --
tools: { fs/read: { effect: read, returns: [personal] } }
rules: [{ id: reading, allow: fs/read }]
gates: { taint: { results: { secret: redact } }, trust: {} }
`
  const ANSWERED = CALL.replace('"fs/read"', '"fs/read", "output": "hello"')
  const HANDED_ON = 'delivery full\neffect-labels personal\neffect-findings (none)\neffect-trust 501.0000\n'
  finds(
    'no problem with an expected result',
    `${WATCHED}${ANSWERED}${ALLOWED}${HANDED_ON}result contains hello\nresult lacks goodbye\nlabels (none)\n`,
    0,
  )
  finds('other labels', `${WATCHED}${ANSWERED}${ALLOWED}labels personal\n`)
  finds('another delivery', `${WATCHED}${ANSWERED}${ALLOWED}delivery redacted\n`)
  finds('other labels of the effect', `${WATCHED}${ANSWERED}${ALLOWED}effect-labels (none)\n`)
  finds('another trust after the effect', `${WATCHED}${ANSWERED}${ALLOWED}effect-trust 500.0000\n`)
  finds('content that is not forwarded', `${WATCHED}${ANSWERED}${ALLOWED}result contains goodbye\n`)
  finds('content that is forwarded', `${WATCHED}${ANSWERED}${ALLOWED}result lacks hello\n`)
  finds('a result where the tool gave none', `${WATCHED}${CALL}${ALLOWED}result lacks hello\n`)
  finds(
    'a delegation that was accepted',
    `${POLICY.replace('tools:', 'principals: { "agent:a": { tier: standard, key: KEY(agent:a) } }\ntools:')}
-- delegate --
{ "by": "agent:a", "to": "agent:b", "until": "1h" }
-- expect --
REFUSED
`,
  )

  it('refuses an output for a tool that the caller runs', async () => {
    const call = ANSWERED.replace('"output"', '"assurance": "advised", "output"')
    const vector = parseVector('a-case', `# a fact\n${POLICY}${call}${ALLOWED}`)
    await expect(runVector(vector)).rejects.toThrow('advised call')
  })

  it('refuses to change records of an unknown kind', async () => {
    const vector = parseVector(
      'a-case',
      `# a fact\n${POLICY}${CALL}${ALLOWED}-- lose-state --\neverything\n${CALL}${ALLOWED}`,
    )
    await expect(runVector(vector)).rejects.toThrow('write one of')
  })

  it('refuses a call with an unknown key', async () => {
    const vector = parseVector('a-case', `# a fact\n${POLICY}${CALL.replace('session', 'sesion')}${ALLOWED}`)
    await expect(runVector(vector)).rejects.toThrow('sesion')
  })

  it('refuses a policy with a mistake', async () => {
    const vector = parseVector('a-case', `# a fact\n-- policy.yaml --\nrule: []\n${CALL}${ALLOWED}`)
    await expect(runVector(vector)).rejects.toThrow('rule')
  })
})
