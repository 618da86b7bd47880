// `npm run bench:defence -- FILE…`: measures every number of docs/defence.md again. The files are recorded runs; without
// files, only the rest is measured. `--tiny` uses a few runs and sessions, to check that it works.

import { spawnSync } from 'node:child_process'
import { INVENTED } from './replay/suites.ts'

const tiny = process.argv.slice(2).filter((each) => each === '--tiny')
const files = process.argv.slice(2).filter((each) => each !== '--tiny')

const STEPS: readonly (readonly [string, readonly string[]])[] = [
  ['the scanner on text', ['bench/run.ts', '--only', 'scanner']],
  ...(files.length === 0
    ? []
    : ([
        ['recorded runs, draft policy', ['bench/replay/run.ts', ...files, '--wordings', '2']],
        [
          'recorded runs, scope from the prompt',
          ['bench/replay/run.ts', ...files, '--quick', '--wordings', '1', '--scope', 'proposed'],
        ],
        [
          'recorded runs, scope of an ideal host',
          ['bench/replay/run.ts', ...files, '--quick', '--wordings', '1', '--scope', 'ideal'],
        ],
      ] as const)),
  ...(['tuning', 'held-out'] as const).flatMap((split): [string, string[]][] => {
    const own = INVENTED.filter((each) => each.split === split).map(({ file }) => file)
    const args = ['bench/replay/run.ts', ...own, '--quick']
    return [
      [`invented suites, ${split}`, args],
      [`invented suites, ${split}, scope from the prompt`, [...args, '--scope', 'proposed']],
    ]
  }),
  ['generated sessions, held out', ['bench/sessions/run.ts', '--split', 'held-out']],
]

if (files.length === 0) {
  process.stderr.write(
    'recorded runs: NOT MEASURED, no files were given; run npm run bench:defence -- FILE…\n',
  )
}
for (const [name, args] of STEPS) {
  process.stdout.write(`\n# ${name}\n\n`)
  const { status } = spawnSync('tsx', [...args, ...tiny], { stdio: ['ignore', 'inherit', 'inherit'] })
  if (status !== 0) {
    process.stderr.write(`${name}: failed\n`)
    process.exitCode = 1
  }
}
