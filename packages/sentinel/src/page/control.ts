// Controls: whether a click hits what a person sees, and whether an invisible field repeats a visible one.

import type { Note } from '../assess.ts'
import type { Aside } from '../pieces.ts'
import { common, hasPoint, sizeOf, type Area } from './area.ts'
import { colourOf } from './colour.ts'
import {
  areaValueOf,
  attributeOf,
  firstMatch,
  hitAt,
  isInside,
  isNamed,
  isRendered,
  linkOf,
  nameOf,
  parentOf,
  typeOf,
  valueOf,
} from './native.ts'
import type { Sheets } from './layers.ts'
import { seenPart, type Paint } from './paint.ts'
import { placeOf } from './path.ts'

/** Something that reacts to a click. */
export interface Control {
  readonly element: Element
  readonly name: string
  readonly paint: Paint
  readonly order: number
  readonly box: () => Area
}

const REPLACED = new Set([
  'img',
  'video',
  'canvas',
  'iframe',
  'embed',
  'object',
  'svg',
  'input',
  'select',
  'textarea',
  'br',
  'hr',
  'audio',
  'meter',
  'progress',
])

/** Whether the content of an element is drawn by the browser and not from its children. */
export function isReplaced(name: string): boolean {
  return REPLACED.has(name)
}

const CONTROLS = new Set(['a', 'button', 'input', 'select', 'textarea', 'summary', 'iframe', 'area'])
const ROLES = new Set([
  'button',
  'link',
  'menuitem',
  'tab',
  'checkbox',
  'radio',
  'switch',
  'option',
  'textbox',
  'combobox',
])

/** Whether an element reacts to clicks, as far as its markup tells. */
export function isControl(element: Element, name: string): boolean {
  if (CONTROLS.has(name)) return name !== 'input' || attributeOf(element, 'type') !== 'hidden'
  const role = attributeOf(element, 'role')
  return (role !== null && ROLES.has(role)) || attributeOf(element, 'onclick') !== null
}

/** How a document lets a control be found at a point. */
interface Surroundings {
  readonly document: Document
  readonly window: Area
  readonly sheets: Sheets
  readonly offset: { readonly x: number; readonly y: number }
  readonly texts: (control: Element) => string
}

const MOST_HITS = 64

/** Judges the controls of a document. */
export function judgeControls(controls: readonly Control[], around: Surroundings): readonly Note[] {
  const notes: Note[] = []
  const known = new Map(controls.map((control) => [control.element, control]))
  for (const control of suspects(controls, around)) {
    const found = disguised(control, known, around)
    if (found) notes.push(noteOf('DISGUISED_CONTROL', 80, found, around))
  }
  notes.push(...mirrored(controls, around), ...otherNames(controls, around))
  return notes
}

/** The controls in the window whose middle another control or something opaque shares. Only they need a hit test, which is slow. */
function suspects(controls: readonly Control[], { window, sheets }: Surroundings): readonly Control[] {
  const inside = controls.filter((each) => sizeOf(common(common(each.box(), each.paint.clip), window)) >= 16)
  const bands = new Map<number, Control[]>()
  for (const each of inside) {
    const { top, bottom } = common(each.box(), window)
    for (let band = Math.floor(top / BAND); band <= bottom / BAND; band++) {
      const list = bands.get(band)
      if (list) list.push(each)
      else bands.set(band, [each])
    }
  }
  const isShared = (each: Control): boolean => {
    const [x, y] = middleOf(common(common(each.box(), each.paint.clip), window))
    const others = bands.get(Math.floor(y / BAND)) ?? []
    return (
      others.some((other) => other !== each && hasPoint(other.box(), x, y)) ||
      sheets.at(x, y, each.box(), each.paint, each.order).covered
    )
  }
  return inside.filter(isShared).slice(0, MOST_HITS)
}

const BAND = 64

function middleOf({ left, right, top, bottom }: Area): readonly [number, number] {
  return [(left + right) / 2, (top + bottom) / 2]
}

function noteOf(code: Note['code'], risk: number, { element }: Control, { offset }: Surroundings): Note {
  return { code, risk, place: () => placeOf(element, offset) }
}

/** The control that a click at the middle of a visible one really hits, if a person cannot see it there. */
function disguised(
  control: Control,
  known: ReadonlyMap<Element, Control>,
  around: Surroundings,
): Control | undefined {
  const box = common(common(control.box(), control.paint.clip), around.window)
  const [x, y] = middleOf(box)
  const hit = hitAt(around.document, x, y)
  const owner = hit && ownerOf(hit, known)
  if (!owner) return undefined
  if (owner === control) return isUnderDecoy(control, box, x, y, around) ? control : undefined
  if (isInside(owner.element, control.element) || isInside(control.element, owner.element)) return undefined
  if (isHelper(owner, control) || sameTarget(owner, control)) return undefined
  return isInvisible(owner, x, y, around) && !isInvisible(control, x, y, around) ? owner : undefined
}

function ownerOf(hit: Element, known: ReadonlyMap<Element, Control>): Control | undefined {
  for (let node: Node | null = hit; node; node = parentOf(node)) {
    // Sound: its type is that of an element.
    const control = typeOf(node) === 1 ? known.get(node as Element) : undefined
    if (control) return control
  }
  return undefined
}

/** A click goes through what is drawn over the control. */
function isUnderDecoy(control: Control, box: Area, x: number, y: number, { sheets }: Surroundings): boolean {
  return sheets.at(x, y, box, control.paint, control.order).covered
}

