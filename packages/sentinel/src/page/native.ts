// Functions of the DOM, taken from their prototypes. A page cannot replace them in an isolated world, but the names of its elements can
// hide members of forms and of the document (`<input name="firstChild">`), so no member of a node is read directly.

type Get<T, K extends keyof T> = (self: T) => T[K]

function getter<T extends object, K extends keyof T>(of: { readonly prototype: T }, name: K): Get<T, K> {
  const found: unknown = Reflect.get(Object.getOwnPropertyDescriptor(of.prototype, name) ?? {}, 'get')
  if (typeof found !== 'function') throw new TypeError(`no getter ${String(name)}`)
  // Sound: the getter of this member. The browser compiles a call of such a constant as fast as a plain member.
  return Function.prototype.call.bind(found) as Get<T, K>
}

type Call<T, A extends readonly unknown[], R> = (self: T, ...given: A) => R

function method<T extends object, A extends readonly unknown[], R>(
  of: { readonly prototype: T },
  name: keyof T,
): Call<T, A, R> {
  const found: unknown = Object.getOwnPropertyDescriptor(of.prototype, name)?.value
  if (typeof found !== 'function') throw new TypeError(`no method ${String(name)}`)
  // Sound: the method of this name; its type is stated where it is taken.
  return Function.prototype.call.bind(found) as Call<T, A, R>
}

export const typeOf: Get<Node, 'nodeType'> = getter(Node, 'nodeType')
export const firstOf: Get<Node, 'firstChild'> = getter(Node, 'firstChild')
export const nextOf: Get<Node, 'nextSibling'> = getter(Node, 'nextSibling')
export const previousOf: Get<Element, 'previousElementSibling'> = getter(Element, 'previousElementSibling')
export const parentOf: Get<Node, 'parentNode'> = getter(Node, 'parentNode')
export const documentOf: Get<Node, 'ownerDocument'> = getter(Node, 'ownerDocument')
export const dataOf: Get<CharacterData, 'data'> = getter(CharacterData, 'data')
export const nameOf: Get<Element, 'localName'> = getter(Element, 'localName')
export const attributesOf: Get<Element, 'attributes'> = getter(Element, 'attributes')
export const shadowOf: Get<Element, 'shadowRoot'> = getter(Element, 'shadowRoot')
export const htmlOf: Get<Element, 'outerHTML'> = getter(Element, 'outerHTML')
export const scrollWidthOf: Get<Element, 'scrollWidth'> = getter(Element, 'scrollWidth')
export const scrollHeightOf: Get<Element, 'scrollHeight'> = getter(Element, 'scrollHeight')
export const scrollLeftOf: Get<Element, 'scrollLeft'> = getter(Element, 'scrollLeft')
export const scrollTopOf: Get<Element, 'scrollTop'> = getter(Element, 'scrollTop')
export const clientWidthOf: Get<Element, 'clientWidth'> = getter(Element, 'clientWidth')
export const clientHeightOf: Get<Element, 'clientHeight'> = getter(Element, 'clientHeight')
export const clientLeftOf: Get<Element, 'clientLeft'> = getter(Element, 'clientLeft')
export const clientTopOf: Get<Element, 'clientTop'> = getter(Element, 'clientTop')
/** An emptied document has none, although its type says otherwise. */
export const rootOf: (self: Document) => Element | null = getter(Document, 'documentElement')
export const viewOf: Get<Document, 'defaultView'> = getter(Document, 'defaultView')
export const titleOf: Get<Document, 'title'> = getter(Document, 'title')
export const sheetsOf: Get<Document, 'styleSheets'> = getter(Document, 'styleSheets')
export const frameOf: Get<HTMLIFrameElement, 'contentDocument'> = getter(HTMLIFrameElement, 'contentDocument')
export const templateOf: Get<HTMLTemplateElement, 'content'> = getter(HTMLTemplateElement, 'content')
export const valueOf: Get<HTMLInputElement, 'value'> = getter(HTMLInputElement, 'value')
export const checkedOf: Get<HTMLInputElement, 'checked'> = getter(HTMLInputElement, 'checked')
export const areaValueOf: Get<HTMLTextAreaElement, 'value'> = getter(HTMLTextAreaElement, 'value')
export const choiceOf: Get<HTMLSelectElement, 'selectedIndex'> = getter(HTMLSelectElement, 'selectedIndex')
export const linkOf: Get<HTMLAnchorElement, 'href'> = getter(HTMLAnchorElement, 'href')

export const baseOf: Get<Node, 'baseURI'> = getter(Node, 'baseURI')
export const withId: Call<Document, [string], HTMLElement | null> = method(Document, 'getElementById')

/** The element that a positioned child of a static one is placed in. */
export const holderOfBox: Get<HTMLElement, 'offsetParent'> = getter(HTMLElement, 'offsetParent')

export const slotOf: Get<Element, 'assignedSlot'> = getter(Element, 'assignedSlot')
export const textSlotOf: Get<Text, 'assignedSlot'> = getter(Text, 'assignedSlot')
export const adoptedOf: Get<Document, 'adoptedStyleSheets'> = getter(Document, 'adoptedStyleSheets')
const shadowHostOf: Get<ShadowRoot, 'host'> = getter(ShadowRoot, 'host')
export const shadowHtmlOf: Get<ShadowRoot, 'innerHTML'> = getter(ShadowRoot, 'innerHTML')
/** Without regard to what is shown. */
export const textOf: Get<Node, 'textContent'> = getter(Node, 'textContent')
export const shownTextOf: Get<HTMLElement, 'innerText'> = getter(HTMLElement, 'innerText')

