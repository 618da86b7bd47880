// Declares `tollgate scope`.

import type { To } from '../commands.ts'
import { collect, remote } from '../program/forms.ts'
import type { Command } from '../program/help.ts'

/** Adds `scope`. */
export function addScope(program: Command, to: To): void {
  const scope = program
    .command('scope')
    .summary('propose, open and show the scope of a session')
    .description(
      'The scope lists what a session is allowed to do. Side effects outside of the scope need an approval.',
    )
  scope
    .command('propose')
    .summary('propose a scope from the request of the user')
    .description(
      'Reads the request of the user and prints the scope that it names: tools and targets. The same request always gives the same scope. Review it before you open a session with it: targets that the request does not name, and that the session does not look up as data, need an approval.',
    )
    .argument('[file]', 'a file with the request, or - for standard input')
    .option('--prompt <text>', 'the request')
    .option('--policy <file>', 'a policy file that lists the tools')
    .option('--tools <file>', 'a JSON list of tools, as MCP servers return it')
    .option('--strict', 'only targets that the request names, none that the session looks up')
    .option('--json', 'print JSON, with the reasons for the proposal')
    .examples(
      ['tollgate scope propose --policy policy.yaml --prompt "mail the report to olga@example.com"', ''],
      ['tollgate scope propose --tools tools.json request.txt > scope.json', ''],
    )
    .action(to(async () => (await import('./scope-propose.ts')).runPropose))
  remote(scope, 'open')
    .summary('open a session with a scope')
    .argument('[file]', 'a file with the scope in JSON, or - for standard input')
    .requiredOption('--session <id>', 'the session')
    .option('--principal <name>', 'the principal of the session; with a `host` token, its own')
    .option('--effect <class>', 'an effect class in the scope; repeatable', collect)
    .option('--tool <name>', 'a tool in the scope, * for any characters; repeatable', collect)
    .option('--sink <value>', 'a target in the scope: an address, a hostname, a path; repeatable', collect)
    .option('--looked-up', 'also include targets that the session looks up as data')
    .option('--until <time>', 'end of the scope, such as 2026-01-31T12:00:00Z')
    .examples(
      ['tollgate scope open scope.json --session s1 --principal agent:ci', ''],
      ['tollgate scope open --session s1 --principal agent:ci --effect send --sink olga@example.com', ''],
    )
    .action(to(async () => (await import('./scope.ts')).runOpen))
  remote(scope, 'show')
    .summary('show the scope of a session')
    .argument('<session>', 'the session')
    .option('--principal <name>', 'the principal of the session; with a `host` token, its own')
    .examples(['tollgate scope show s1 --principal agent:ci', ''])
    .action(to(async () => (await import('./scope.ts')).runShow))
}
