// The abilities of a server besides its tools, in groups that a person approves separately.

import { FACULTIES } from '../../tools/offer.ts'

/** Names for `--also`. */
export const FACULTY_GROUPS = ['prompts', 'resources', 'sampling', 'elicitation', 'roots'] as const
/** A group of faculties. */
export type FacultyGroup = (typeof FACULTY_GROUPS)[number]

/** One sentence for each group: what an approval lets the server do. */
export const FACULTY_TEXTS: Readonly<Record<FacultyGroup, string>> = {
  prompts: 'the server may offer ready-made texts, which the client can put into the conversation',
  resources: 'the server may offer documents, which the client can read and watch',
  sampling: 'the server may send texts of its own to your model, at your cost',
  elicitation: 'the server may ask you for an input, with a question that it writes',
  roots: 'the server may ask which folders your client has open',
}

const GROUP_OF: Readonly<Record<(typeof FACULTIES)[number], FacultyGroup>> = {
  'prompts/get': 'prompts',
  'completion/complete': 'prompts',
  'resources/read': 'resources',
  'resources/subscribe': 'resources',
  'resources/unsubscribe': 'resources',
  'sampling/createMessage': 'sampling',
  'elicitation/create': 'elicitation',
  'roots/list': 'roots',
}

/** Returns the group of a name such as `files:prompts/get`; undefined for a tool. */
export function groupOf(name: string): FacultyGroup | undefined {
  const faculty = FACULTIES.find((each) => name.endsWith(`:${each}`))
  return faculty && GROUP_OF[faculty]
}
