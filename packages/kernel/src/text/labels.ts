// Helpers for labels of data.

/** Returns the labels sorted and without duplicates. */
export function sortedLabels(labels: readonly string[]): readonly string[] {
  return labels.length < 2 ? labels : [...new Set(labels)].sort()
}
