// Suites of invented tools, written apart from the gates: runs that nobody recorded, with agents that follow a script. They say how a
// drafted policy does on tools that it has never seen. Frozen: one that changes is another one.

/** A file of runs. */
export interface Invented {
  readonly file: string
  /** `tuning`: its misses and alarms were looked at. `held-out`: only its totals were. */
  readonly split: 'tuning' | 'held-out'
  readonly sha256: string
}

/** All of them. */
export const INVENTED: readonly Invented[] = [
  {
    file: 'bench/replay/suites/office.jsonl.gz',
    split: 'tuning',
    sha256: '30ec13990b9d35943d176dadfea09998e0111d0750e7a2d6cc3150b946d5aed8',
  },
  {
    file: 'bench/replay/suites/helpdesk-logistics.jsonl.gz',
    split: 'tuning',
    sha256: 'e01f24001ebb2b5847da6cf9121ad3020e7da7d868da3939e29f2b7f75b7a052',
  },
  {
    file: 'bench/replay/suites/operations-shop.jsonl.gz',
    split: 'held-out',
    sha256: 'cb8547b34405f913b990b7175325212d605c5cd1973e00de6c096bab9702f5e9',
  },
]
