// Helpers for labels of data.

import { sha256Hex } from '@tollgate/evidence/core'

/** Returns the labels sorted and without duplicates. */
export function sortedLabels(labels: readonly string[]): readonly string[] {
  return labels.length < 2 ? labels : [...new Set(labels)].sort()
}

const PAGE_LABEL = /^page-[0-9a-f]{26}$/

/** The label of everything that was read on pages of a host. It has the hash of the host, because a label is short. */
export function pageLabel(host: string): string {
  return `page-${sha256Hex(host).slice(0, 26)}`
}

/** Whether a label says on which host a text was read. */
export function isPageLabel(label: string): boolean {
  return PAGE_LABEL.test(label)
}