export const attributeNamesOf: Call<Element, [], string[]> = method(Element, 'getAttributeNames')
export const attributeOf: Call<Element, [string], string | null> = method(Element, 'getAttribute')
export const boxOf: Call<Element, [], DOMRect> = method(Element, 'getBoundingClientRect')
export const rectsOf: Call<Element, [], DOMRectList> = method(Element, 'getClientRects')
export const linesOf: Call<Range, [], DOMRectList> = method(Range, 'getClientRects')
export const isRendered: Call<Element, [CheckVisibilityOptions?], boolean> = method(
  Element,
  'checkVisibility',
)
export const isMatch: Call<Element, [string], boolean> = method(Element, 'matches')
export const isInside: Call<Node, [Node], boolean> = method(Node, 'contains')
export const firstMatch: Call<Element, [string], Element | null> = method(Element, 'querySelector')
export const allMatches: Call<Document, [string], NodeListOf<Element>> = method(Document, 'querySelectorAll')
export const assignedTo: Call<HTMLSlotElement, [], Node[]> = method(HTMLSlotElement, 'assignedNodes')
export const rangeIn: Call<Document, [], Range> = method(Document, 'createRange')
export const walkerIn: Call<Document, [Node, number], TreeWalker> = method(Document, 'createTreeWalker')
export const focusOf: Get<Document, 'activeElement'> = getter(Document, 'activeElement')
export const shadowFocusOf: Get<ShadowRoot, 'activeElement'> = getter(ShadowRoot, 'activeElement')
export const controlOf: Get<HTMLLabelElement, 'control'> = getter(HTMLLabelElement, 'control')
export const treeOf: Call<Node, [], Node> = method(Node, 'getRootNode')
export const elementsAt: Call<Document, [number, number], Element[]> = method(Document, 'elementsFromPoint')
export const elementAt: Call<Document, [number, number], Element | null> = method(
  Document,
  'elementFromPoint',
)
export const elementInShadow: Call<ShadowRoot, [number, number], Element | null> = method(
  ShadowRoot,
  'elementFromPoint',
)

/** The deepest element at a point of the window, also inside of open shadow roots. */
export function hitAt(self: Document, x: number, y: number): Element | null {
  let hit: Element | null = elementAt(self, x, y)
  for (let depth = 0; hit && depth < 32; depth++) {
    const root = shadowOf(hit)
    const inner: Element | null = root && elementInShadow(root, x, y)
    if (!inner || inner === hit) return hit
    hit = inner
  }
  return hit
}

/** The parent of a node; of a shadow root, its host. */
export function hostOrParent(self: Node): Node | null {
  return parentOf(self) ?? (typeOf(self) === 11 ? hostOf(self) : null)
}

/** The host of a shadow root; null for any other node. */
export function hostOf(self: Node): Node | null {
  try {
    // Sound: another fragment throws.
    return shadowHostOf(self as ShadowRoot)
  } catch {
    return null
  }
}

/** Whether a node is an element of this local name, in any namespace. */
export function isNamed<N extends keyof HTMLElementTagNameMap>(
  self: Element,
  name: N,
): self is HTMLElementTagNameMap[N] {
  return nameOf(self) === name && namespaceOf(self) === HTML
}

const namespaceOf = getter(Element, 'namespaceURI')
const HTML = 'http://www.w3.org/1999/xhtml'

/** Whether it is an element of HTML. */
export function isHtml(self: Element): self is HTMLElement {
  return namespaceOf(self) === HTML
}

/** Whether an element is part of a drawing. */
export function isSvg(self: Element): boolean {
  return namespaceOf(self) === 'http://www.w3.org/2000/svg'
}

interface FormPart {
  readonly form: HTMLFormElement | null
  readonly labels: NodeListOf<HTMLLabelElement> | null
}

function formPart<N extends 'button' | 'input' | 'select' | 'textarea'>(
  name: N,
  of: { readonly prototype: HTMLElementTagNameMap[N] & FormPart },
) {
  const [form, labels] = [getter<FormPart, 'form'>(of, 'form'), getter<FormPart, 'labels'>(of, 'labels')]
  return (self: Element) => (isNamed(self, name) ? { form: form(self), labels: labels(self) } : undefined)
}

const FORM_PARTS = [
  formPart('button', HTMLButtonElement),
  formPart('input', HTMLInputElement),
  formPart('select', HTMLSelectElement),
  formPart('textarea', HTMLTextAreaElement),
]

/** The attribute `action` of the form of a control; null if there is none. */
export function formAddressOf(self: Element): string | null {
  const form = FORM_PARTS.map((part) => part(self)?.form).find((each) => each)
  return form ? attributeOf(form, 'action') : null
}

/** The labels of a control. */
export function labelsOf(self: Element): readonly Element[] {
  return FORM_PARTS.flatMap((part) => [...(part(self)?.labels ?? [])])
}
