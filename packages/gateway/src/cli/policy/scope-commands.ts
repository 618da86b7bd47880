// The commands `scope`: what a session is for.

import type { Command } from 'commander'
import type { To } from '../commands.ts'
import { collect, examples, remote } from '../program/forms.ts'

/** `scope`. */
export function addScope(program: Command, to: To): void {
  const scope = program
    .command('scope')
    .summary('what a session is for')
    .description(
      'Scopes of sessions. Side effects outside of its scope wait for a person, whatever the words say.',
    )
  scope
    .command('propose')
    .summary('propose a scope from the user’s own words')
    .description(
      'Reads what the user has asked for and prints the scope that it names: tools, and what they may act on. The same words\nalways give the same. Look at it before you open a session with it: what the words do not name, and the session does not\nlook up as data, will be asked about.',
    )
    .argument('[file]', 'a file that holds the words, or - for standard input')
    .option('--prompt <text>', 'the words themselves')
    .option('--policy <file>', 'the policy whose tools there are')
    .option('--tools <file>', 'a list of tools in JSON, as MCP servers give it')
    .option('--strict', 'only what the words name, and nothing that has to be looked up')
    .option('--json', 'print JSON, with what the proposal rests on')
    .addHelpText(
      ...examples(
        ['tollgate scope propose --policy policy.yaml --prompt "mail the report to olga@example.com"', ''],
        ['tollgate scope propose --tools tools.json request.txt > scope.json', ''],
      ),
    )
    .action(to(async () => (await import('./scope-propose.ts')).runPropose))
  remote(scope, 'open')
    .summary('open a session with a scope')
    .argument('[file]', 'a file that holds the scope in JSON, or - for standard input')
    .requiredOption('--session <id>', 'the session')
    .option('--principal <name>', 'whose session; with a host’s token its own')
    .option('--effect <class>', 'a class of effects that is inside; may be given again', collect)
    .option('--tool <name>', 'a tool that is inside, * for any characters; may be given again', collect)
    .option('--sink <value>', 'what it may act on: an address, a host, a path; may be given again', collect)
    .option('--looked-up', 'what the session looks up as data is inside as well')
    .option('--until <time>', 'when it ends, such as 2026-01-31T12:00:00Z')
    .addHelpText(
      ...examples(
        ['tollgate scope open scope.json --session s1 --principal agent:ci', ''],
        ['tollgate scope open --session s1 --principal agent:ci --effect send --sink olga@example.com', ''],
      ),
    )
    .action(to(async () => (await import('./scope.ts')).runOpen))
  remote(scope, 'show')
    .summary('show the scope of a session')
    .argument('<session>', 'the session')
    .option('--principal <name>', 'whose session; with a host’s token its own')
    .addHelpText(...examples(['tollgate scope show s1 --principal agent:ci', '']))
    .action(to(async () => (await import('./scope.ts')).runShow))
}
