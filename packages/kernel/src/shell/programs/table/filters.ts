// `sed` and `awk`. Their programs are read apart.

import type { ProgramTable } from '../row.ts'

/** The table. */
export const FILTERS: ProgramTable = {
  sed: {
    options:
      '-e,--expression=text -f,--file=script -l,--line-length=text -i,--in-place?text -n,--quiet,--silent -E,-r,--regexp-extended -s,--separate -u,--unbuffered -z,--null-data --posix --debug --sandbox --follow-symlinks -b,--binary',
    args: 'text read*',
    first: '-e --expression -f --file',
    also: '-i=write --in-place=write',
  },
  awk: {
    options:
      '-F,--field-separator,-v,--assign=text -f,--file,-i,--include,-l,--load=script -e,--source=code -o,--pretty-print,-p,--profile,-d,--dump-variables?write -D,--debug?code -E,--exec=script -b,-c,-C,-g,-h,-n,-N,-O,-P,-r,-s,-S,-t,-V',
    args: 'text read*',
    first: '-f --file -e --source -E --exec',
  },
}
