// Links from messages to the console. A link names one request, is signed, and expires with the request. It is no permission: the
// person signs in first.

import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto'

/** The links of one run of the gateway. */
export interface ConsoleLinks {
  /** The link to a request that expires at this time, in milliseconds. */
  linkTo(id: string, until: number): string
  /** The request of a link, by its query; undefined if the link is not of this gateway or has expired. */
  idIn(search: string): string | undefined
}

/** Creates links under an address. A restart of the gateway makes them invalid, and its messages are then sent again. */
export function createLinks(base: string, now: () => number): ConsoleLinks {
  const secret = randomBytes(32)
  const sign = (id: string, until: string): string =>
    createHmac('sha256', secret).update(`${id}\n${until}`).digest('base64url')
  return {
    linkTo(id, until) {
      const query = new URLSearchParams({ id, until: String(until), signature: sign(id, String(until)) })
      return `${base}/console/open?${query.toString()}`
    },
    idIn(search) {
      const query = new URLSearchParams(search)
      const [id, until, signature] = ['id', 'until', 'signature'].map((name) => query.getAll(name))
      if (id?.length !== 1 || until?.length !== 1 || signature?.length !== 1) return undefined
      const expected = Buffer.from(sign(id[0] ?? '', until[0] ?? ''))
      const given = Buffer.from(signature[0] ?? '')
      const isOurs = given.length === expected.length && timingSafeEqual(given, expected)
      return isOurs && now() <= Number(until[0]) ? id[0] : undefined
    },
  }
}
