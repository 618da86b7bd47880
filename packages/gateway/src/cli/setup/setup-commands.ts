// Declares `tollgate setup`.

import { Option } from 'commander'
import type { To } from '../commands.ts'
import { collect, local, remote } from '../program/forms.ts'
import type { Command } from '../program/help.ts'
import { AGENTS, SCOPES, type AgentId } from './agents/names.ts'
import { CLIENTS } from './clients/clients.ts'

/** Adds `setup`. */
export function addSetupTargets(program: Command, to: To): void {
  const setup = program
    .command('setup')
    .summary('put your agents behind the gateway; shows every change first')
    .description(
      'Changes the configuration of your programs so that their calls go through the gateway. Every change can be undone.',
    )
  const mcp = local(setup, 'mcp')
    .summary('put the MCP servers of your clients behind the gateway')
    .description(
      'Finds the MCP servers in the configuration of Claude Desktop, Claude Code, Cursor, VS Code, Devin (Windsurf), Zed and Codex. Starts them to list their tools, shows the change as a diff and the tools by risk, drafts a policy and tests it. Asks once. Then it backs up the files, wraps the servers, approves their tools and activates the policy. Without a terminal and without `--yes` it changes nothing.',
    )
    .argument('[servers...]', 'only these servers; default: all that a client starts')
    .addOption(new Option('--client <name...>', 'only these clients').choices([...CLIENTS]))
    .option('--dry-run', 'only show what would change')
    .option('--yes', 'do not ask for confirmation')
    .examples(
      ['tollgate setup mcp --dry-run', 'look first'],
      ['tollgate setup mcp', ''],
      ['tollgate setup mcp files --client cursor', 'one server of one client'],
      ['tollgate setup mcp undo', 'restore the files'],
    )
    .action(to(async () => (await import('./setup-mcp.ts')).runSetupMcp))
  addBrowser(setup, to)
  addUndo(mcp, to)
  for (const id of AGENTS) addAgent(setup, id, to)
}

const AGENT_NAMES: Readonly<Record<AgentId, string>> = {
  'claude-code': 'Claude Code',
  codex: 'Codex',
  cursor: 'Cursor',
  copilot: 'Copilot CLI',
  opencode: 'OpenCode',
}

function addAgent(setup: Command, id: AgentId, to: To): void {
  const name = AGENT_NAMES[id]
  const load = () => import('./agents/setup-agent.ts')
  const declare = (command: Command): Command =>
    command
      .addOption(
        new Option(
          '--scope <scope>',
          'whose configuration: yours, that of this project, or that of the machine',
        )
          .choices([...SCOPES])
          .default('user'),
      )
      .option('--dry-run', 'only show what would change')
      .option('--yes', 'do not ask for confirmation')
  const agent = declare(remote(setup, id))
    .summary(`make ${name} ask the gateway before each call of its own tools`)
    .description(
      `Adds hooks to the configuration of ${name}: before each call of a tool they ask the gateway, and after the call they report the result. Shows the change as a diff, and what ${name} cannot enforce. Asks once. Then it issues a token for \`agent:${id}\`, backs up the file and changes it. The rest of the file stays the same, byte for byte. If the gateway does not answer, the call is denied.`,
    )
    .examples(
      [`tollgate setup ${id} --dry-run`, 'look first'],
      [`tollgate setup ${id}`, ''],
      ['tollgate doctor', 'prove it: the hook asks for a call that must be denied'],
      [`tollgate setup ${id} undo`, 'restore the files, byte for byte'],
    )
    .action(to(async () => (await load()).setupOf(id)))
  declare(remote(agent, 'repair'))
    .summary('add what is missing, and correct what differs')
    .description('Like the setup itself: it shows the difference and asks. A complete setup stays as it is.')
    .action(to(async () => (await load()).setupOf(id)))
  const undo = () => import('./agents/undo-agent.ts')
  local(agent, 'undo')
    .summary('restore the files, and remove the token')
    .description('Restores the exact bytes. In a file that changed since, it only removes the hooks.')
    .action(to(async () => (await undo()).undoOf(id)))
  local(agent, 'status')
    .summary('show the files, the installed version and what it cannot enforce')
    .action(to(async () => (await undo()).statusOfAgent(id)))
}

function addBrowser(setup: Command, to: To): void {
  const browser = local(setup, 'browser')
    .summary('give the browser agents of your clients a guarded browser')
    .description(
      'Like `setup mcp`, for the published browser servers `@playwright/mcp` and `chrome-devtools-mcp`. The gateway then starts a Chromium for each of them, observes the page before and after each call, and lets the browser open only the named hostnames. It makes a planner reference from each call, because no planner gives it one; receipts mark these references.',
    )
    .argument('[servers...]', 'only these servers; default: all browser servers that a client starts')
    .option(
      '--domain <host>',
      'a hostname that the browser may open, such as `*.example.com`; repeatable',
      collect,
    )
    .addOption(new Option('--client <name...>', 'only these clients').choices([...CLIENTS]))
    .option('--dry-run', 'only show what would change')
    .option('--yes', 'do not ask for confirmation')
    .examples(
      ['tollgate setup browser --domain shop.example.com --dry-run', 'look first'],
      ['tollgate setup browser --domain shop.example.com', ''],
      ['tollgate setup browser undo', 'restore the files'],
    )
    .action(to(async () => (await import('./setup-browser.ts')).runSetupBrowser))
  addUndo(browser, to)
}

function addUndo(target: Command, to: To): void {
  target
    .command('undo')
    .summary('restore the files that setup changed')
    .description('Restores the exact bytes. In a file that changed since, it only removes the wrapper.')
    .option('--json', 'print JSON')
    .action(to(async () => (await import('./setup-undo.ts')).runSetupUndo))
  target
    .command('status')
    .summary('show the files that setup changed')
    .option('--json', 'print JSON')
    .action(to(async () => (await import('./setup-undo.ts')).runSetupStatus))
}
