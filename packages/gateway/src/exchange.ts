// Requests and answers as doors see them, whichever way they came.

/** A request, whichever way it came. */
export interface Asked {
  readonly method: string
  /** The path as it was sent, without the query. */
  readonly path: string
  /** What follows the question mark; may be empty. */
  readonly search: string
  header(name: string): string | undefined
  /** Reads the body, once. @throws Problem `body-too-large` beyond `limit` bytes. */
  body(limit: number): Promise<Uint8Array>
  /** Calls back once when the caller is gone, until the returned function is called. */
  onGone(listener: () => void): () => void
}

/** What is answered. */
export interface Reply {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  /** A text at once, or pieces as they are taken. */
  readonly body: string | AsyncIterable<Uint8Array | string>
}
