/** See `child-data.mjs`. */
export function makeData(data: string, more: string, urlEnv?: string): Promise<void>
