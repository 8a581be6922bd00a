import { tabStorage } from '../browser.js'

const MARK = 'recording'

/** Where a recording begins: the last entry of the journal before it, and the lab time. */
export interface RecordingMark {
  readonly after: number | string
  readonly since: number
}

/** The recording that this tab has begun; null without one. It survives a reload. */
export function readMark(): RecordingMark | null {
  try {
    const { after, since } = JSON.parse(tabStorage.get(MARK) ?? 'null') as RecordingMark
    return /^[\d._]+$/.test(String(after)) && Number.isFinite(since) ? { after, since } : null
  } catch {
    return null
  }
}

export const keepMark = (mark: RecordingMark | null): void =>
  tabStorage.set(MARK, mark === null ? null : JSON.stringify(mark))
