// The configuration of each agent in each scope: added to what is there, and undone byte for byte.

import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { invalidHook } from '../../../../src/cli/setup/agents/claude-schema.ts'
import { agentOf, type HookFile } from '../../../../src/cli/setup/agents/agents.ts'
import { partsIn } from '../../../../src/cli/setup/agents/install.ts'
import { AGENTS, SCOPES, type AgentId, type SetupScope } from '../../../../src/cli/setup/agents/names.ts'
import { isInPlace, planHookFile } from '../../../../src/cli/setup/agents/plan.ts'
import { takeOutHooks } from '../../../../src/cli/setup/agents/take-out.ts'
import { applyChanges } from '../../../../src/cli/setup/changes/apply.ts'
import { statusOf, undoAll } from '../../../../src/cli/setup/changes/undo.ts'
import { isGatePath } from '../../../../../kernel/src/shell/kinds.ts'
import { newFolder } from '../../../gateway-rig.ts'

const SCRIPT = "/home/u/.config/tollgate/agents/it's/hook"

/** Where each agent reads its hooks. */
const PLACES: Readonly<Record<AgentId, Readonly<Record<SetupScope, string | undefined>>>> = {
  'claude-code': {
    user: '/home/u/.claude/settings.json',
    project: '/work/p/.claude/settings.local.json',
    managed: '/etc/claude-code/managed-settings.json',
  },
  codex: {
    user: '/home/u/.codex/hooks.json',
    project: '/work/p/.codex/hooks.json',
    managed: '/etc/codex/requirements.toml',
  },
  cursor: {
    user: '/home/u/.cursor/hooks.json',
    project: '/work/p/.cursor/hooks.json',
    managed: '/etc/cursor/hooks.json',
  },
  copilot: {
    user: '/home/u/.copilot/hooks/tollgate.json',
    project: '/work/p/.github/hooks/tollgate.json',
    managed: '/etc/github-copilot/policy.d/tollgate.json',
  },
  opencode: {
    user: '/home/u/.config/opencode/plugins/tollgate.js',
    project: '/work/p/.opencode/plugins/tollgate.js',
    managed: undefined,
  },
}

const AT = { platform: 'linux', env: {}, home: '/home/u', project: '/work/p' } as const

const CASES = AGENTS.flatMap((id) => SCOPES.map((scope) => [id, scope, PLACES[id][scope]] as const))

