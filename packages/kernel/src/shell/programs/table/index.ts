// The table of common programs.

import type { ProgramTable } from '../row.ts'
import { CODE } from './code.ts'
import { FILES } from './files.ts'
import { FILTERS } from './filters.ts'
import { GIT } from './git.ts'
import { NETWORK } from './network.ts'
import { PACKAGES } from './packages.ts'
import { SYSTEM } from './system.ts'

const ALL: ProgramTable = { ...FILES, ...FILTERS, ...GIT, ...PACKAGES, ...NETWORK, ...CODE, ...SYSTEM }

/** Other names of the same programs. */
const ALIASES: Readonly<Record<string, string>> = {
  pip3: 'pip',
  gawk: 'awk',
  mawk: 'awk',
  nawk: 'awk',
  gsed: 'sed',
  ggrep: 'grep',
  gls: 'ls',
  gcp: 'cp',
  gmv: 'mv',
  grm: 'rm',
  gcat: 'cat',
  gdate: 'date',
  greadlink: 'readlink',
  fdfind: 'fd',
  batcat: 'bat',
  nodejs: 'node',
  pigz: 'gzip',
  python3: 'python',
}

/** The table, by the name of the program. */
export const TABLE: ProgramTable = {
  ...ALL,
  ...Object.fromEntries(
    Object.entries(ALIASES).flatMap(([alias, name]) => {
      const row = ALL[name]
      return row ? [[alias, row]] : []
    }),
  ),
}
