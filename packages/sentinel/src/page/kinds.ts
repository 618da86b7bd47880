// Kinds of elements, by what a person reads of their content.

/** Nothing inside of these is text that anyone reads, apart from data blocks. */
export const SILENT: ReadonlySet<string> = new Set(['script', 'style', 'link', 'base'])
/** Parts of a drawing that are never drawn themselves. */
export const UNDRAWN: ReadonlySet<string> = new Set(
  'defs symbol clipPath mask marker pattern title desc metadata linearGradient radialGradient filter'.split(
    ' ',
  ),
)
/** Content of these is shown only where the element itself cannot be. */
export const FALLBACK: ReadonlySet<string> = new Set([
  'video',
  'audio',
  'canvas',
  'object',
  'iframe',
  'embed',
  'noscript',
  'textarea',
  'datalist',
])
/** These can show a document of their own, too. */
export const EMBEDS: ReadonlySet<string> = new Set(['object', 'embed', 'frame', 'fencedframe', 'portal'])
/** Types of scripts that hold data. */
export const DATA_BLOCK: RegExp = /json|text\/(?:plain|html|x-|markdown)|template/i
/** These do not begin a line. */
export const INLINE: ReadonlySet<string> = new Set(
  'a abbr b bdi bdo cite code data dfn em font i kbd mark q s samp small span strong sub sup time u var label'.split(
    ' ',
  ),
)
