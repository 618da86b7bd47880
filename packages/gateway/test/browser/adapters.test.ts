import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import {
  adapterOf,
  ADAPTERS,
  recogniseAdapter,
  refusedOption,
  type AdapterName,
} from '../../src/browser/servers/adapters.ts'
import { withoutVariables } from '../../src/mcp/server/with-browser.ts'
import { derivePlannerRef, readRequest } from '../../src/browser/door/request.ts'

interface Published {
  readonly package: string
  readonly tools: Readonly<Record<string, readonly string[]>>
}

/** The tools that the published servers list, with the names of their arguments. `published.compat.ts` compares it with them. */
// Sound: the file is ours.
const PUBLISHED = JSON.parse(
  readFileSync(new URL('published-tools.json', import.meta.url), 'utf8'),
) as Readonly<Record<AdapterName, Published>>

/** The tools that the gateway cannot guard, so that no agent sees them. */
const OFF: Readonly<Record<AdapterName, readonly string[]>> = {
  playwright: [
    'browser_get_config',
    'browser_resume',
    'browser_route',
    'browser_run_code_unsafe',
    'browser_set_storage_state',
    'browser_storage_state',
  ],
  devtools: [
    'analyze_heapsnapshot_contexts',
    'close_heapsnapshot',
    'compare_heapsnapshots',
    'get_heapsnapshot_class_nodes',
    'get_heapsnapshot_details',
    'get_heapsnapshot_dominators',
    'get_heapsnapshot_duplicate_strings',
    'get_heapsnapshot_edges',
    'get_heapsnapshot_object_details',
    'get_heapsnapshot_retainers',
    'get_heapsnapshot_retaining_paths',
    'get_heapsnapshot_summary',
    'get_os_app_state',
    'install_extension',
    'install_pwa',
    'launch_pwa',
    'lighthouse_audit',
    'list_extensions',
    'query_heapsnapshot_objects',
    'reload_extension',
    'take_heapsnapshot',
    'trigger_extension_action',
    'uninstall_extension',
    'uninstall_pwa',
  ],
}

describe.each(ADAPTERS)('the table of %s', (name) => {
  const adapter = adapterOf(name)
  const { tools } = PUBLISHED[name]

  it('has a row for every tool that the server lists, or leaves it out on purpose', () => {
    const rows = [...adapter.tools.keys()]
    expect([...rows, ...OFF[name]].sort()).toEqual(Object.keys(tools).sort())
  })

  it('names only arguments that the tools have', () => {
    for (const [tool, row] of adapter.tools) {
      const named = [row.address, ...row.refused, ...row.elements.map((path) => path.replace(/\[\].*$/, ''))]
      const known = tools[tool] ?? []
      expect(
        named.filter((each) => each !== undefined && !known.includes(each)),
        tool,
      ).toEqual([])
    }
  })

  it('knows every argument that names an element, an address or a file', () => {
    const telling =
      /^(?:target|uid|\w+_uid|\w+Target|url|uri|elements|fields|filename|\w*[fF]ilePath|sourcePath|initScript)$/
    for (const [tool, row] of adapter.tools) {
      const known = [row.address, ...row.refused, ...row.elements.map((path) => path.replace(/\[\].*$/, ''))]
      const missing = (tools[tool] ?? []).filter((each) => telling.test(each) && !known.includes(each))
      expect(missing, tool).toEqual([])
    }
  })

  it('refuses every argument that adds content of earlier pages, which may be out of scope', () => {
    for (const [tool, { refused }] of adapter.tools) {
      const earlier = (tools[tool] ?? []).filter((each) => /^all$|preserved/i.test(each))
      expect(
        earlier.filter((each) => !refused.includes(each)),
        tool,
      ).toEqual([])
    }
  })

  it('lets no tool that changes something count as a read', () => {
    const reading =
      /(?:_get|_list|_find|snapshot|screenshot|messages?|requests?|locator|highlight|annotate|wait_for|verify|record|tracing|video|pdf|screencast|performance|styles|extensions|heap|memory)/
    for (const [tool, { effect, acts }] of adapter.tools) {
      if (effect === 'read' && acts === 'page') expect(tool).toMatch(reading)
    }
  })
})

