// Compares roles and names of elements: as a server writes them in a snapshot, and as the browser computes them.

/** The role and the name of an element. */
interface Accessible {
  readonly role: string
  readonly name: string
}

// Servers write some roles in other words than Chromium.
const GROUPS: readonly (readonly string[])[] = [
  ['img', 'image', 'graphic', 'Canvas', 'SvgRoot', 'graphics-document'],
  [
    'textbox',
    'searchbox',
    'Date',
    'DateTime',
    'InputTime',
    'ColorWell',
    'spinbutton',
    'textarea',
    'combobox',
  ],
  ['iframe', 'Iframe'],
  ['row', 'LayoutTableRow'],
  ['cell', 'gridcell', 'LayoutTableCell', 'columnheader', 'rowheader'],
  ['table', 'LayoutTable', 'grid', 'treegrid'],
  ['list', 'DescriptionList'],
  ['summary', 'DisclosureTriangle', 'button', 'DisclosureTriangleGrouped'],
  ['option', 'MenuListOption', 'menuitem'],
  ['document', 'RootWebArea', 'WebArea'],
  [
    'strong',
    'emphasis',
    'mark',
    'code',
    'generic',
    'paragraph',
    'none',
    'presentation',
    'group',
    'LabelText',
    'Legend',
    '',
  ],
]

/** Whether two roles are the same one. */
export function isSameRole(seen: string, real: string): boolean {
  if (seen === real || seen === 'StaticText' || seen === 'text') return true
  return GROUPS.some((group) => group.includes(seen) && group.includes(real))
}

/**
 * Whether the names are the same, apart from blanks. An element that only holds text is found by its place, and has no name for a
 * server.
 */
export function isSameName(seen: Accessible, real: Accessible): boolean {
  if (['StaticText', 'text'].includes(seen.role) || (seen.role === 'generic' && seen.name === '')) return true
  return plain(seen.name) === plain(real.name)
}

function plain(text: string): string {
  return text.replace(/\s+/g, '')
}
