import { signal } from '@preact/signals'
import { browserSettings } from '../browser.js'

export type Theme = 'auto' | 'light' | 'dark'

const THEMES: readonly Theme[] = ['auto', 'light', 'dark']

export const theme = signal<Theme>(THEMES.find((one) => one === browserSettings.get('theme')) ?? 'auto')
/** Counts up when colours change: drawings on a canvas have to be made again. */
export const colours = signal(0)

export function applyTheme(): void {
  document.documentElement.dataset['theme'] = theme.value
  matchMedia('(prefers-color-scheme: dark)').addEventListener('change', () => void colours.value++)
}

export function nextTheme(): void {
  theme.value = THEMES[(THEMES.indexOf(theme.value) + 1) % THEMES.length]!
  browserSettings.set('theme', theme.value === 'auto' ? null : theme.value)
  document.documentElement.dataset['theme'] = theme.value
  colours.value++
}

/** The value of a colour of the style sheet. */
export const colourOf = (name: string): string =>
  getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim()
