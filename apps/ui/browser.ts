// The page's time, storage and address: the one place that touches the browser's own.

/** Milliseconds since 1970 of this computer. */
export const wallTime = (): number => Date.now()

/** Waits; ends early, without an error, when the signal is aborted. */
export const pauseFor = (ms: number, signal?: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    if (signal?.aborted) return resolve()
    const timer = setTimeout(resolve, ms)
    signal?.addEventListener('abort', () => (clearTimeout(timer), resolve()), { once: true })
  })

/** Calls a function again and again until the result is called. */
export function repeatEvery(ms: number, act: () => void): () => void {
  const timer = setInterval(act, ms)
  return () => clearInterval(timer)
}

/** A signal that is aborted after a time, or with another one. */
export const timeoutSignal = (ms: number, signal?: AbortSignal): AbortSignal =>
  signal ? AbortSignal.any([AbortSignal.timeout(ms), signal]) : AbortSignal.timeout(ms)

/** Calls once per frame, however often it is asked. */
export const oncePerFrame = (act: () => void): (() => void) => together(act, requestAnimationFrame)

/** Calls after a time, once for all that asked until then. */
export const atMostEvery = (ms: number, act: () => void): (() => void) => together(act, (run) => setTimeout(run, ms))

function together(act: () => void, later: (run: () => void) => unknown): () => void {
  let isAsked = false
  const run = (): void => {
    isAsked = false
    act()
  }
  return () => {
    if (!isAsked) later(run)
    isAsked = true
  }
}

/** Beginning of the lab's URLs, from the page's own address: `https://host/prefix`. */
export const labUrl = (): string => location.href.replace(/\/_lab\/ui\/.*$/s, '')

/** The address of what is shown, to be shared. */
export const pageAddress = (): string => location.href

/** True if two columns have room; as in style/exchanges.css. */
export const isWide = (): boolean => matchMedia('(min-width: 1100px)').matches

/** Has the browser save a text as a file. */
export function saveFile(name: string, text: string, type: string): void {
  const link = document.createElement('a')
  link.href = URL.createObjectURL(new Blob([text], { type }))
  link.download = name
  link.click()
  // The browser has begun to read it by then.
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000)
}

/** Bytes of a file that the page reads: what the server takes at most. */
const MAX_READ_FILE = 4 * 2 ** 20

/**
 * The text of a file that the user has chosen.
 *
 * @throws Error for one that is too large
 */
export async function readFile(file: File, limit = MAX_READ_FILE): Promise<string> {
  if (file.size > limit) throw new Error(`${file.name} is larger than ${limit / 2 ** 20} MiB`)
  return file.text()
}

/**
 * Puts a text on the clipboard.
 *
 * @throws Error where the browser refuses, as it does on pages without https
 */
export async function copyText(text: string): Promise<void> {
  const { clipboard } = navigator as { clipboard?: Clipboard }
  if (!clipboard) throw new Error('the browser lets only pages of https and localhost copy: download the file')
  await clipboard.writeText(text)
}

/** A value that outlives a reload of the tab, and nothing else. */
export const tabStorage = storage(() => sessionStorage)
/** A setting of this browser. */
export const browserSettings = storage(() => localStorage)

function storage(of: () => Storage) {
  // Browsers refuse storage by settings of privacy; the page works without.
  const trying = <Value>(act: () => Value): Value | null => {
    try {
      return act()
    } catch {
      return null
    }
  }
  return {
    get: (name: string): string | null => trying(() => of().getItem(`ironstage.${name}`)),
    set: (name: string, value: string | null): void =>
      void trying(() =>
        value === null ? of().removeItem(`ironstage.${name}`) : of().setItem(`ironstage.${name}`, value),
      ),
  }
}
