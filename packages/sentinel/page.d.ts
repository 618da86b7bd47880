/**
 * The script for a page, as text. Evaluate it in an isolated world, never in the page's own. It defines `tollgateSentinel` with
 * `scan()`, which returns a `PageReading`, and `hashOnly()`, which returns a `PageHash`.
 */
export declare const PAGE_SCRIPT: string
