import { signal } from '@preact/signals'
import { pauseFor } from '../browser.js'
import { sentenceOf } from '../state/page-connection.js'

export interface PageNotice {
  readonly id: number
  readonly isError: boolean
  readonly text: string
}

/** Sentences about what the user has done, the last ones last. */
export const notices = signal<readonly PageNotice[]>([])

let next = 1

const NOTICE_DISPLAY_TIME = 6000
const ERROR_DISPLAY_TIME = 20_000
const MAX_NOTICES = 4

export function showNotice(text: string, isError = false): void {
  const id = next++
  notices.value = [...notices.value, { id, isError, text }].slice(-MAX_NOTICES)
  void pauseFor(isError ? ERROR_DISPLAY_TIME : NOTICE_DISPLAY_TIME).then(() => dismissNotice(id))
}

export function dismissNotice(id: number): void {
  notices.value = notices.value.filter((one) => one.id !== id)
}

/** Does something that the user asked for, and says how it ended. */
export async function runWithNotice(what: () => Promise<unknown>, done?: string): Promise<boolean> {
  try {
    await what()
    if (done !== undefined) showNotice(done)
    return true
  } catch (error) {
    showNotice(sentenceOf(error), true)
    return false
  }
}
