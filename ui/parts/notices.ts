import { signal } from '@preact/signals'
import { pause } from '../browser.js'
import { sentenceOf } from '../state/connection.js'

export interface Notice {
  readonly id: number
  readonly isError: boolean
  readonly text: string
}

/** Sentences about what the user has done, the last ones last. */
export const notices = signal<readonly Notice[]>([])

let next = 1

const SHOWN = 6000
const SHOWN_ERROR = 20_000
const MOST = 4

export function notice(text: string, isError = false): void {
  const id = next++
  notices.value = [...notices.value, { id, isError, text }].slice(-MOST)
  void pause(isError ? SHOWN_ERROR : SHOWN).then(() => dismiss(id))
}

export function dismiss(id: number): void {
  notices.value = notices.value.filter((one) => one.id !== id)
}

/** Does something that the user asked for, and says how it ended. */
export async function doing(what: () => Promise<unknown>, done?: string): Promise<boolean> {
  try {
    await what()
    if (done !== undefined) notice(done)
    return true
  } catch (error) {
    notice(sentenceOf(error), true)
    return false
  }
}