describe.each(CASES)('%s, scope %s', (id, scope, place) => {
  const wanted = agentOf(id).hookFile(AT, scope, SCRIPT)

  test('has its file, or no such scope', () => expect(wanted?.file).toBe(place))
  if (!wanted) return

  /** The same in a folder of this test. */
  function here(before?: string): {
    readonly root: string
    readonly journal: string
    readonly own: HookFile
  } {
    const root = newFolder()
    const file = join(root, wanted?.file ?? '')
    if (before !== undefined) {
      mkdirSync(dirname(file), { recursive: true })
      writeFileSync(file, before)
    }
    return { root, journal: join(root, 'journal'), own: { ...(wanted as HookFile), file } }
  }

  function applied({ journal, own }: ReturnType<typeof here>): string {
    const planned = planHookFile(own)
    if (!planned) throw new Error('nothing is planned')
    applyChanges(journal, id, [planned.change])
    return readFileSync(own.file, 'utf8')
  }

  test('a new file has every hook, and undo removes it with its folders', () => {
    const site = here()
    const text = applied(site)
    expect(isInPlace(text, site.own)).toBe(true)
    for (const event of agentOf(id).events) expect(text).toContain(event)
    expect(text).not.toMatch(/tg_agent/)
    expect(planHookFile(site.own)).toBeUndefined()
    expect(statusOf(site.journal, id)).toMatchObject([{ file: site.own.file, state: 'in-place' }])
    expect(undoAll(site.journal, id, takeOutHooks)).toMatchObject([{ how: 'removed' }])
    expect(readdirSync(site.root)).toEqual(['journal'])
  })

  if (wanted.form === 'whole') {
    test('a file of someone else is refused', () => {
      expect(() => planHookFile(here('// mine\n').own)).toThrow(/is a file of someone else/)
    })
    test('a changed file of ours is replaced, and one that the user changed stays after undo', () => {
      const site = here()
      const text = applied(site)
      writeFileSync(site.own.file, `${text}\n`)
      expect(planHookFile(site.own)).toBeDefined()
      expect(undoAll(site.journal, id, takeOutHooks)).toMatchObject([{ how: 'kept' }])
      expect(existsSync(site.own.file)).toBe(true)
    })
    return
  }

  if (wanted.form === 'block') {
    const others = 'allowed_sandbox_modes = ["read-only"] # mine\n'
    test('other requirements keep their bytes, and undo removes only ours', () => {
      const site = here(others)
      const text = applied(site)
      expect(text.startsWith(others)).toBe(true)
      writeFileSync(site.own.file, `${text}later = 1\n`)
      expect(undoAll(site.journal, id, takeOutHooks)).toMatchObject([{ how: 'taken-out' }])
      expect(readFileSync(site.own.file, 'utf8')).toBe(`${others}later = 1\n`)
    })
    test.each(['[hooks]\n', '[features]\na = true\n', '[[hooks.Stop]]\n', 'a = ', 'features.x = true\n'])(
      'a file that has such tables, or cannot be read, is left alone: %j',
      (text) => expect(() => planHookFile(here(text).own)).toThrow(/stays as it is/),
    )
    return
  }

  const mine = '{\n\t"version": 1, "other": [1.50, "\\u0061"],\n\t"hooks": {\n\t\t"x": []\n\t}\n}\n'

  test('a file of the user is undone byte for byte', () => {
    const site = here(mine)
    const text = applied(site)
    expect(text).toContain('[1.50, "\\u0061"]')
    expect(isInPlace(text, site.own)).toBe(true)
    expect(undoAll(site.journal, id, takeOutHooks)).toMatchObject([{ how: 'restored' }])
    expect(readFileSync(site.own.file, 'utf8')).toBe(mine)
  })

  test('later changes of the user survive undo and repair', () => {
    const site = here(mine)
    const text = applied(site)
    const changed = text.replace('"version": 1', '"version": 1, "later": true').replace('hook ', 'hook-x ')
    writeFileSync(site.own.file, changed)
    const repair = planHookFile(site.own)
    const repaired = Buffer.from(repair?.change.after ?? []).toString('utf8')
    expect(isInPlace(repaired, site.own)).toBe(true)
    expect(repaired).toContain('"later": true')
    expect(undoAll(site.journal, id, takeOutHooks)).toMatchObject([{ how: 'taken-out' }])
    expect(readFileSync(site.own.file, 'utf8')).toBe(
      mine.replace('"version": 1', '"version": 1, "later": true'),
    )
  })

  test('a file that cannot be read is left alone', () => {
    for (const broken of ['{ "hooks": ', '{ "hooks": [] }', '[]']) {
      const { own } = here(broken)
      expect(() => planHookFile(own)).toThrow(/stays as it is/)
    }
  })
})

test.each(CASES)("the policy knows every file of %s, scope %s, as the gate's own", (id, scope, place) => {
  const folder = scope === 'managed' ? '/etc/tollgate/agents' : '/home/u/.config/tollgate/agents'
  const { entry, connection } = partsIn(join(folder, id), id)
  for (const path of [entry, connection, '/home/u/.local/state/tollgate-setup/journal.json']) {
    expect(isGatePath(path, 'reads', []), path).toBe(true)
  }
  const backup = `${place ?? entry}.tollgate-backup-20260105T090000Z`
  for (const path of [place ?? entry, backup]) expect(isGatePath(path, 'writes', []), path).toBe(true)
})

test('the hooks that setup writes are valid for Claude Code', () => {
  const content = agentOf('claude-code').hookFile(AT, 'user', SCRIPT)?.content
  expect(content).toBeTypeOf('object')
  expect(invalidHook(content)).toBeUndefined()
})

const COMMAND = { type: 'command', command: 'x' }

test.each([
  [[], 'hooks'],
  [{ PreToolUse: {} }, 'hooks.PreToolUse'],
  [{ PreToolUse: [1] }, 'hooks.PreToolUse[0]'],
  [{ PreToolUse: [{ matcher: 1, hooks: [] }] }, 'hooks.PreToolUse[0].matcher'],
  [{ PreToolUse: [{ matcher: '*' }] }, 'hooks.PreToolUse[0].hooks'],
  [{ Stop: [{ hooks: [{ type: 'shell' }] }] }, 'hooks.Stop[0].hooks[0].type'],
  [{ Stop: [{ hooks: [{ type: 'command' }] }] }, 'hooks.Stop[0].hooks[0].command'],
  [{ Stop: [{ hooks: [COMMAND, { ...COMMAND, timeout: '5' }] }] }, 'hooks.Stop[0].hooks[1].timeout'],
  [{ Stop: [{ hooks: [{ ...COMMAND, onFailure: 'ask' }] }] }, 'hooks.Stop[0].hooks[0].onFailure'],
  [{ Stop: [{ hooks: [{ ...COMMAND, onFailure: 'continue', timeout: 1 }] }] }, undefined],
])('an entry that makes Claude Code drop its settings is found: %j', (hooks, place) => {
  expect(invalidHook({ hooks })).toBe(place)
})