/** Fields that pages usually lay invisibly over a drawing of their own. They do nothing but set a value. */
const HELPERS = new Set([
  'checkbox',
  'radio',
  'file',
  'range',
  'color',
  'date',
  'time',
  'datetime-local',
  'month',
  'week',
])

function isHelper({ name, element }: Control, under: Control): boolean {
  if (name === 'select') return under.name !== 'a'
  return name === 'input' && HELPERS.has(attributeOf(element, 'type') ?? '')
}

function sameTarget(a: Control, b: Control): boolean {
  if (a.name !== 'a' || b.name !== 'a') return false
  // Sound: both are links, in HTML or in a drawing.
  const [first, second] = [a.element, b.element].map((each) => (isNamed(each, 'a') ? linkOf(each) : ''))
  return first !== '' && first === second
}

const UNSEEN = 0.2

/** Whether a person sees nothing of a control at a point. */
function isInvisible(control: Control, x: number, y: number, around: Surroundings): boolean {
  const { paint, element } = control
  if (paint.away || paint.opacity < UNSEEN || !isVisible(element)) return true
  const box = control.box()
  if (seenPart(paint, box) < 0.05) return true
  if (around.sheets.at(x, y, box, paint, control.order).covered) return true
  return isEmpty(control, around)
}

function isVisible(element: Element): boolean {
  return getComputedStyle(element).visibility === 'visible'
}

function isEmpty({ element, name }: Control, { texts }: Surroundings): boolean {
  if (isReplaced(name) && name !== 'iframe') return false
  if (name === 'iframe' || texts(element) !== '' || hasPicture(element)) return false
  const style = getComputedStyle(element)
  const colour = colourOf(style.backgroundColor)
  if ((colour && colour[3] >= UNSEEN) || style.backgroundImage !== 'none') return false
  return ['Top', 'Left'].every(
    (side) => style.getPropertyValue(`border-${side.toLowerCase()}-width`) === '0px',
  )
}

function hasPicture(element: Element): boolean {
  return firstMatch(element, 'img, svg, canvas, video, picture, i, input') !== null
}

const FILLED = new Set(['text', 'email', 'tel', 'password', 'number', 'url', 'search', ''])

function isField({ name, element }: Control): boolean {
  return name === 'textarea' || (name === 'input' && FILLED.has(attributeOf(element, 'type') ?? ''))
}

/** Invisible fields that repeat a visible field, and that a program would find and fill. */
function mirrored(controls: readonly Control[], around: Surroundings): readonly Note[] {
  const fields = controls.filter((each) => isField(each) && isRendered(each.element))
  if (fields.length < 2) return []
  const seen = fields.filter((each) => !isOutOfSight(each, around))
  return fields
    .filter((each) => !seen.includes(each))
    .flatMap((each) => {
      const twin = seen.find((other) => other.order !== each.order && isLike(other, each))
      if (!twin) return []
      return [noteOf('MIRRORED_FIELD', formOf(twin.element) === formOf(each.element) ? 80 : 40, each, around)]
    })
}

function isOutOfSight(control: Control, { sheets }: Surroundings): boolean {
  const { paint, element, order } = control
  if (paint.away || paint.opacity < UNSEEN || !isVisible(element)) return true
  const box = control.box()
  if (box.right - box.left < 4 || box.bottom - box.top < 4 || seenPart(paint, box) < 0.2) return true
  return sheets.at(...middleOf(box), box, paint, order).covered
}

/** Whether two fields ask for the same thing: the same label, name or kind of private data. */
function isLike(a: Control, b: Control): boolean {
  const words = (field: Control, name: string): string =>
    (attributeOf(field.element, name) ?? '').toLowerCase().replace(/[\d_\-[\]]+/g, '')
  const same = (name: string): boolean => words(a, name) !== '' && words(a, name) === words(b, name)
  const type = attributeOf(a.element, 'type')
  const isPrivate =
    (type === 'password' || type === 'email' || type === 'tel') && type === attributeOf(b.element, 'type')
  return same('name') || same('aria-label') || same('placeholder') || same('autocomplete') || isPrivate
}

function formOf(element: Element): Node | null {
  for (let node: Node | null = element; node; node = parentOf(node)) {
    // Sound: its type is that of an element.
    if (typeOf(node) === 1 && nameOf(node as Element) === 'form') return node
  }
  return null
}

const LEAST_LABEL = 2

/** The content of invisible fields: a script can fill them with any text. Without passwords. */
export function hiddenValues(controls: readonly Control[], around: Surroundings): readonly Aside[] {
  const hidden = controls.filter((each) => isField(each) && isOutOfSight(each, around))
  return hidden.map(({ element }) => ({
    text: contentOf(element),
    place: () => placeOf(element, around.offset),
  }))
}

function contentOf(element: Element): string {
  if (isNamed(element, 'textarea')) return areaValueOf(element)
  const isText = isNamed(element, 'input') && attributeOf(element, 'type') !== 'password'
  return isText ? valueOf(element) : ''
}

/** Buttons and links whose name for programs shares no word with what a person reads. */
function otherNames(controls: readonly Control[], around: Surroundings): readonly Note[] {
  return controls
    .filter(({ element, name }) => {
      const label = attributeOf(element, 'aria-label')
      if (!label || name === 'iframe') return false
      const [said, seen] = [wordsOf(label), wordsOf(around.texts(element))]
      if (said.size < LEAST_LABEL || seen.size < LEAST_LABEL) return false
      return [...seen].every((word) => !said.has(word))
    })
    .map((control) => noteOf('OTHER_NAME', 20, control, around))
}

function wordsOf(text: string): ReadonlySet<string> {
  return new Set(text.toLowerCase().match(/[\p{L}\p{N}]{3,}/gu) ?? [])
}
