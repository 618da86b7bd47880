// Elements of the page. Text from a pack is only ever set as text, and its invisible characters are made visible.

/** Finds an element of the page. Throws if the page has no such element of that type. */
export function byId<T extends Element>(id: string, type: new () => T): T {
  const found = document.getElementById(id)
  if (!(found instanceof type)) throw new Error(`the page has no \`${id}\``)
  return found
}

/** The attributes that an element is made with. */
export interface Made {
  readonly class?: string
  readonly text?: string
  readonly role?: string
  /** The full text, where the place may be too small for it. */
  readonly title?: string
  readonly label?: string
  readonly onClick?: () => void
}

/** Makes an element. */
export function make<K extends keyof HTMLElementTagNameMap>(
  tag: K,
  made: Made = {},
  ...children: readonly Node[]
): HTMLElementTagNameMap[K] {
  const element = document.createElement(tag)
  if (made.class !== undefined) element.className = made.class
  if (made.text !== undefined) element.textContent = shown(made.text)
  if (made.role !== undefined) element.setAttribute('role', made.role)
  if (made.title !== undefined && made.title !== '') element.title = shown(made.title)
  if (made.label !== undefined) element.setAttribute('aria-label', shown(made.label))
  if (made.onClick) element.addEventListener('click', made.onClick)
  element.append(...children)
  return element
}

/** Makes a button. */
export function button(text: string, onClick: () => void, made: Made = {}): HTMLButtonElement {
  const element = make('button', { ...made, text, onClick })
  element.type = 'button'
  return element
}

/** Returns a text in which characters that cannot be seen, or that turn the direction of writing, are dots. */
export function shown(text: string): string {
  return text.replaceAll(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, '·')
}

/** Formats a number with thin gaps between thousands. */
export function grouped(count: number): string {
  return String(count).replaceAll(/\B(?=(?:\d{3})+$)/g, '\u202f')
}

/** Offers a text to the user as a file. */
export function save(name: string, text: string): void {
  const url = URL.createObjectURL(new Blob([text], { type: 'application/json' }))
  const link = make('a')
  link.href = url
  link.download = name
  link.click()
  // The browser reads it after this; a page has few of them.
  window.setTimeout(() => URL.revokeObjectURL(url), 60_000)
}
