// Requests and answers as doors see them, whichever way they came.

/** A request, whichever way it came. */
export interface DoorRequest {
  readonly method: string
  /** The path as it was sent, without the query. */
  readonly path: string
  /** What follows the question mark; may be empty. */
  readonly search: string
  header(name: string): string | undefined
  /** Reads the body, once. @throws Problem `body-too-large` beyond `limit` bytes. */
  body(limit: number): Promise<Uint8Array>
  /** The answer may take longer than a connection is otherwise allowed to be quiet. */
  mayTakeLong(): void
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

/** A way in, beside the API on the same socket. */
export interface Door {
  /** Answers what is for it; undefined if the path is not its own. What it rejects with is answered as the API would. */
  answer(asked: DoorRequest): Promise<Reply | undefined>
  /** Ends streams that would never end by themselves, and takes nothing new. */
  end(): void
  /** Lets go of everything. */
  close(): Promise<void>
}
