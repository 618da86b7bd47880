// The closed table of findings, with the risk that each one adds.

/**
 * The meaning of a finding for the risk of a page.
 *
 * - `hidden`: a part that a person cannot read. It is removed from the projection. Hiding is usual, so it adds no risk.
 * - `unknown`: a part that could not be resolved. It never counts as visible.
 * - `risk`: a reason to distrust the page.
 */
export type FindingKind = 'hidden' | 'unknown' | 'risk'

const TABLE = {
  NOT_RENDERED: ['hidden', 'Text that the browser does not render.'],
  TRANSPARENT_TEXT: ['hidden', 'Text that is transparent, blurred or masked.'],
  TINY_TEXT: ['hidden', 'Text that is too small to read, or whose letters lie on one spot.'],
  OFF_CANVAS: ['hidden', 'Text at a place that no scrolling reaches.'],
  CLIPPED_TEXT: ['hidden', 'Text outside of the visible part of a box.'],
  COVERED_TEXT: ['hidden', 'Text under something opaque.'],
  CAMOUFLAGED_TEXT: ['hidden', 'Text in the colour of its background.'],
  UNRESOLVED_PAINT: [
    'unknown',
    'Text over a picture, or with a filter, mask or blend mode that could hide it.',
  ],
  UNRESOLVED_PLACE: ['unknown', 'Generated text whose place could not be measured.'],
  UNRESOLVED_STYLE: ['unknown', 'Text whose style is not known without a browser.'],
  CLOSED_SHADOW: ['unknown', 'An element whose content the page keeps private.'],
  FRAME_NOT_SCANNED: ['unknown', 'A frame of another origin, which needs a scan of its own.'],
  PICTURE_PAGE: ['unknown', 'A page that shows mostly pictures, whose text cannot be read.'],
  TRUNCATED: ['unknown', 'The rest of a page that is too large or too slow to scan.'],
  HIDDEN_INSTRUCTION: ['risk', 'Text that a person cannot read directs the reader.'],
  ATTRIBUTE_INSTRUCTION: ['risk', 'An attribute, a comment or data of the page directs the reader.'],
  UNKNOWN_INSTRUCTION: ['risk', 'Text that may be hidden directs the reader.'],
  VISIBLE_INSTRUCTION: ['risk', 'Visible text directs an agent.'],
  ENCODED_INSTRUCTION: ['risk', 'Encoded or disguised text directs the reader.'],
  REORDERED_INSTRUCTION: [
    'risk',
    'Text directs the reader in the order that a person sees, not in the order of the document.',
  ],
  INVISIBLE_CHARACTERS: ['risk', 'Invisible characters carry data, or change the order of text.'],
  MIRRORED_FIELD: ['risk', 'An invisible field repeats a visible one and can be filled in its place.'],
  DISGUISED_CONTROL: ['risk', 'A click hits a control that a person cannot see at that place.'],
  OTHER_NAME: ['risk', 'The accessible name of a control shares no word with its visible text.'],
} as const

/** The code of a finding. */
export type FindingCode = keyof typeof TABLE

/** Every code with its kind and one sentence. */
export const FINDING_CODES: Readonly<
  Record<FindingCode, { readonly kind: FindingKind; readonly about: string }>
> =
  // Sound: the entries of TABLE with the same keys.
  Object.fromEntries(
    Object.entries(TABLE).map(([code, [kind, about]]) => [code, Object.freeze({ kind, about })]),
  ) as Record<FindingCode, { kind: FindingKind; about: string }>

/** The codes whose text is removed from the projection. */
export type AwayCode = {
  [C in FindingCode]: (typeof TABLE)[C][0] extends 'risk' ? never : C
}[FindingCode]
