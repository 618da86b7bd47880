// Helpers for labels of data.

import { sha256Hex } from '@tollgate/evidence/core'

/** Returns the labels sorted and without duplicates. */
export function sortedLabels(labels: readonly string[]): readonly string[] {
  return labels.length < 2 ? labels : [...new Set(labels)].sort()
}

const PAGE_LABEL = /^page-[0-9a-f]{26}$/

/**
 * The label of everything that was read on pages of a host and port. It has their hash, because a label is short. The default ports of
 * http and https are one.
 */
export function pageLabel({ host, port }: { readonly host: string; readonly port?: unknown }): string {
  const place = typeof port === 'number' && port !== 80 && port !== 443 ? `${host}:${port}` : host
  return `page-${sha256Hex(place).slice(0, 26)}`
}

/** Whether a label says on which pages a text was read. */
export function isPageLabel(label: string): boolean {
  return PAGE_LABEL.test(label)
}
