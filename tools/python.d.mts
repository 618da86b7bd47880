/** The interpreter of an environment that is complete; undefined otherwise. */
export function environmentOf(name: 'client' | 'compat'): string | undefined
/** Makes an environment, unless it is complete. Returns its interpreter, or prints a notice and returns undefined. */
export function ensurePython(
  name: 'client' | 'compat',
  hands: {
    readonly run: (command: readonly string[]) => Promise<boolean>
    readonly say: (line: string) => void
  },
): Promise<string | undefined>
