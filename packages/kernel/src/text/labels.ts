// Labels of data.

/** Each label once, in order. */
export function sortedLabels(labels: readonly string[]): readonly string[] {
  return labels.length < 2 ? labels : [...new Set(labels)].sort()
}
