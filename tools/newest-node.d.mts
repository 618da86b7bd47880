/** What the task has at hand, and where it runs. */
export interface Surroundings {
  readonly run: (command: string[]) => Promise<boolean>
  readonly say: (line: string) => void
  readonly env?: Readonly<Record<string, string | undefined>>
  readonly platform?: string
  readonly arch?: string
}

export function ensureNewestNode(surroundings: Surroundings): Promise<string | undefined>
