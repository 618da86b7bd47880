// Declares `tollgate mcp`.

import process from 'node:process'
import { Option } from 'commander'
import { SEVERITIES } from '../../tools/finding.ts'
import type { To } from '../commands.ts'
import { FACULTY_GROUPS } from './faculties.ts'
import { remote, unknownCommand } from '../program/forms.ts'
import type { Command } from '../program/help.ts'

/** Adds `mcp`. */
export function addMcp(program: Command, to: To): void {
  const mcp = program
    .command('mcp')
    .summary('wrap MCP servers; review and approve their tools')
    .usage('[command]\n       tollgate mcp [--name NAME] [--browser B] [--data DIR] -- COMMAND [ARGS]')
    .description(
      'Lists, reviews and approves the tools of MCP servers behind the gateway. A tool can only be called after a person has approved its exact definition.\n\nWith a command after `--`, wraps an MCP server: use it as the server command of an MCP client. The gateway then starts the server and decides every call.',
    )
    .examples(
      [
        'tollgate mcp -- npx -y @modelcontextprotocol/server-everything@2026.8.31',
        'as the server command of a client',
      ],
      ['tollgate mcp list', 'list the tools'],
      ['tollgate mcp approve everything', 'review and approve them'],
    )
  addLooking(mcp, to)
  addDeciding(mcp, to)
  addScan(mcp, to)
  addWrap(mcp, to)
}

/** Adds the default command: `tollgate mcp -- COMMAND`. */
function addWrap(mcp: Command, to: To): void {
  const run = to(async () => (await import('./wrap.ts')).runWrap)
  mcp
    .command('wrap', { isDefault: true, hidden: true })
    .argument('[command...]')
    .option('--name <name>', 'name of the server in policies and receipts; default: derived from its command')
    .option('--browser <server>', 'give it a guarded browser; the server is `playwright` or `devtools`')
    .addOption(new Option('--data <dir>', 'the data directory').env('TOLLGATE_DATA'))
    .action(async (words: readonly string[], ...rest: unknown[]) => {
      // Without `--`, the words are probably a misspelt subcommand. Start nothing.
      if (!process.argv.includes('--')) refuse(mcp, words)
      await run(words, ...rest)
    })
}

function refuse(mcp: Command, [word]: readonly string[]): never {
  if (word === undefined) mcp.help({ error: true })
  const names = mcp.commands.map((each) => each.name()).filter((name) => name !== 'wrap')
  throw unknownCommand(word, names, 'to wrap a server, write its command after `--`')
}

function addLooking(mcp: Command, to: To): void {
  remote(mcp, 'list')
    .summary('list servers and tools with their state')
    .examples(['tollgate mcp list', ''])
    .action(to(async () => (await import('./list.ts')).runList))
  remote(mcp, 'show')
    .summary('show the full definition of a tool or a server')
    .argument('<name>', 'SERVER, or SERVER/TOOL')
    .examples(
      ['tollgate mcp show github', ''],
      ['tollgate mcp show github/create_issue', 'includes changes since approval'],
    )
    .action(to(async () => (await import('./show.ts')).runShow))
}

function addDeciding(mcp: Command, to: To): void {
  remote(mcp, 'approve')
    .summary('approve tools with exactly their current definitions')
    .description(
      'Shows the tools that are not approved yet by risk, and asks for confirmation. Other abilities of a server (prompts, resources, sampling, elicitation, roots) are explained and asked separately; in a script, `--also` with `--yes` approves them. If a definition changes later, calls are denied until a person approves it again.',
    )
    .argument('<names...>', 'SERVER for all its tools, or SERVER/TOOL')
    .option('--yes', 'do not ask for confirmation')
    .option('--schemas', 'show every definition in full')
    .addOption(
      new Option('--also <what...>', 'with `--yes`: approve this of the server, too').choices([
        ...FACULTY_GROUPS,
        'all',
      ]),
    )
    .option('--despite-findings', 'approve even with high-severity findings')
    .examples(
      ['tollgate mcp approve github', ''],
      ['tollgate mcp approve github --also prompts resources --yes', ''],
      ['tollgate mcp approve github/list_issues github/get_issue --yes', 'in a script'],
    )
    .action(to(async () => (await import('./approve.ts')).runApprove))
  remote(mcp, 'revoke')
    .summary('revoke the approval of tools')
    .argument('<names...>', 'SERVER for all its approved tools, or SERVER/TOOL')
    .examples(['tollgate mcp revoke github/create_issue', ''])
    .action(to(async () => (await import('./approve.ts')).runRevoke))
}

function addScan(mcp: Command, to: To): void {
  mcp
    .command('scan')
    .summary('scan the servers in the configuration of an MCP client')
    .description(
      'Starts each server in the configuration of an MCP client, lists its tools, and reports problems in the definitions and in the file. Calls no tool, and neither needs nor starts a gateway.\n\nExit code: 1 if there is a finding of at least the severity of `--fail-on`.',
    )
    .argument(
      '<config>',
      'for example claude_desktop_config.json, .mcp.json, .cursor/mcp.json or .vscode/mcp.json',
    )
    .addOption(
      new Option('--fail-on <severity>', 'lowest severity that fails')
        .choices([...SEVERITIES])
        .default('high'),
    )
    .option('--json', 'print JSON')
    .examples(
      ['tollgate mcp scan ~/.cursor/mcp.json', ''],
      ['tollgate mcp scan .mcp.json --fail-on medium --json', ''],
    )
    .action(to(async () => (await import('./scan.ts')).runScan))
}
