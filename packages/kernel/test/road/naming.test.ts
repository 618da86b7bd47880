// The spellings of tools: every door accepts them, and everything behind the doors uses the canonical name.

import fc from 'fast-check'
import { describe, expect, it, test } from 'vitest'
import { definitionOf, pinTool, setFreeze } from '../../src/admin.ts'
import { createSpellings, plainName } from '../../src/spellings.ts'
import { createRig, type Rig } from '../rig.ts'
import { foresee } from '../../src/workbench/explain/foresee.ts'

const ACCEPTED = /^[a-zA-Z0-9_-]{1,64}$/
const LONG = `files/${'x'.repeat(100)}`

describe('a plain name', () => {
  test.each([
    ['files/read', 'files__read'],
    ['files/read.text', 'files__read_text'],
    ['a__b/c', 'a__b__c'],
    ['read_note', 'read_note'],
    ['files/a/b', 'files__a_b'],
  ])('of %s is %s', (tool, plain) => {
    expect(plainName(tool)).toBe(plain)
  })

  it('that would be too long ends with a hash of the canonical name', () => {
    const [one, two] = [plainName(`${LONG}1`), plainName(`${LONG}2`)]
    expect(one).toMatch(/^files__x{48}_[0-9a-f]{8}$/)
    expect(one).toHaveLength(64)
    expect(two).not.toBe(one)
    expect(plainName(`files/${'x'.repeat(57)}`)).toBe(`files__${'x'.repeat(57)}`)
  })

  it('fits what model providers accept, and is one of the spellings of its tool', () => {
    const server = fc.stringMatching(/^[a-z0-9][a-z0-9_-]{0,31}$/)
    const own = fc.stringMatching(/^[A-Za-z0-9_.\-/]{1,128}$/)
    fc.assert(
      fc.property(server, own, (name, tool) => {
        const full = `${name}/${tool}`
        expect(plainName(full)).toMatch(ACCEPTED)
        expect(createSpellings([full]).meant(plainName(full))).toEqual([full])
      }),
    )
  })
})

describe('a name', () => {
  const spellings = createSpellings([
    'files/read',
    LONG,
    'a/b__c',
    'a__b/c',
    'mcp/x',
    'note',
    'files:roots/list',
    'x',
  ])

  test.each([
    ['files/read', ['files/read']],
    ['files__read', ['files/read']],
    ['mcp__files__read', ['files/read']],
    ['mcp__tollgate__files__read', ['files/read']],
    [plainName(LONG), [LONG]],
    [LONG.replace('/', '__'), [LONG]],
    [`mcp__tollgate__${plainName(LONG)}`, [LONG]],
    ['note', ['note']],
    ['files:roots/list', ['files:roots/list']],
    ['a__b__c', ['a/b__c', 'a__b/c']],
    ['mcp__a__b__c', ['a/b__c', 'a__b/c']],
    ['a/b__c', ['a/b__c']],
    // Not a spelling: the server is not named, another case, another prefix, or a name of its own.
    ['read', []],
    ['Files__read', []],
    ['files_read', []],
    ['mcp_files_read', []],
    ['mcp__mcp__files__read', []],
    ['files__roots__list', []],
    ['files/nothing', []],
    ['', []],
  ])('%s means %j', (name, tools) => {
    expect(spellings.meant(name)).toEqual(tools)
  })
})

const POLICY = `
principals: { "agent:*": { tier: elevated } }
tools:
  "files/*": { effect: read, destinations: none }
  "declared/exactly": { effect: read, destinations: none }
  "note": { effect: read, destinations: none }
rules:
  - { id: no, deny: "files/secret" }
  - { id: yes, allow: ["files/*", "declared/exactly", "note", "a*"] }
gates:
  temporal: { rate: { "files/read": 2/h } }
`

async function rigWith(...offered: readonly string[]): Promise<Rig> {
  const rig = await createRig({ policy: POLICY })
  for (const tool of offered) {
    const definition = definitionOf({ tool })
    rig.kernel.catalogue.offer(tool, definition)
    await pinTool(rig.kernel, tool, definition.hash, 'user:olga')
  }
  return rig
}

const DOORS = ['mcp', 'llm', 'hook', 'http', 'sdk', 'browser'] as const

