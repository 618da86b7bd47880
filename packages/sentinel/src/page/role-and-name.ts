// The role and the name of an element: a simple form of what accessibility tools compute.

import {
  assignedTo,
  attributeOf,
  dataOf,
  firstMatch,
  isHtml,
  isNamed,
  labelsOf,
  nameOf,
  shownTextOf,
  typeOf,
  valueOf,
  withId,
} from './native.ts'

const ROLES: Readonly<Record<string, string>> = {
  a: 'link',
  area: 'link',
  button: 'button',
  select: 'combobox',
  textarea: 'textbox',
  summary: 'button',
  option: 'option',
  img: 'img',
  iframe: 'iframe',
  label: 'label',
}
const INPUT_ROLES: Readonly<Record<string, string>> = {
  button: 'button',
  submit: 'button',
  reset: 'button',
  image: 'button',
  checkbox: 'checkbox',
  radio: 'radio',
  range: 'slider',
  number: 'spinbutton',
  search: 'searchbox',
  file: 'file',
  password: 'password',
}

/** The role of an element: the one that it states, or that of its kind. */
export function roleOf(element: Element): string {
  const [given = ''] = (attributeOf(element, 'role') ?? '').trim().toLowerCase().split(/\s+/)
  if (/^[a-z]{1,32}$/.test(given)) return given
  const name = nameOf(element)
  if (name !== 'input') return ROLES[name] ?? 'generic'
  return INPUT_ROLES[(attributeOf(element, 'type') ?? '').toLowerCase()] ?? 'textbox'
}

/** The name of an element for programs, with single spaces. */
export function nameIn(element: Element): string {
  const label = attributeOf(element, 'aria-label') ?? ''
  const named = (attributeOf(element, 'aria-labelledby') ?? '')
    .split(/\s+/)
    .map((id) => textOf(withId(document, id)))
  const labels = labelsOf(element).map(textOf)
  const shown = isNamed(element, 'input') && roleOf(element) === 'button' ? valueOf(element) : textOf(element)
  const asides = ['alt', 'title', 'placeholder', 'name'].map((name) => attributeOf(element, name) ?? '')
  const inside = [slottedIn(element), pictureIn(element)]
  const all = [named.join(' '), label, labels.join(' '), shown, ...inside, ...asides].map((text) =>
    text.replace(/\s+/g, ' ').trim(),
  )
  return all.find((text) => text !== '') ?? ''
}

function textOf(element: Element | null): string {
  return element && isHtml(element) ? shownTextOf(element) : ''
}

function slottedIn(element: Element): string {
  const slot = firstMatch(element, 'slot')
  const nodes = slot && isNamed(slot, 'slot') ? assignedTo(slot) : []
  // Sound: the type says which class it is.
  return nodes.map((node) => (typeOf(node) === 3 ? dataOf(node as Text) : textOf(node as Element))).join(' ')
}

function pictureIn(element: Element): string {
  const picture = firstMatch(element, '[alt], [aria-label]')
  return picture ? (attributeOf(picture, 'aria-label') ?? attributeOf(picture, 'alt') ?? '') : ''
}
