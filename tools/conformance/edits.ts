// A broken gateway, and short ways to write its edits.

import type { Edit } from './copy.ts'

/** A gateway that breaks a requirement. */
export interface Broken {
  /** A gateway that … */
  readonly name: string
  /** The id of the requirement. */
  readonly caught: string
  readonly edits: readonly Edit[]
}

type MakeEdit = (file: string, from: string, to: string) => Edit

const inPackage =
  (name: string): MakeEdit =>
  (file, from, to) => ({ file: `${name}/dist/src/${file}`, from, to })

export const evidence: MakeEdit = inPackage('evidence')
export const gateway: MakeEdit = inPackage('gateway')
export const kernel: MakeEdit = inPackage('kernel')