describe('a browser server', () => {
  it.each([
    [['npx', '-y', '@playwright/mcp@0.0.83'], 'playwright'],
    [['npx', '@playwright/mcp@latest', '--headless'], 'playwright'],
    [['node', '/srv/node_modules/@playwright/mcp/cli.js'], 'playwright'],
    [['npx', 'chrome-devtools-mcp@1.11.0'], 'devtools'],
    [['npx', '@evil/playwright-mcp'], undefined],
    [['npx', '@playwright/mcp-extra'], undefined],
  ])('is recognised by its package: %s', (words, name) => {
    expect(recogniseAdapter(words)).toBe(name)
  })

  it.each(ADAPTERS)('is led to the browser without showing the secret in its arguments: %s', (name) => {
    const kept: string[] = []
    const folder = {
      path: '/private',
      keep: (file: string, text: string) => `/private/${file}${kept.push(text)}`,
    }
    const address = { url: 'ws://127.0.0.1:1/x', headers: { authorization: 'Bearer s3cret' } }
    const { args, env } = adapterOf(name).launch(address, folder)
    expect(args.join(' ')).not.toContain('s3cret')
    expect([...kept, ...Object.values(env)].join(' ')).toContain('s3cret')
  })

  it.each([
    ['playwright', ['PLAYWRIGHT_MCP_CDP_ENDPOINT', 'PLAYWRIGHT_MCP_CONFIG', 'PWDEBUG']],
    ['devtools', ['CHROME_DEVTOOLS_MCP_CATEGORY_EXPERIMENTAL_THIRD_PARTY']],
  ] as const)('gets no variable that leads it to another browser: %s', (name, variables) => {
    const env = Object.fromEntries([...variables, 'PATH'].map((variable) => [variable, 'x']))
    const address = { transport: 'stdio', command: 'x', args: [], env } as const
    expect(withoutVariables(address, name).env).toEqual({ PATH: 'x' })
  })

  it.each([
    ['playwright', '--cdp-endpoint=ws://127.0.0.1:1'],
    ['playwright', '--cdpEndpoint'],
    ['playwright', '--init-page'],
    ['playwright', '--extension'],
    ['devtools', '--wsEndpoint'],
    ['devtools', '--browser-url=http://127.0.0.1:9222'],
    ['devtools', '-u'],
  ] as const)('of the adapter %s must not have the option %s', (name, option) => {
    expect(refusedOption(adapterOf(name), ['--headless', option])).toBe(option)
  })
})

describe('a call', () => {
  const read = (name: AdapterName, tool: string, args: Parameters<typeof readRequest>[2]): object => {
    const adapter = adapterOf(name)
    const row = adapter.tools.get(tool)
    if (!row) throw new Error(`no ${tool}`)
    const { tool: _, ...request } = readRequest(adapter, row, args)
    return request
  }

  it.each([
    ['playwright', 'browser_click', { target: 'e3' }, { acts: 'page', elements: ['e3'] }],
    ['playwright', 'browser_click', { target: 3 }, { acts: 'page', elements: [''] }],
    [
      'playwright',
      'browser_drag',
      { startTarget: 'e1', endTarget: 'e2' },
      { acts: 'page', elements: ['e1', 'e2'] },
    ],
    [
      'playwright',
      'browser_fill_form',
      { fields: [{ target: 'e1' }, {}] },
      { acts: 'page', elements: ['e1', ''] },
    ],
    ['playwright', 'browser_fill_form', { fields: 'e1' }, { acts: 'page', elements: [''] }],
    [
      'playwright',
      'browser_navigate',
      { url: 'http://a.test/' },
      { acts: 'navigation', elements: [], address: 'http://a.test/' },
    ],
    ['playwright', 'browser_navigate', { url: 3 }, { acts: 'navigation', elements: [], address: '' }],
    ['playwright', 'browser_navigate_back', {}, { acts: 'navigation', elements: [], history: 'back' }],
    ['playwright', 'browser_tabs', { action: 'list' }, { acts: 'browser', elements: [] }],
    [
      'playwright',
      'browser_tabs',
      { action: 'list', url: 'http://a.test/' },
      { acts: 'navigation', elements: [], address: 'http://a.test/' },
    ],
    ['devtools', 'click', { pageId: 2, uid: '1_2' }, { acts: 'page', elements: ['1_2'], page: 2 }],
    [
      'devtools',
      'evaluate_script',
      { pageId: 1, args: ['1_2', 3] },
      { acts: 'page', elements: ['1_2', ''], page: 1 },
    ],
    [
      'devtools',
      'navigate_page',
      { pageId: 1, type: 'forward' },
      { acts: 'navigation', elements: [], history: 'forward', page: 1 },
    ],
    // The server goes back, and does not read the address.
    [
      'devtools',
      'navigate_page',
      { pageId: 1, type: 'back', url: 'http://a.test/' },
      { acts: 'navigation', elements: [], history: 'back', page: 1 },
    ],
    [
      'devtools',
      'navigate_page',
      { pageId: 1, type: 'url', url: 'http://a.test/' },
      { acts: 'navigation', elements: [], address: 'http://a.test/', page: 1 },
    ],
    [
      'devtools',
      'navigate_page',
      { pageId: 1, type: 'sideways' },
      { acts: 'navigation', elements: [], page: 1 },
    ],
  ] as const)('of %s `%s` is read for what it acts on', (name, tool, args, expected) => {
    expect(read(name, tool, args)).toEqual(expected)
  })

  it('gets a planner reference that differs with the session, the tool and the arguments', () => {
    const derived = [
      derivePlannerRef('s', 'click', { uid: '1_2' }),
      derivePlannerRef('t', 'click', { uid: '1_2' }),
      derivePlannerRef('s', 'fill', { uid: '1_2' }),
      derivePlannerRef('s', 'click', { uid: '1_3' }),
    ]
    expect(new Set(derived).size).toBe(4)
    expect(derived[0]).toMatch(/^sha256:[0-9a-f]{64}$/)
    expect(derivePlannerRef('s', 'click', { uid: '1_2' })).toBe(derived[0])
  })
})
