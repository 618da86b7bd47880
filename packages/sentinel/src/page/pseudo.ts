// Finds out which elements style sheets may add text to, because asking for each one takes longer than everything else.

import { adoptedOf, allMatches, sheetsOf } from './native.ts'

/** Whether a style sheet may add text before, after or in the marker of an element. */
type MayGenerate = (element: Element, name: string, classes: string | null) => boolean

/** The additions that the style sheets of a document may make. */
interface Pseudos {
  readonly mayGenerate: MayGenerate
  /** The signs of counters that they define: any text. */
  readonly signs: string
}

const MOST_RULES = 8_000
const MOST_LEFT = 40
const PSEUDO = /::?(?:before|after|marker)\b/
/** The last part of a selector before its pseudo-element, if it is a plain tag, class or id with plain conditions. */
const LAST = /(?:^|[\s>+~])([.#]?)([A-Za-z_-][\w-]*)((?:[.#][\w-]+|:[a-z-]+)*)$/

interface Keys {
  readonly tags: Set<string>
  readonly classes: Set<string>
  readonly left: string[]
  signs: string
  rules: number
}

/** Reads the style sheets of a document. A sheet that cannot be read may add text anywhere. */
export function readPseudos(document: Document): Pseudos {
  const keys: Keys = { tags: new Set(), classes: new Set(), left: [], signs: '', rules: 0 }
  const mayGenerate = readSheets(document, keys)
  return { mayGenerate, signs: keys.signs }
}

function readSheets(document: Document, keys: Keys): MayGenerate {
  try {
    for (const sheet of [...sheetsOf(document), ...adoptedOf(document)]) readRules(sheet.cssRules, keys)
    if (keys.left.length > MOST_LEFT) return () => true
    const others = keys.left.length > 0 ? new Set(allMatches(document, keys.left.join(','))) : undefined
    const { tags, classes } = keys
    const known = new Map<string, boolean>()
    const hasClass = (given: string): boolean => {
      const before = known.get(given)
      if (before !== undefined) return before
      const found = given.split(/\s+/).some((each) => classes.has(each))
      known.set(given, found)
      return found
    }
    return (element, name, given) =>
      tags.has(name) ||
      others?.has(element) === true ||
      (given !== null && classes.size > 0 && hasClass(given))
  } catch {
    // A sheet of another origin, or a rule that this does not know.
    return () => true
  }
}

function readRules(rules: CSSRuleList, keys: Keys): void {
  for (const rule of rules) {
    if (++keys.rules > MOST_RULES) throw new RangeError('too many rules')
    if (rule instanceof CSSStyleRule) {
      // A nested rule begins with its parent's selector.
      if (rule.cssRules.length > 0) throw new TypeError('nested rules')
      if (PSEUDO.test(rule.selectorText)) readSelector(rule.selectorText, keys)
    } else if (rule instanceof CSSGroupingRule && !SCOPES.has(rule.constructor.name))
      readRules(rule.cssRules, keys)
    else if (rule instanceof CSSImportRule) {
      if (!rule.styleSheet) throw new TypeError('an unread import')
      readRules(rule.styleSheet.cssRules, keys)
    } else if (rule instanceof CSSCounterStyleRule) {
      const { symbols, additiveSymbols, prefix, suffix, negative } = rule
      keys.signs += [symbols, additiveSymbols, prefix, suffix, negative].join('\n')
    } else if (!HARMLESS.has(rule.constructor.name)) throw new TypeError('an unknown rule')
  }
}

const SCOPES = new Set(['CSSScopeRule', 'CSSStartingStyleRule', 'CSSFunctionRule'])
const HARMLESS = new Set(
  'CSSFontFaceRule CSSKeyframesRule CSSPropertyRule CSSNamespaceRule CSSLayerStatementRule CSSPageRule CSSFontFeatureValuesRule CSSFontPaletteValuesRule'.split(
    ' ',
  ),
)

/** Notes the elements that a list of selectors can match. */
function readSelector(list: string, { tags, classes, left }: Keys): void {
  // Commas inside of functions and strings would be cut wrongly.
  const parts = /[("'\\[]/.test(list) ? [list] : list.split(',')
  for (const part of parts) {
    if (!PSEUDO.test(part)) continue
    const base = part.trim().replace(/::?(?:before|after|marker)(?::[a-z-]+)*$/, '')
    const [, kind, name = ''] = (/["'\\(,[]/.test(base) ? null : LAST.exec(base)) ?? []
    if (kind === '.') classes.add(name)
    else if (kind === '') tags.add(name.toLowerCase())
    else left.push(kind === '#' ? `#${name}` : part.replace(new RegExp(PSEUDO, 'g'), ''))
  }
}
