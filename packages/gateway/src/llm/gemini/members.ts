// The known members of a Gemini reply besides its parts.

import { isList, isObject, type Json, type JsonObject } from '@tollgate/evidence'
import type { Judge } from '../dialect.ts'
import { each, figure, flag, listOf, object, record, text, word, type MemberShapes } from '../shapes.ts'

const RATINGS = listOf(
  record(
    { category: word },
    {
      ...each(['probability', 'severity', 'overwrittenThreshold'], word),
      blocked: flag,
      ...each(['probabilityScore', 'severityScore'], figure),
    },
  ),
)
const DETAILS = listOf(record({ modality: word }, { tokenCount: figure }))
const USAGE = record(
  {},
  {
    ...each(
      [
        'promptTokenCount',
        'cachedContentTokenCount',
        'candidatesTokenCount',
        'toolUsePromptTokenCount',
        'thoughtsTokenCount',
        'totalTokenCount',
      ],
      figure,
    ),
    ...each(
      ['promptTokensDetails', 'cacheTokensDetails', 'candidatesTokensDetails', 'toolUsePromptTokensDetails'],
      DETAILS,
    ),
    ...each(['trafficType', 'serviceTier'], word),
  },
)
const ENVELOPE = record(
  {},
  {
    // The text beside the reason could quote anything.
    promptFeedback: record({}, { blockReason: word, safetyRatings: RATINGS }),
    usageMetadata: USAGE,
    ...each(['modelVersion', 'responseId', 'createTime'], word),
    modelStatus: record({}, each(['modelStage', 'retirementTime'], word)),
  },
)

/** A reply without its candidates. */
export function envelopeOf(reply: JsonObject): JsonObject {
  return ENVELOPE(reply) ?? {}
}

/** Whether the provider gives no reply to the prompt. */
export function isBlocked({ promptFeedback: feedback }: JsonObject): boolean {
  return isObject(feedback) && typeof feedback['blockReason'] === 'string'
}

const SOURCE = record(
  {},
  { ...each(['uri', 'title'], text), license: word, ...each(['startIndex', 'endIndex'], figure) },
)
const CITATIONS = record({}, each(['citations', 'citationSources'], listOf(SOURCE)))
const FIGURES = {
  ...each(['tokenCount', 'avgLogprobs'], figure),
  safetyRatings: RATINGS,
  citationMetadata: CITATIONS,
}
const BESIDES = record({}, FIGURES)

/** The members of a candidate besides its content, its end, and what tools of the provider have found. */
export function besidesOf(candidate: JsonObject): JsonObject {
  return BESIDES(candidate) ?? {}
}

const PLACE: MemberShapes = each(['uri', 'title', 'text', 'placeId'], text)
const CHUNK = record(
  {},
  {
    web: record({}, each(['uri', 'title', 'domain'], text)),
    maps: record({}, PLACE),
    image: record({}, each(['sourceUri', 'imageUri', 'title', 'domain'], text)),
    retrievedContext: record({}, each(['uri', 'title', 'text', 'documentName', 'fileSearchStore'], text)),
  },
)
const SUPPORT = record(
  {},
  {
    segment: record({}, { ...each(['startIndex', 'endIndex', 'partIndex'], figure), text }),
    groundingChunkIndices: listOf(figure),
    confidenceScores: listOf(figure),
  },
)
const GROUNDING = record(
  {},
  {
    ...each(['webSearchQueries', 'imageSearchQueries', 'retrievalQueries'], listOf(text)),
    searchEntryPoint: record({}, each(['renderedContent', 'sdkBlob'], text)),
    groundingChunks: listOf(CHUNK),
    groundingSupports: listOf(SUPPORT),
    retrievalMetadata: object,
    googleMapsWidgetContextToken: text,
  },
)
const ADDRESSES = record(
  {},
  { urlMetadata: listOf(record({}, { retrievedUrl: text, urlRetrievalStatus: word })) },
)

/** The findings of the provider's tools for a candidate, as far as the tools were allowed. */
export function findingsOf(candidate: JsonObject, judge: Judge): JsonObject {
  const groundingMetadata = GROUNDING(candidate['groundingMetadata'])
  const urlContextMetadata = ADDRESSES(candidate['urlContextMetadata'])
  const isOwn = (found: JsonObject, tools: readonly string[]): boolean =>
    tools.every((tool) => judge.ran(tool, found))
  return {
    ...(groundingMetadata && isOwn(groundingMetadata, finders(groundingMetadata)) && { groundingMetadata }),
    ...(urlContextMetadata && isOwn(urlContextMetadata, ['gemini/url_context']) && { urlContextMetadata }),
  }
}

/** The tools that have found this. */
function finders({ groundingChunks: chunks }: JsonObject): readonly string[] {
  const kinds = isList(chunks) ? chunks.filter(isObject).flatMap((chunk) => Object.keys(chunk)) : []
  const tools = kinds.map((kind) => FINDERS[kind] ?? SEARCH)
  return tools.length === 0 ? [SEARCH] : [...new Set(tools)]
}

const SEARCH = 'gemini/google_search'
const FINDERS: Readonly<Record<string, string>> = {
  maps: 'gemini/google_maps',
  retrievedContext: 'gemini/file_search',
}

const TOKEN = record({ token: text }, each(['tokenId', 'logProbability'], figure))
const TOP = record({}, { candidates: listOf(TOKEN) })

function tokenIn({ token }: JsonObject): string {
  return typeof token === 'string' ? token : '\0'
}

/** The log probabilities of exactly this text. Those of any other may belong to a call. */
export function logprobsOf({ logprobsResult: given }: JsonObject, said: string): JsonObject {
  if (!isObject(given) || !isList(given['chosenCandidates'])) return {}
  const chosen = given['chosenCandidates'].map((one: Json) => TOKEN(one) ?? {})
  if (said === '' || chosen.map(tokenIn).join('') !== said) return {}
  // The alternatives are short, and none of them was said.
  const tops = isList(given['topCandidates']) ? given['topCandidates'].map((top) => TOP(top) ?? {}) : []
  return { logprobsResult: { chosenCandidates: chosen, ...(tops.length > 0 && { topCandidates: tops }) } }
}
