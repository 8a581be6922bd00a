import type { ComponentChildren } from 'preact'
import { useLayoutEffect, useRef } from 'preact/hooks'
import { shownDialog } from './page-keys.js'

/** A dialog over the page. Escape and a click beside it close it; the focus goes back to where it was. */
export function Modal({ label, children }: { label: string; children: ComponentChildren }) {
  const element = useRef<HTMLDialogElement>(null)
  // Before it is painted: letters that follow the key that opens it are for its field.
  useLayoutEffect(() => {
    const before = document.activeElement
    element.current?.showModal()
    return () => {
      if (before instanceof HTMLElement) before.focus()
    }
  }, [])
  const close = (): void => void (shownDialog.value = null)
  return (
    <dialog
      ref={element}
      aria-label={label}
      onClose={close}
      onClick={({ target }) => target === element.current && close()}
    >
      {children}
    </dialog>
  )
}
