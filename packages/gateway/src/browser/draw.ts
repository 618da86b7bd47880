// Draws findings on a page, for a picture of it.

import { FINDING_CODES, type Finding, type FindingKind } from '@tollgate/sentinel'

const COLOURS: Readonly<Record<FindingKind, string>> = {
  risk: '#d00000',
  unknown: '#0060d0',
  hidden: '#d08000',
}

/** The expression that draws boxes and codes over a page. It adds one element, whose content the page cannot reach. */
export function drawFindings(findings: readonly Finding[]): string {
  // Findings arrive by risk, so the first one of a box gives it its colour.
  const marks = new Map<string, Mark>()
  for (const { code, places } of findings) {
    for (const { box } of places) {
      if (!box) continue
      const key = `${box.x} ${box.y} ${box.width} ${box.height}`
      const before = marks.get(key)
      const colour = before?.colour ?? COLOURS[FINDING_CODES[code].kind]
      marks.set(key, { ...box, codes: before ? `${before.codes} ${code}` : code, colour })
    }
  }
  return `(${draw.toString()})(${JSON.stringify([...marks.values()])})`
}

interface Mark {
  readonly x: number
  readonly y: number
  readonly width: number
  readonly height: number
  readonly codes: string
  readonly colour: string
}

interface Drawn {
  append(...nodes: readonly (Drawn | string)[]): void
  attachShadow(options: { readonly mode: 'closed' }): Drawn
  setAttribute(name: string, value: string): void
  readonly style: { cssText: string }
}

declare const document: { readonly documentElement: Drawn; createElement(name: string): Drawn }

/** Runs in the page. Its code is sent as text, so it uses nothing from outside. */
function draw(marks: readonly Mark[]): void {
  const host = document.createElement('div')
  host.style.cssText =
    'all:initial;position:absolute;left:0;top:0;width:0;height:0;z-index:2147483647;pointer-events:none'
  const root = host.attachShadow({ mode: 'closed' })
  for (const { x, y, width, height, codes, colour } of marks) {
    const box = document.createElement('div')
    // A place outside of the page is drawn at its edge.
    const place = `left:${Math.max(0, x)}px;top:${Math.max(0, y)}px;width:${Math.max(6, width)}px;height:${Math.max(6, height)}px`
    box.style.cssText = `position:absolute;box-sizing:border-box;border:2px solid ${colour};${place}`
    const label = document.createElement('div')
    label.style.cssText = `position:absolute;left:0;bottom:100%;font:bold 10px/12px monospace;color:#fff;background:${colour};white-space:nowrap;padding:0 2px`
    label.append(codes)
    box.append(label)
    root.append(box)
  }
  document.documentElement.append(host)
}
