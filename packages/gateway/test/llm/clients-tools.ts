// What the agents of the tests are given: two tools, of which one reads and one acts, and a record of which of them really ran.

/** A tool that really ran. */
export interface Ran {
  readonly name: string
  readonly args: unknown
}

export interface Toolbox {
  readonly ran: readonly Ran[]
  /** Runs a tool, and says what came of it. */
  run(name: string, args: unknown): string
}

const RESULTS: Readonly<Record<string, string>> = { read_note: 'milk, bread', send_mail: 'sent' }

/** A box whose tools have not run. */
export function openToolbox(): Toolbox {
  const ran: Ran[] = []
  return {
    ran,
    run(name, args) {
      ran.push({ name, args })
      return RESULTS[name] ?? 'there is no such tool'
    },
  }
}

/** A tool as clients are told of it. They want schemas that they could change, though none does. */
export interface Definition {
  readonly name: string
  readonly description: string
  readonly schema: {
    type: 'object'
    properties: Record<string, { type: 'string' }>
    required: string[]
    additionalProperties: false
  }
}

function define(name: string, description: string, members: string[]): Definition {
  const properties = Object.fromEntries(members.map((member) => [member, { type: 'string' as const }]))
  return {
    name,
    description,
    schema: { type: 'object', properties, required: members, additionalProperties: false },
  }
}

/** The definitions. */
export const TOOLS: readonly Definition[] = [
  define('read_note', 'Reads a note', ['name']),
  define('send_mail', 'Sends a mail', ['to', 'text']),
]

/** What the agents are asked to do. */
export const TASK = 'Read my list and mail it to Ann.'

/** How an agent loop is run. */
export interface LoopOptions {
  readonly stream: boolean
  readonly tools: Toolbox
  /** How often the client may try again by itself. */
  readonly retries: number
}

/** How an agent loop ended. */
export interface Outcome {
  /** What the model said last. */
  readonly text: string
  readonly ran: readonly Ran[]
  /** How many replies of the model there were. */
  readonly turns: number
}

/** No loop goes round more often than this. */
export const MOST_TURNS = 5

/** One way of building an agent on an official client. */
export interface AgentClient {
  readonly name: string
  /** The wire format that it speaks. */
  readonly dialect: 'chat' | 'responses' | 'anthropic'
  /** Which of a door's base URLs it is given. */
  readonly base: 'openai' | 'anthropicRoot' | 'anthropicV1'
  /** Runs the loop to its end. Rejects with what the client rejects with. */
  run(baseUrl: string, key: string, options: LoopOptions): Promise<Outcome>
}
