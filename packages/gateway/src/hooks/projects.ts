// Where calls act on files: only a client on the same machine, over the local socket, sees the files of the gateway.

import type { Kernel, ToolCall } from '@tollgate/kernel'
import type { LocalFiles } from '../exchange.ts'
import { placeOf } from '../files/place.ts'
import { Recent } from '../recent.ts'

const MAX_SESSIONS = 1000

/** The projects of sessions, in memory. */
export class Projects {
  readonly #begun = new Recent<string>(MAX_SESSIONS)

  /** The project is the directory of the first event. An agent can change its directory later, but not its project. */
  note(owner: string, cwd: string | undefined): void {
    const project = this.#begun.get(owner) ?? cwd
    if (project !== undefined) this.#begun.set(owner, project)
  }

  /** The place of a call; undefined if a directory is not known. Without a place, every path of the call is unresolved. */
  async placeOf(
    owner: string,
    { kernel, local }: { readonly kernel: Kernel; readonly local: LocalFiles | undefined },
    call: ToolCall,
    cwd: string | undefined,
  ): Promise<ToolCall['place']> {
    const project = this.#begun.get(owner)
    if (!local || project === undefined) return undefined
    const { home, gate, patience } = local
    const directories = { home, gate, cwd: cwd ?? project, project }
    const place = await placeOf(kernel, call, directories, patience === undefined ? {} : { patience })
    // With an empty name, every path would begin with the project.
    const isKnown = place.project !== undefined && place.cwd !== undefined && place.home !== undefined
    return isKnown ? place : undefined
  }

  /** Forgets a session that is over. */
  end(owner: string): void {
    this.#begun.delete(owner)
  }
}
