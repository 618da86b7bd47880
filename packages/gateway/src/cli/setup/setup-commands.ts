// Declares `tollgate setup`.

import { Option } from 'commander'
import type { To } from '../commands.ts'
import { collect, local } from '../program/forms.ts'
import type { Command } from '../program/help.ts'
import { CLIENTS } from './clients/clients.ts'

/** Adds `setup`. */
export function addSetupTargets(program: Command, to: To): void {
  const setup = program
    .command('setup')
    .summary('put your agents behind the gateway; shows every change first')
    .description(
      'Changes the configuration of your programs so that their calls pass the gateway. Every change can be undone.',
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
