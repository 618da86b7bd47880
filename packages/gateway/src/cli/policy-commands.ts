// `tollgate policy`: writing, testing and understanding the policy, and putting it in force.

import type { Command } from 'commander'
import type { To } from './commands.ts'
import { collect, examples, local, remote } from './forms.ts'

/** `policy`. */
export function addPolicy(program: Command, to: To): void {
  const policy = program
    .command('policy')
    .summary('write, test, explain and activate the policy')
    .description('The policy file: who may do what.')
  local(policy, 'check')
    .summary('read a policy file and tell every mistake')
    .argument('[file]', 'the file; that of the data directory if not given')
    .addHelpText('after', examples(['tollgate policy check ./policy.yaml', '']))
    .action(to(async () => (await import('./policy.ts')).runCheck))
  remote(policy, 'activate')
    .summary('put the policy file in force')
    .argument('[file]', 'the file; that of the data directory if not given')
    .addHelpText('after', examples(['tollgate policy activate', '']))
    .action(to(async () => (await import('./policy.ts')).runActivate))
  remote(policy, 'draft')
    .summary('write a first policy for the tools that servers offer')
    .description(
      'Drafts a policy from what the servers say of their tools: reading is allowed, everything else asks a person.\nIt is printed, for you to read and change. Never overwrites a file.',
    )
    .option('--server <name>', 'only this server; may be given again', collect)
    .option('--out <file>', 'a new file, instead of standard output')
    .addHelpText(
      'after',
      examples(
        ['tollgate policy draft', ''],
        ['tollgate policy draft --server github --out policy.yaml', ''],
      ),
    )
    .action(to(async () => (await import('./policy-draft.ts')).runDraft))
}
