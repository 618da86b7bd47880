// Light, dark, or as the system has it.

import { signal, type Signal } from '@preact/signals'

const NAME = 'tollgate-theme'
const THEMES = ['system', 'light', 'dark'] as const
type Theme = (typeof THEMES)[number]

/** The chosen theme. */
export const theme: Signal<Theme> = signal(stored())

/** Applies the chosen theme to the page. */
export function applyTheme(): void {
  document.documentElement.dataset['theme'] = theme.value
}

/** Chooses the next theme. */
export function nextTheme(): void {
  theme.value = THEMES[(THEMES.indexOf(theme.value) + 1) % THEMES.length] ?? 'system'
  localStorage.setItem(NAME, theme.value)
  applyTheme()
}

function stored(): Theme {
  return THEMES.find((each) => each === localStorage.getItem(NAME)) ?? 'system'
}
