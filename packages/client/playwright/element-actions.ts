// The actions on one element of a page.

import { sha256Hex } from '@tollgate/evidence'
import type { Locator } from 'playwright-core'
import { performOn, type ActionOptions, type ElementAction, type Setting } from './perform.ts'

/** A file to upload, with its content: a path could mean another file by then. */
export interface Upload {
  readonly name: string
  readonly mimeType: string
  readonly buffer: Buffer
}

/** Actions on the one element that a locator finds. Each one is decided first, and executed only on the page that was judged. */
export interface ElementActions {
  click(options?: ActionOptions): Promise<void>
  dblclick(options?: ActionOptions): Promise<void>
  hover(options?: ActionOptions): Promise<void>
  fill(text: string, options?: ActionOptions): Promise<void>
  clear(options?: ActionOptions): Promise<void>
  press(key: string, options?: ActionOptions): Promise<void>
  check(options?: ActionOptions): Promise<void>
  uncheck(options?: ActionOptions): Promise<void>
  /** Chooses options by value or label, and returns the chosen values. */
  selectOption(values: string | readonly string[], options?: ActionOptions): Promise<readonly string[]>
  setInputFiles(files: Upload | readonly Upload[], options?: ActionOptions): Promise<void>
}

/** The actions on the element of a locator. */
export function elementActions(setting: Setting, locator: Locator): ElementActions {
  const on = async <R>(action: ElementAction<R>, options?: ActionOptions): Promise<R> =>
    performOn(setting, locator, action, options)
  return {
    click: (options) =>
      on(
        { tool: 'click', args: { count: 1 }, run: (element, timeout) => element.click({ timeout }) },
        options,
      ),
    dblclick: (options) =>
      on(
        { tool: 'click', args: { count: 2 }, run: (element, timeout) => element.dblclick({ timeout }) },
        options,
      ),
    hover: (options) =>
      on({ tool: 'hover', args: {}, run: (element, timeout) => element.hover({ timeout }) }, options),
    fill: (text, options) =>
      on(
        { tool: 'fill', args: { text }, run: (element, timeout) => element.fill(text, { timeout }) },
        options,
      ),
    clear: (options) =>
      on(
        { tool: 'fill', args: { text: '' }, run: (element, timeout) => element.fill('', { timeout }) },
        options,
      ),
    press: (key, options) =>
      on(
        { tool: 'press', args: { key }, run: (element, timeout) => element.press(key, { timeout }) },
        options,
      ),
    check: (options) =>
      on(
        { tool: 'check', args: { checked: true }, run: (element, timeout) => element.check({ timeout }) },
        options,
      ),
    uncheck: (options) =>
      on(
        { tool: 'check', args: { checked: false }, run: (element, timeout) => element.uncheck({ timeout }) },
        options,
      ),
    selectOption: (values, options) => on(selecting(values), options),
    setInputFiles: (files, options) => on(uploading(files), options),
  }
}

function selecting(values: string | readonly string[]): ElementAction<string[]> {
  const wanted = typeof values === 'string' ? [values] : [...values]
  return {
    tool: 'select',
    args: { values: wanted },
    run: (element, timeout) => element.selectOption(wanted, { timeout }),
  }
}

/** The gateway judges names, sizes and hashes; the content stays here. */
function uploading(files: Upload | readonly Upload[]): ElementAction<void> {
  const uploads = [files]
    .flat()
    .map(({ name, mimeType, buffer }) => ({ name, mimeType, buffer: Buffer.from(buffer) }))
  const described = uploads.map(({ name, mimeType, buffer }) => ({
    name,
    mimeType,
    bytes: buffer.length,
    sha256: sha256Hex(buffer),
  }))
  return {
    tool: 'upload',
    args: { files: described },
    // Pages usually hide the field itself and show a button of their own.
    mayHide: true,
    run: (element, timeout) => element.setInputFiles(uploads, { timeout }),
  }
}
