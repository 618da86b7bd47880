/** An environment: for the client, for the frameworks of the compat tests, or for the second verifier. */
export type PythonName = 'client' | 'compat' | 'verifier'
/** The interpreter of an environment that is complete; undefined otherwise. */
export function environmentOf(name: PythonName): string | undefined
/** Makes an environment, unless it is complete. Returns its interpreter, or prints a notice and returns undefined. */
export function ensurePython(
  name: PythonName,
  hands: {
    readonly run: (command: readonly string[]) => Promise<boolean>
    readonly say: (line: string) => void
  },
): Promise<string | undefined>
