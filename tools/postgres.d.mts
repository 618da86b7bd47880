/** See `postgres.mjs`. */
export function findPostgres(options?: {
  readonly env?: Readonly<Record<string, string | undefined>>
  readonly debian?: string
}): string | undefined

/** See `postgres.mjs`. */
export function ensurePostgres(options?: {
  readonly env?: Readonly<Record<string, string | undefined>>
  readonly uid?: number
  readonly find?: () => string | undefined
  readonly run?: (command: readonly string[]) => Promise<boolean>
  readonly say?: (line: string) => void
}): Promise<string | undefined>
