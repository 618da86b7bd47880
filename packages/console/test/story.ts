// A small story in a ledger, for pictures and for tests: calls of every verdict, open requests, and a browser call.

import type { ConsoleRig } from './rig.ts'

const LETTER = `Hello Ann,

the offer is attached. Please pay until Friday.
`

/** What a story leaves. */
export interface Story {
  /** The places of the console that show it. */
  readonly places: Readonly<Record<string, string>>
  /** A token of an admin. */
  readonly admin: string
  /** The request of the mail. */
  readonly mail: string
}

/** A page as the Sentinel reports it. */
export const SHOP = {
  url: 'https://shop.example.com/cart?item=4',
  dom_hash: 'd'.repeat(64),
  visual_text_hash: 'e'.repeat(64),
  sentinel_risk: 20,
  sentinel_findings: ['HIDDEN_TEXT'],
}

/** Plays the story. */
export async function tellStory(rig: ConsoleRig): Promise<Story> {
  const admin = await rig.token('admin', 'user:ada')
  for (const name of ['shopping', 'travel', 'ideas']) await rig.call('notes/read', { name })
  const first = await rig.call('notes/write', { name: 'ideas', text: 'a house by the sea' })
  await rig.call('disk/format', { device: '/dev/sda' })
  const mail = await rig.call('mail/send', { to: 'ann@partner.example.org', subject: 'Offer', text: LETTER })
  await rig.call('pay/invoice', {
    invoice: '2026-118',
    amount: 1250.5,
    currency: 'EUR',
    lines: [{ item: 'chairs', count: 4 }],
  })
  await rig.call(
    'a-server-with-a-very-long-name-indeed/and_a_tool_whose_name_nobody_wanted_to_shorten_because_it_is_generated',
    {},
  )
  const click = await rig.click({ element: 'Buy now', ref: 'e12' }, SHOP)
  const id = mail.approval ?? ''
  return {
    admin,
    mail: id,
    places: {
      live: '/console/live',
      call: `/console/call/${first.receipt}`,
      'call-asked': `/console/call/${id}`,
      freeze: '/console/freeze',
      tools: '/console/tools',
      policy: '/console/policy',
      evidence: '/console/evidence',
      health: '/console/health',
      approvals: '/console/approvals',
      approval: `/console/approvals/${id}`,
      'approval-page': `/console/approvals/${click.approval ?? ''}`,
    },
  }
}
