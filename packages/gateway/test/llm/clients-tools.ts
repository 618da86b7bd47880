// The tools of the test agents: one reads, one acts. Records which of them ran.

/** A tool run. */
export interface Ran {
  readonly name: string
  readonly args: unknown
}

export interface Toolbox {
  readonly ran: readonly Ran[]
  /** Runs a tool and returns its result. */
  run(name: string, args: unknown): string
}

const RESULTS: Readonly<Record<string, string>> = { read_note: 'milk, bread', send_mail: 'sent' }

/** A toolbox without runs. */
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

/** A tool definition. Clients want mutable schemas, though none changes them. */
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

/** The task of the agents. */
export const TASK = 'Read my list and mail it to Ann.'

/** How an agent loop is run. */
export interface LoopOptions {
  readonly stream: boolean
  readonly tools: Toolbox
  /** The number of retries of the client. */
  readonly retries: number
}

/** The end of an agent loop. */
export interface Outcome {
  /** The last text of the model. */
  readonly text: string
  readonly ran: readonly Ran[]
  /** The number of replies. */
  readonly turns: number
}

/** The base URLs of a model server or a gateway, for the clients. */
export interface Bases {
  /** For clients of OpenAI, with `/v1`. */
  readonly openai: string
  /** The endpoint for clients of Azure OpenAI, which add `/openai`. */
  readonly azure: string
  /** For `@anthropic-ai/sdk`, which adds `/v1`. */
  readonly anthropicRoot: string
  /** For `@ai-sdk/anthropic`, with `/v1`. */
  readonly anthropicV1: string
  /** For `@google/genai` and LangChain, which add the version. */
  readonly gemini: string
  /** For `@ai-sdk/google`, with `/v1beta`. */
  readonly geminiV1beta: string
}

/** The base URLs of a gateway. */
export function basesOf(url: string): Bases {
  return {
    openai: `${url}/openai/v1`,
    azure: `${url}/azure`,
    anthropicRoot: `${url}/anthropic`,
    anthropicV1: `${url}/anthropic/v1`,
    gemini: `${url}/gemini`,
    geminiV1beta: `${url}/gemini/v1beta`,
  }
}

/** The maximum number of rounds. */
export const MOST_TURNS = 5

/** One way of building an agent on an official client. */
export interface AgentClient {
  readonly name: string
  /** The wire format that it speaks. */
  readonly dialect: 'chat' | 'responses' | 'anthropic' | 'gemini'
  /** The base URL that it uses. */
  readonly base: keyof Bases
  /** Runs the loop to its end. Rejects with the error of the client. */
  run(baseUrl: string, key: string, options: LoopOptions): Promise<Outcome>
}
