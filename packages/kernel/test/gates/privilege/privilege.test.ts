import { describe, expect, it } from 'vitest'
import { TIERS, EFFECT_CLASSES, type EffectClass, type Tier } from '@tollgate/evidence'
import type { Intent } from '../../../src/road/capture.ts'
import { privilege } from '../../../src/gates/privilege/gate.ts'
import { readYaml } from '../../../src/policy/reader/read.ts'
import { readPrivilege, type PrivilegeSettings } from '../../../src/gates/privilege/settings.ts'
import type { Snapshot } from '../../../src/road/snapshot.ts'

function settingsOf(text: string): PrivilegeSettings {
  const reader = readYaml(text)
  const settings = readPrivilege(reader, reader.root)
  expect(reader.mistakes).toEqual([])
  return settings
}

/** The objection of the gate to a principal of this tier, as text. */
function check(
  settings: PrivilegeSettings | undefined,
  tier: Tier,
  effect: EffectClass,
  tool: object = { declared: {} },
): string | undefined {
  const snapshot = { policy: { gates: { privilege: settings } }, effect, tier: () => tier, tool }
  // Sound: the gate uses nothing else.
  const said = privilege.check({} as Intent, snapshot as unknown as Snapshot)
  return said && `${said.verdict} ${said.reason}: ${said.detail ?? ''}`
}

describe('the settings', () => {
  it('have the documented defaults', () => {
    expect(settingsOf('{}')).toEqual({
      needs: {
        read: 'observer',
        write: 'standard',
        delete: 'elevated',
        execute: 'elevated',
        send: 'standard',
        pay: 'elevated',
        admin: 'admin',
      },
      elevation: undefined,
    })
  })

  it('read single needs and the elevation', () => {
    const settings = settingsOf('{ needs: { read: standard }, elevation: { up-to: elevated, for: 15m } }')
    expect(settings.needs).toMatchObject({ read: 'standard', write: 'standard' })
    expect(settings.elevation).toEqual({ upTo: 'elevated', lasts: 900_000 })
  })

  it('report every mistake', () => {
    const cases: readonly (readonly [string, RegExp])[] = [
      ['needs: { write: root }', /`write` must be one of `observer`/],
      ['needs: { fly: admin }', /`fly` is not known here/],
      ['elevation: {}', /`elevation` needs `up-to` and `for`/],
      ['elevation: { up-to: elevated }', /`elevation` needs `up-to` and `for`/],
      ['elevation: { for: 15m }', /`elevation` needs `up-to` and `for`/],
      ['elevation: { up-to: god, for: 15m }', /`up-to` must be one of/],
      ['elevation: { up-to: admin, for: 2d }', /`for` must be a time .* at most 1 days/],
      ['elevation: yes', /must be a mapping/],
      ['- 1', /must be a mapping/],
    ]
    for (const [text, message] of cases) {
      const reader = readYaml(text)
      const { elevation } = readPrivilege(reader, reader.root)
      expect(reader.mistakes[0]?.message, text).toMatch(message)
      expect(elevation, text).toBeUndefined()
    }
  })
})

describe('the gate', () => {
  it('denies exactly if the tier is below the needed one', () => {
    const settings = settingsOf('{}')
    for (const tier of TIERS) {
      const allowed = EFFECT_CLASSES.filter((effect) => check(settings, tier, effect) === undefined)
      const expected = EFFECT_CLASSES.filter(
        (effect) => TIERS.indexOf(settings.needs[effect]) <= TIERS.indexOf(tier),
      )
      expect(allowed, tier).toEqual(expected)
    }
    expect(check(settings, 'observer', 'write')).toBe(
      'DENY INSUFFICIENT_PRIVILEGE: `write` needs the tier `standard`, the principal has `observer`',
    )
  })

  it('escalates if elevation to the needed tier is allowed, and denies otherwise', () => {
    const settings = settingsOf('elevation: { up-to: elevated, for: 15m }')
    expect(check(settings, 'standard', 'delete')).toBe(
      'ESCALATE ELEVATION_REQUIRED: `delete` needs the tier `elevated`, the principal has `standard`',
    )
    expect(check(settings, 'observer', 'write')).toMatch(/^ESCALATE ELEVATION_REQUIRED/)
    expect(check(settings, 'standard', 'admin')).toMatch(/^DENY INSUFFICIENT_PRIVILEGE/)
    expect(check(settings, 'elevated', 'delete')).toBeUndefined()
  })

  it('does not object to a tool that the policy does not declare', () => {
    expect(check(settingsOf('{}'), 'observer', 'admin', {})).toBeUndefined()
    const raised = settingsOf('elevation: { up-to: admin, for: 15m }')
    expect(check(raised, 'observer', 'admin', {})).toBeUndefined()
  })

  it('denies an unknown tier', () => {
    // Sound: the test needs an invalid value.
    expect(check(settingsOf('{}'), 'root' as Tier, 'read')).toMatch(/^DENY INSUFFICIENT_PRIVILEGE/)
  })

  it('does not object if it is not configured, and reports that status', () => {
    expect(check(undefined, 'observer', 'admin')).toBeUndefined()
    const standing = (settings: PrivilegeSettings | undefined): string =>
      // Sound: the gate uses nothing else.
      privilege.standing({ gates: { privilege: settings } } as Parameters<typeof privilege.standing>[0])
    expect([standing(undefined), standing(settingsOf('{}'))]).toEqual(['not configured', 'active'])
  })
})
