// `tollgate browser`: says which servers get a guarded browser, which Chromium it is, and how to see its window.

import { join } from 'node:path'
import { findChromium } from '../../browser/chromium.ts'
import { adapterOf, recogniseAdapter } from '../../browser/servers/adapters.ts'
import { CONFIG_FILE, readConfig } from '../../config/config.ts'
import type { DataOptions } from '../commands.ts'
import { dataOf } from '../program/connect.ts'
import { pairs, shown } from '../program/table.ts'
import type { Terminal } from '../program/terminal.ts'

/** Shows how the gateway gives browsers to servers. Returns 1 if there is no browser. */
export function runBrowser(terminal: Terminal, options: DataOptions): Promise<number> {
  const { mcp, browser, data } = readConfig(dataOf(options))
  const path = browser.executable ?? findChromium() ?? null
  const servers = [...mcp.servers].flatMap(([name, server]) =>
    server.transport === 'stdio'
      ? [{ name, ...server, is: recogniseAdapter([server.command, ...server.args]) }]
      : [],
  )
  const guarded = servers.filter((server) => server.browser !== undefined)
  const open = servers.filter((server) => server.browser === undefined && server.is !== undefined)
  const { headless, withoutEgress } = browser
  const found = {
    chromium: path,
    window: !headless,
    egress: !withoutEgress,
    servers: guarded.map(({ name }) => name),
  }
  terminal.data(found, () =>
    pairs([
      ['Chromium', path === null ? 'not found' : shown(path)],
      ['window', headless ? 'no' : 'yes'],
      ['network', withoutEgress ? 'not guarded; receipts say so' : 'obeys `gates.egress`'],
      ['servers', guarded.map((server) => nameOf(server)).join(', ') || 'none in `tollgate.yaml`'],
    ]),
  )
  const file = shown(join(data, CONFIG_FILE))
  for (const { name, is } of open) {
    terminal.warn(
      `\`${name}\` is a browser server without a guarded browser`,
      `add \`browser: ${is ?? ''}\` to it in \`${file}\``,
    )
  }
  terminal.say('the gateway starts a browser for each agent that connects, and ends it with the agent')
  if (headless)
    terminal.say(`to see its window, set \`browser: { headless: false }\` in \`${file}\` and restart`)
  terminal.say('servers of your MCP clients: `tollgate setup browser --domain HOST`')
  if (path !== null) return Promise.resolve(0)
  terminal.warn(
    'there is no Chromium on the PATH',
    `install one, or set \`browser.executable\` in \`${file}\``,
  )
  return Promise.resolve(1)
}

function nameOf({
  name,
  browser,
}: {
  readonly name: string
  readonly browser?: Parameters<typeof adapterOf>[0]
}): string {
  return browser === undefined ? name : `${name} (${adapterOf(browser).package})`
}
