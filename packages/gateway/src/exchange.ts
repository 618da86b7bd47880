// Requests and replies, independent of the transport.

/** The result of the check of the access tokens in a request. */
export interface SignInResult {
  /** The URL of this gateway, as the client knows it, without a path. */
  readonly origin: string
  /** The issuer whose access tokens are accepted, and the scope that they need. */
  readonly issuer: string
  readonly scope: string | undefined
  /** The value of `www-authenticate` in an answer with the status 401. */
  readonly challenge: string
  /** Why an access token in the request is refused. */
  readonly refusal?: { readonly kind: 'invalid' | 'unavailable'; readonly message: string }
}

export interface DoorRequest {
  readonly method: string
  /** The path as it was sent, without the query. */
  readonly path: string
  /** The query string without the question mark. May be empty. */
  readonly search: string
  header(name: string): string | undefined
  /** Undefined if the gateway accepts only its own tokens. */
  readonly signIn?: SignInResult
  /** Given if the request came over a local socket: the caller sees the same files as the gateway. */
  readonly local?: LocalFiles
  /** Reads the body, once. @throws Problem `body-too-large` beyond `limit` bytes. */
  body(limit: number): Promise<Uint8Array>
  /** Lifts the idle timeout of the connection, because the answer can take long. */
  mayTakeLong(): void
  /** Calls the listener once when the caller disconnects. Returns a function that removes it. */
  onGone(listener: () => void): () => void
}

/** Directories and files of the gateway on this machine. */
export interface LocalFiles {
  /** The home directory of the user of the gateway, who is the user of the agent, too. */
  readonly home: string
  /** The directories of the gateway itself. */
  readonly gate: readonly string[]
  /** Milliseconds for all paths of a call; a path that takes longer is unresolved. Default: one second. */
  readonly patience?: number
}

export interface Reply {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  /** The whole text, or chunks that are produced on demand. */
  readonly body: string | AsyncIterable<Uint8Array | string>
}

/** An entry point for calls that shares a socket with the API. */
export interface Door {
  /** Its name in metrics. */
  readonly name: string
  /** Answers a request. Returns undefined if the path belongs to another door. Errors are answered as the API answers them. */
  answer(asked: DoorRequest): Promise<Reply | undefined>
  /** Ends open streams and accepts nothing new. */
  end(): void
  /** Releases all resources. */
  close(): Promise<void>
}
