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

/** What the gate says to a principal of this tier. */
function check(settings: PrivilegeSettings | undefined, tier: Tier, effect: EffectClass): string | undefined {
  const snapshot = { policy: { gates: { privilege: settings } }, effect, tier: () => tier }
  // Sound: the gate looks at nothing else.
  const said = privilege.check({} as Intent, snapshot as unknown as Snapshot)
  return said && `${said.verdict} ${said.reason}: ${said.detail ?? ''}`
}

describe('the settings', () => {
  it('are the documented ones where nothing is said', () => {
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

  it('take each need for itself, and the elevation', () => {
    const settings = settingsOf('{ needs: { read: standard }, elevation: { up-to: elevated, for: 15m } }')
    expect(settings.needs).toMatchObject({ read: 'standard', write: 'standard' })
    expect(settings.elevation).toEqual({ upTo: 'elevated', lasts: 900_000 })
  })

  it('name every mistake', () => {
    const cases: readonly (readonly [string, RegExp])[] = [
      ['needs: { write: root }', /`write` must be one of `observer`/],
      ['needs: { fly: admin }', /`fly` is not known here/],
      ['elevation: {}', /`elevation` needs both/],
      ['elevation: { up-to: elevated }', /`elevation` needs both/],
      ['elevation: { for: 15m }', /`elevation` needs both/],
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

describe('the rung', () => {
  it('denies exactly where the tier is below what the class needs', () => {
    const settings = settingsOf('{}')
    for (const tier of TIERS) {
      const allowed = EFFECT_CLASSES.filter((effect) => check(settings, tier, effect) === undefined)
      const expected = EFFECT_CLASSES.filter(
        (effect) => TIERS.indexOf(settings.needs[effect]) <= TIERS.indexOf(tier),
      )
      expect(allowed, tier).toEqual(expected)
    }
    expect(check(settings, 'observer', 'write')).toBe(
      'DENY INSUFFICIENT_PRIVILEGE: `write` needs the tier `standard`',
    )
  })

  it('asks a person where the session may be raised so far, and denies where not', () => {
    const settings = settingsOf('elevation: { up-to: elevated, for: 15m }')
    expect(check(settings, 'standard', 'delete')).toBe(
      'ESCALATE ELEVATION_REQUIRED: `delete` needs the tier `elevated`',
    )
    expect(check(settings, 'observer', 'write')).toMatch(/^ESCALATE ELEVATION_REQUIRED/)
    expect(check(settings, 'standard', 'admin')).toMatch(/^DENY INSUFFICIENT_PRIVILEGE/)
    expect(check(settings, 'elevated', 'delete')).toBeUndefined()
  })

  it('denies a tier that there is not', () => {
    // Sound: what must not be is what is tried here.
    expect(check(settingsOf('{}'), 'root' as Tier, 'read')).toMatch(/^DENY INSUFFICIENT_PRIVILEGE/)
  })

  it('is silent where it is not configured, and says so', () => {
    expect(check(undefined, 'observer', 'admin')).toBeUndefined()
    const standing = (settings: PrivilegeSettings | undefined): string =>
      // Sound: the gate looks at nothing else.
      privilege.standing({ gates: { privilege: settings } } as Parameters<typeof privilege.standing>[0])
    expect([standing(undefined), standing(settingsOf('{}'))]).toEqual(['not configured', 'active'])
  })
})
