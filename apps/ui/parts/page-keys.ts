import { signal } from '@preact/signals'
import { useLayoutEffect } from 'preact/hooks'

/** A key that does something, as the help lists it. */
export interface Key {
  readonly key: string
  readonly does: string
  readonly act: () => void
}

/** Open dialogs of the whole page. */
export const shownDialog = signal<'palette' | 'help' | 'views' | null>(null)

const layers = new Set<readonly Key[]>()

/** Keys of the view that is shown, for the help. */
export const keysShown = signal<readonly Key[]>([])

/**
 * Takes keys while the component is shown, from before it is painted: a key that follows at once is for what is shown now.
 * `make` is called again when one of `inputs` is another.
 */
export function useKeys(make: () => readonly Key[], inputs: readonly unknown[]): void {
  useLayoutEffect(() => {
    const keys = make()
    layers.add(keys)
    keysShown.value = [...layers].flat()
    return () => {
      layers.delete(keys)
      keysShown.value = [...layers].flat()
    }
  }, inputs)
}

const isTyping = (target: EventTarget | null): boolean =>
  target instanceof HTMLElement && target.closest('input, select, textarea, [contenteditable]') !== null

addEventListener('keydown', (event) => {
  if ((event.ctrlKey || event.metaKey) && event.key.toLowerCase() === 'k') {
    event.preventDefault()
    shownDialog.value = shownDialog.value === 'palette' ? null : 'palette'
    return
  }
  if (event.ctrlKey || event.metaKey || event.altKey || isTyping(event.target) || shownDialog.value !== null) return
  const key = [...layers].flat().find((one) => one.key === event.key)
  if (!key) return
  event.preventDefault()
  key.act()
})
