import { describe, expect, it } from 'vitest'
import { kindRefusal, type JudgedKind } from '../../src/browser/door/kind.ts'

const READ: JudgedKind = { reads: true, acts: 'page', destination: undefined }
const CLICK: JudgedKind = { reads: false, acts: 'page', destination: undefined }
const OPEN: JudgedKind = { reads: true, acts: 'navigation', destination: 'https://shop.test/a' }
const page = { id: 'p', send: () => Promise.resolve({}) }
const STEP = { page, way: 'back', entry: 1, address: 'https://shop.test/b' } as const
const BACK: JudgedKind = { ...OPEN, destination: STEP.address, step: STEP }

describe('a command of a browser server', () => {
  it.each<readonly [string, JudgedKind | undefined, string, object, boolean]>([
    ['input, in a read', READ, 'Input.dispatchMouseEvent', {}, false],
    ['text, in a read', READ, 'Input.insertText', {}, false],
    ['input, in a click', CLICK, 'Input.dispatchMouseEvent', {}, true],
    ['a script, in a read', READ, 'Runtime.callFunctionOn', {}, true],
    ['an address, in no call', undefined, 'Page.navigate', { url: 'https://shop.test/a' }, false],
    ['a tab, in no call', undefined, 'Target.createTarget', { url: 'about:blank' }, false],
    ['an address, in a click', CLICK, 'Page.navigate', { url: 'https://shop.test/a' }, false],
    ['the history, in a click', CLICK, 'Page.navigateToHistoryEntry', { entryId: 1 }, false],
    ['a reload, in a click', CLICK, 'Page.reload', {}, false],
    ['a blank tab, in a click', CLICK, 'Target.createTarget', { url: 'about:blank' }, true],
    ['its own address', OPEN, 'Page.navigate', { url: 'https://shop.test/a' }, true],
    ['its own address, spelled otherwise', OPEN, 'Page.navigate', { url: 'https://SHOP.test:443/a' }, true],
    ['its own address in a new tab', OPEN, 'Target.createTarget', { url: 'https://shop.test/a' }, true],
    ['another path', OPEN, 'Page.navigate', { url: 'https://shop.test/b' }, false],
    ['another query', OPEN, 'Page.navigate', { url: 'https://shop.test/a?x=1' }, false],
    ['another host', OPEN, 'Target.createTarget', { url: 'https://evil.test/a' }, false],
    ['no address', OPEN, 'Page.navigate', { url: 7 }, true],
    ['an unreadable address', OPEN, 'Page.navigate', { url: 'shop.test/a' }, false],
    ['the history', BACK, 'Page.navigateToHistoryEntry', { entryId: 1 }, true],
    ['the history, in a call with an address', OPEN, 'Page.navigateToHistoryEntry', { entryId: 1 }, false],
    ['a reload, in a call with an address', OPEN, 'Page.reload', {}, false],
    ['an address, in a call that goes back', BACK, 'Page.navigate', { url: 'https://shop.test/b' }, false],
  ])('%s passes or not', (_, call, method, params, passes) => {
    expect(kindRefusal(call, { method, params: { ...params } }) === undefined).toBe(passes)
  })
})
