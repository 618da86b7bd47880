/** Writes `dist/page.js` of the Sentinel from the output of `tsc`, if it changes. */
export function writePageScript(): Promise<void>
