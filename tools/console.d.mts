/** Writes the page, if it changes. Returns the files that went into it. */
export function writeConsole(): Promise<readonly string[]>
