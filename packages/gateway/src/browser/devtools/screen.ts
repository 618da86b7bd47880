// The judge of the DevTools traffic between a client and the browser.

import type { CdpResult } from '../cdp.ts'

/** A command of a client. */
export interface ClientCommand {
  readonly method: string
  readonly params: CdpResult
  /** The session of the command; undefined for the browser itself. */
  readonly session: string | undefined
  /** The id of the target that the session belongs to; undefined for the browser itself. */
  readonly target: string | undefined
}

/** The fate of a command. `unless` is asked right before it is forwarded, because what allowed it may have ended. */
type CommandFate = 'pass' | { readonly refuse: string } | { readonly unless: () => string | undefined }

/** Judges the traffic between a client and the browser. */
export interface Screen {
  /**
   * Asked for each command that the table of methods permits, in order within a target. A rejection or a throw refuses the
   * command.
   */
  onCommand(command: ClientCommand): Promise<CommandFate>
  /**
   * May replace the result of a command before the client sees it. A throw refuses. Results of class `read` are forwarded at
   * once, in the order of events, without being asked for.
   */
  onResult(command: ClientCommand, result: CdpResult): Promise<CdpResult>
}
