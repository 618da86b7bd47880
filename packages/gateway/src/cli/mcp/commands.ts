// `tollgate mcp`: what the servers behind the gateway offer, and what people say to it.

import process from 'node:process'
import { Option, type Command } from 'commander'
import { SEVERITIES } from '../../tools/finding.ts'
import { nearest } from '../../tools/near.ts'
import type { To } from '../commands.ts'
import { examples, remote } from '../program/forms.ts'
import { UsageError } from '../program/terminal.ts'

/** `mcp`. */
export function addMcp(program: Command, to: To): void {
  const mcp = program
    .command('mcp')
    .summary('stand in front of MCP servers; look at and approve what they offer')
    .usage('[command]\n       tollgate mcp [--name NAME] [--data DIR] -- COMMAND [ARGS]')
    .description(
      'What the MCP servers behind the gateway offer. Nothing of it can be used before a person has approved of exactly that.\n\nWith a command after `--` it stands where an MCP client would start that server: the gateway starts it instead, and judges every call.',
    )
    .addHelpText(
      ...examples(
        ['tollgate mcp -- npx -y @modelcontextprotocol/server-everything@2026.8.31', 'instead of the server'],
        ['tollgate mcp list', 'what it offers'],
        ['tollgate mcp approve everything', 'once you have looked at it'],
      ),
    )
  addLooking(mcp, to)
  addDeciding(mcp, to)
  addScan(mcp, to)
  addWrap(mcp, to)
}

/** What runs if no other command of the group is named: `tollgate mcp -- COMMAND`. */
function addWrap(mcp: Command, to: To): void {
  const run = to(async () => (await import('./wrap.ts')).runWrap)
  mcp
    .command('wrap', { isDefault: true, hidden: true })
    .argument('[command...]')
    .option(
      '--name <name>',
      'what the server is called in policies and receipts; from its command if not given',
    )
    .addOption(new Option('--data <dir>', 'the data directory').env('TOLLGATE_DATA'))
    .action(async (words: readonly string[], ...rest: unknown[]) => {
      // Without the dashes it is a word of ours that somebody has misspelt, and nothing is started.
      if (!process.argv.includes('--')) refuse(mcp, words)
      await run(words, ...rest)
    })
}

function refuse(mcp: Command, [word]: readonly string[]): never {
  if (word === undefined) mcp.help({ error: true })
  const near = nearest(word, ['list', 'show', 'approve', 'revoke', 'scan'])
  throw new UsageError(
    `unknown command \`${word.slice(0, 80)}\``,
    ...(near === undefined
      ? ['to stand in front of a server, write its command after `--`']
      : [`did you mean \`${near}\`?`]),
  )
}

function addLooking(mcp: Command, to: To): void {
  remote(mcp, 'list')
    .summary('list servers and tools, and how each stands')
    .addHelpText(...examples(['tollgate mcp list', '']))
    .action(to(async () => (await import('./list.ts')).runList))
  remote(mcp, 'show')
    .summary('show all that a server says of a tool, or of itself')
    .argument('<name>', 'SERVER, or SERVER/TOOL')
    .addHelpText(
      ...examples(
        ['tollgate mcp show github', ''],
        ['tollgate mcp show github/create_issue', 'and what changed'],
      ),
    )
    .action(to(async () => (await import('./show.ts')).runShow))
}

function addDeciding(mcp: Command, to: To): void {
  remote(mcp, 'approve')
    .summary('let what was looked at be used, exactly as it is')
    .description(
      'Shows what is offered and not approved yet, and asks.\nOnce the server offers anything else, its calls are denied until somebody approves anew.',
    )
    .argument('<names...>', 'SERVER for all that it offers, or SERVER/TOOL')
    .option('--yes', 'do not ask')
    .option('--despite-findings', 'even if something of severity high was found')
    .addHelpText(
      ...examples(
        ['tollgate mcp approve github', ''],
        ['tollgate mcp approve github/list_issues github/get_issue --yes', 'in a script'],
      ),
    )
    .action(to(async () => (await import('./approve.ts')).runApprove))
  remote(mcp, 'revoke')
    .summary('take an approval back')
    .argument('<names...>', 'SERVER for all that was approved of it, or SERVER/TOOL')
    .addHelpText(...examples(['tollgate mcp revoke github/create_issue', '']))
    .action(to(async () => (await import('./approve.ts')).runRevoke))
}

function addScan(mcp: Command, to: To): void {
  mcp
    .command('scan')
    .summary('look through the servers of a client’s configuration')
    .description(
      'Starts each server of an MCP client’s configuration to list what it offers, and tells\nwhat is wrong with that and with the file. No tool is called; no gateway is needed.\nExit code: 1 if something grave is found.',
    )
    .argument(
      '<config>',
      'such as claude_desktop_config.json, .mcp.json, .cursor/mcp.json or .vscode/mcp.json',
    )
    .addOption(new Option('--fail-on <severity>', 'what is grave').choices([...SEVERITIES]).default('high'))
    .option('--json', 'print JSON')
    .addHelpText(
      ...examples(
        ['tollgate mcp scan ~/.cursor/mcp.json', ''],
        ['tollgate mcp scan .mcp.json --fail-on medium --json', ''],
      ),
    )
    .action(to(async () => (await import('./scan.ts')).runScan))
}