describe('a call', () => {
  test.each(DOORS)('at the door %s is judged and recorded under the canonical name', async (door) => {
    const rig = await rigWith('files/read', 'files/secret')
    for (const tool of ['files__secret', 'mcp__files__secret', 'files/secret']) {
      const { decided } = await rig.authorize({ tool, door })
      expect([decided.verdict, rig.last('decision').tool]).toEqual(['DENY', 'files/secret'])
    }
  })

  it('uses the limits of its tool in every spelling', async () => {
    const rig = await rigWith('files/read')
    const verdicts = []
    for (const tool of ['files/read', 'files__read', 'mcp__files__read'])
      verdicts.push((await rig.authorize({ tool })).decided.reason)
    expect(verdicts).toEqual(['RULE_ALLOWED', 'RULE_ALLOWED', 'RATE_EXCEEDED'])
  })

  it('gives the tool its canonical name', async () => {
    const rig = await rigWith('files/read')
    const { effect } = await rig.enforce({ tool: 'files__read' }, ({ tool }) =>
      Promise.resolve({ status: 'COMPLETED', output: new TextEncoder().encode(tool) }),
    )
    expect(effect?.outcome).toMatchObject({ output: new TextEncoder().encode('files/read') })
  })

  it('of a tool that only the policy declares is found without a server', async () => {
    const rig = await rigWith()
    expect((await rig.authorize({ tool: 'mcp__declared__exactly' })).decided.verdict).toBe('ALLOW')
    // A pattern declares no name, and a spelling without a known tool is a name of its own.
    expect((await rig.authorize({ tool: 'files__any' })).decided.reason).toBe('DENY_TOOL_NOT_FOUND')
  })

  it('with an ambiguous name is a call of no tool, and the denial names the candidates', async () => {
    const rig = await rigWith('a/b__c', 'a__b/c')
    const { decided } = await rig.authorize({ tool: 'a__b__c' })
    expect(decided).toMatchObject({
      reason: 'DENY_TOOL_NOT_FOUND',
      detail: '`a__b__c` can mean `a/b__c` or `a__b/c`; call the tool by one of these names',
    })
    expect(rig.last('decision')).toMatchObject({ tool: 'a__b__c', verdict: 'DENY' })
    expect((await rig.authorize({ tool: 'a__b/c' })).decided.verdict).not.toBe('DENY')
  })

  it('becomes ambiguous when the policy declares a spelling as a name of its own', async () => {
    const rig = await createRig({
      policy: POLICY.replace('"note":', '"files__read":').replace('"note",', '"files__read",'),
    })
    expect((await rig.authorize({ tool: 'files__read' })).decided.verdict).toBe('ALLOW')
    rig.kernel.catalogue.offer('files/read', definitionOf({ tool: 'read' }))
    expect((await rig.authorize({ tool: 'files__read' })).decided).toMatchObject({
      reason: 'DENY_TOOL_NOT_FOUND',
      detail: expect.stringContaining('`files/read`') as string,
    })
    rig.kernel.catalogue.withdraw('files/read')
    expect((await rig.authorize({ tool: 'files__read' })).decided.verdict).toBe('ALLOW')
  })

  it('is explained under the canonical name', async () => {
    const rig = await rigWith('files/secret')
    const { intent, judgement } = await foresee(rig.kernel, rig.call({ tool: 'files__secret' }))
    expect([intent.tool, judgement.rule?.id]).toEqual(['files/secret', 'no'])
  })
})

describe('a freeze of a tool', () => {
  const freeze = (rig: Rig, target: string, frozen = true): Promise<unknown> =>
    setFreeze(rig.kernel, { scope: 'tool', target, frozen, by: 'user:olga' })
  const reasonOf = async (rig: Rig, tool: string): Promise<string> =>
    (await rig.authorize({ tool })).decided.reason

  it('holds for all spellings, whichever one names it', async () => {
    const rig = await rigWith('files/read')
    await freeze(rig, 'mcp__files__read')
    expect(rig.last('freeze').target).toBe('files/read')
    expect(await reasonOf(rig, 'files/read')).toBe('TOOL_FROZEN')
    expect(await reasonOf(rig, 'files__read')).toBe('TOOL_FROZEN')
    await freeze(rig, 'files__read', false)
    expect(await reasonOf(rig, 'files__read')).toBe('RULE_ALLOWED')
  })

  it('by an ambiguous name is refused with the candidates', async () => {
    const rig = await rigWith('a/b__c', 'a__b/c')
    await expect(freeze(rig, 'a__b__c')).rejects.toThrow('can mean `a/b__c` or `a__b/c`; name one of them')
  })

  it('of a name that was unknown then is lifted by that name', async () => {
    const rig = await rigWith()
    await freeze(rig, 'files__read')
    rig.kernel.catalogue.offer('files/read', definitionOf({ tool: 'read' }))
    await freeze(rig, 'files__read', false)
    expect(rig.kernel.freezes.any).toBe(false)
  })
})
