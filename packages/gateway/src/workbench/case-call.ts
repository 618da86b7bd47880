// Reads the calls of a case file.

import { canonicalize, DOORS, sha256Hex, type Door, type Json } from '@tollgate/evidence'
import type { Place, Reader } from '@tollgate/kernel/policy'
import { readFiles, type CaseFiles } from './case-place.ts'
import type { CaseBrowser, CaseCall } from './case.ts'

/** The values for calls that do not set them. */
export interface CallDefaults {
  readonly principal: string
  readonly session: string
  readonly door: Door
  readonly context: Json | undefined
  readonly files: CaseFiles | undefined
}

/** The values if the file has no `defaults`. */
export const CALL_DEFAULTS: CallDefaults = {
  principal: 'agent:test',
  session: 'case',
  door: 'mcp',
  context: undefined,
  files: undefined,
}

const CALL_FIELDS = [
  'tool',
  'args',
  'raw',
  'principal',
  'claims',
  'session',
  'door',
  'context',
  'sources',
  'browser',
  'delegation',
  'files',
] as const

/** Reads a call; undefined if it is unusable. */
export function readCall(reader: Reader, place: Place, defaults: CallDefaults): CaseCall | undefined {
  const fields = reader.fields(place, CALL_FIELDS)
  if (!fields) return undefined
  if (!fields.tool) reader.note(place, '`tool` is missing; write for example `tool: fs/read_file`')
  if (fields.args && fields.raw) reader.note(fields.raw, 'a call has `args` or `raw`, not both; remove one')
  const text = (each: Place | undefined, what: string): string | undefined => each && reader.text(each, what)
  return {
    tool: text(fields.tool, '`tool`') ?? '',
    args: (fields.args && readArgs(reader, fields.args)) ?? {},
    raw: text(fields.raw, '`raw`, the arguments as text,'),
    principal: text(fields.principal, '`principal`') ?? defaults.principal,
    claims: text(fields.claims, '`claims`, the claimed principal,'),
    session: text(fields.session, '`session`') ?? defaults.session,
    door: (fields.door && reader.word(fields.door, '`door`', DOORS)) ?? defaults.door,
    context: fields.context ? readContext(reader, fields.context) : defaults.context,
    sources: fields.sources ? readSources(reader, fields.sources) : [],
    browser: fields.browser && readBrowser(reader, fields.browser),
    delegation: text(fields.delegation, '`delegation`'),
    files: fields.files ? readFiles(reader, fields.files) : defaults.files,
  }
}

/** The arguments of a call. Lists and texts are valid too, so that cases can test wrong arguments. */
function readArgs(reader: Reader, place: Place): Json | undefined {
  return readJson(reader, place, '`args`')
}

/** Reads a value as JSON. */
export function readJson(reader: Reader, place: Place, what: string): Json | undefined {
  const value = reader.plain(place)
  try {
    canonicalize(value)
    // Sound: values that are not JSON were refused.
    return value as Json
  } catch {
    reader.note(
      place,
      `${what} contains a value that JSON does not have, such as \`.inf\`; write it as \`raw\` text`,
    )
    return undefined
  }
}

/** Reads the context of a call. */
export function readContext(reader: Reader, place: Place): Json {
  const fields = reader.fields(place, ['environment', 'workspace', 'tenant']) ?? {}
  const entries = Object.entries(fields).map(([name, at]) => [name, reader.text(at, `\`${name}\``) ?? ''])
  return Object.fromEntries(entries) as Record<string, string>
}

const CHANNELS = { user: 'USER', output: 'TOOL_OUTPUT' } as const

function readSources(reader: Reader, place: Place): readonly Json[] {
  return reader.items(place, '`sources`').flatMap((item) => {
    const fields = reader.fields(item, ['user', 'output'])
    const [[channel, at] = [], ...more] = fields ? entriesOf(fields) : []
    if (fields && (channel === undefined || more.length > 0)) {
      reader.note(item, 'a source is `{ user: "…" }`, or `{ output: "…" }` for the text of a tool or page')
    }
    if (channel === undefined || at === undefined) return []
    return [{ source_channel: CHANNELS[channel], text: reader.text(at, `\`${channel}\``) ?? '' }]
  })
}

function entriesOf<Name extends string>(fields: Partial<Record<Name, Place>>): [Name, Place][] {
  // Sound: `fields` has only the names that were asked for.
  return Object.entries(fields) as [Name, Place][]
}

const BROWSER_FIELDS = ['page', 'observation', 'planner_ref', 'side_effect', 'destination'] as const

function readBrowser(reader: Reader, place: Place): CaseBrowser {
  const { page, observation, planner_ref, side_effect, destination } =
    reader.fields(place, BROWSER_FIELDS) ?? {}
  if (page && observation)
    reader.note(observation, '`browser` has `page` or `observation`, not both; remove one')
  const seen = page && readPage(reader, page)
  return {
    observation: seen?.observation ?? (observation && readJson(reader, observation, '`observation`')),
    postedFor: seen?.postedFor,
    planner_ref: planner_ref && reader.text(planner_ref, '`planner_ref`'),
    side_effect: side_effect && readJson(reader, side_effect, '`side_effect`'),
    destination: destination && reader.text(destination, '`destination`'),
  }
}

/** Reads a page as a complete observation of a Sentinel. The hashes are invented. */
function readPage(
  reader: Reader,
  place: Place,
): { readonly observation: Json; readonly postedFor: string | undefined } | undefined {
  const fields = reader.fields(place, ['url', 'risk', 'findings', 'by'])
  if (!fields) return undefined
  if (!fields.url) reader.note(place, '`url` is missing; write the address of the page')
  const url = (fields.url && reader.text(fields.url, '`url`')) ?? ''
  const risk = fields.risk && reader.number(fields.risk, '`risk`', 0, 100)
  const findings = fields.findings ? reader.texts(fields.findings, 'a finding').map(({ text }) => text) : []
  const by = fields.by && reader.word(fields.by, '`by`', ['sentinel', 'agent'])
  const hashes = { dom_hash: sha256Hex(`dom ${url}`), visual_text_hash: sha256Hex(`text ${url}`) }
  return {
    observation: { url, ...hashes, sentinel_risk: risk ?? 0, sentinel_findings: findings },
    postedFor: by === 'agent' ? undefined : url,
  }
}
