/**
 * The script for a page, as text. Evaluate it in an isolated world, never in the page's own. It defines `tollgateSentinel` with
 * `scan()`, which returns a `PageReading`, `hashOnly()`, which returns a `PageHash`, `targetAt(sign)`, which finds the element with
 * an `ElementSign` and returns a `PageTarget`, or undefined if a click at its place hits something else, and `outline()`, which
 * returns the texts of the document, each with the part that a person could read.
 */
export declare const PAGE_SCRIPT: string

/**
 * A smaller script, which finds and guards the target of a call. Evaluate it in an isolated world before the scripts of the page. It
 * defines `tollgateTarget`.
 */
export declare const TARGET_SCRIPT: string

/** The part of it that counts the nodes of a document, as statements. It defines `tollgateOrder`. */
export declare const ORDER_SCRIPT: string
