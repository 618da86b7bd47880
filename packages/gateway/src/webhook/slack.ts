// The body of a Slack incoming webhook.
//
// Names of tools, agents and servers are in the lines, and an agent can choose some of them. So Slack must not read any of the text
// as markup: it is escaped, and declared as plain text that is not parsed.

import type { JsonObject } from '@tollgate/evidence'

// Slack refuses a block of more than 3,000 characters.
const MAX_LENGTH = 2900

/** Returns the body of a message with these lines. `link` is an address of the gateway itself: no one else chooses a part of it. */
export function slackBody(lines: readonly string[], link?: string): JsonObject & { readonly text: string } {
  const text = cut(escaped(withoutLinks(lines.join('\n').toWellFormed())))
  return {
    text,
    mrkdwn: false,
    parse: 'none',
    link_names: false,
    unfurl_links: false,
    unfurl_media: false,
    blocks: [
      { type: 'section', text: { type: 'plain_text', text, emoji: false } },
      ...(link === undefined
        ? []
        : [{ type: 'section', text: { type: 'mrkdwn', text: `<${link}|Open the request>` } }]),
    ],
  }
}

/** Slack makes a link of every text with a scheme, also without markup. */
function withoutLinks(text: string): string {
  return text.replaceAll('://', '[:]//')
}

/** The three characters that begin or end Slack's markup: links, mentions and entities. */
function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')
}

/** Cuts a text between two characters, and never inside an entity. */
function cut(text: string): string {
  return text.length <= MAX_LENGTH
    ? text
    : `${text
        .slice(0, MAX_LENGTH)
        .replace(/&[a-z]*$/, '')
        .toWellFormed()}…`
}
