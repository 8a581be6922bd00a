import type { RefObject } from 'preact'
import { useLayoutEffect, useState } from 'preact/hooks'

/** Width of an element in pixels, 0 until it is drawn; `onResize` is called after every change of its size. */
export function useWidth(box: RefObject<HTMLElement | null>, onResize = (): void => {}): number {
  const [width, setWidth] = useState(0)
  useLayoutEffect(() => {
    const observer = new ResizeObserver(() => {
      setWidth(box.current!.clientWidth)
      onResize()
    })
    observer.observe(box.current!)
    return () => observer.disconnect()
  }, [])
  return width
}
