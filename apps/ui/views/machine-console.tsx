import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks'
import { oncePerFrame, pauseFor } from '../browser.js'
import { makeLabClient, connectionState } from '../state/page-connection.js'

/** Lines that the page keeps. */
const MAX_PAGE_LINES = 1000

/** The console as it scrolls. It stays at its end, unless it was scrolled away from there. */
export function MachineConsole({ id }: { id: string }) {
  const [lines, setLines] = useState<readonly string[]>([])
  const box = useRef<HTMLPreElement>(null)
  const isAtEnd = useRef(true)
  const isLive = connectionState.value.kind === 'live'
  useEffect(() => {
    if (!isLive) return undefined
    const controller = new AbortController()
    void followConsoleLines(id, controller.signal, setLines)
    return () => controller.abort()
  }, [id, isLive])
  useLayoutEffect(() => {
    if (isAtEnd.current && box.current) box.current.scrollTop = box.current.scrollHeight
  }, [lines])
  const note = (): void => {
    const { scrollTop, scrollHeight, clientHeight } = box.current!
    isAtEnd.current = scrollTop + clientHeight >= scrollHeight - 4
  }
  return (
    <section class="panel" aria-label="Console">
      <h2>Console</h2>
      {lines.length === 0 && (
        <p class="quiet">
          Nothing was printed since it was switched on. Boots from served media print; the ramdisk that is built in does
          not.
        </p>
      )}
      {lines.length > 0 && (
        <pre class="console" ref={box} tabIndex={0} role="log" aria-label="Lines of the console" onScroll={note}>
          {lines.join('\n')}
        </pre>
      )}
    </section>
  )
}

async function followConsoleLines(
  id: string,
  signal: AbortSignal,
  show: (lines: readonly string[]) => void,
): Promise<void> {
  let lines: string[] = []
  const draw = oncePerFrame(() => {
    if (!signal.aborted) show(lines)
  })
  while (!signal.aborted) {
    try {
      for await (const event of makeLabClient(signal).followConsole(id)) {
        lines = event.event === 'console' ? [...event.lines] : [...lines, event.line].slice(-MAX_PAGE_LINES)
        draw()
      }
    } catch {
      // The page says that the server is lost, and begins again when it is back.
    }
    await pauseFor(500, signal)
  }
}
