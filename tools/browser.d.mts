interface Place {
  readonly env?: Readonly<Record<string, string | undefined>>
  readonly platform?: NodeJS.Platform
}

interface Hands {
  readonly uid?: number | undefined
  readonly find?: () => string | undefined
  /** Runs a command; true if it ended well. */
  readonly run?: (command: readonly string[]) => Promise<boolean>
  readonly say?: (line: string) => void
}

export function findBrowser(place?: Place): string | undefined
export function ensureBrowser(options?: Place & Hands): Promise<string | undefined>
