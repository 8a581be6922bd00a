import { makeLabClient } from '../state/page-connection.js'
import { labTime, seeClock } from '../state/lab-state.js'
import { runWithNotice } from './notices.js'

/** Sets how lab time passes. */
export const setMode = (mode: string): Promise<boolean> =>
  runWithNotice(async () => seeClock(await makeLabClient().setClock({ mode })))

/** Moves lab time by a length. */
export const advanceClock = (by: string | number): Promise<boolean> =>
  runWithNotice(async () => seeClock(await makeLabClient().advance({ by })))

/** `14:03:07` of a time of the lab, in UTC. */
export const clockText = (time: number): string => new Date(time).toISOString().slice(11, 19)

/** `2026-01-01 14:03:07` of a time of the lab, in UTC. */
export const dateText = (time: number): string => new Date(time).toISOString().slice(0, 19).replace('T', ' ')

/** `3 s`, `12 min`, `1 h 20 min`, `3 d`. */
export function lengthText(ms: number): string {
  const seconds = Math.max(0, Math.round(ms / 1000))
  if (seconds < 60) return `${seconds} s`
  const minutes = Math.floor(seconds / 60)
  if (minutes < 60) return minutes < 10 && seconds % 60 > 0 ? `${minutes} min ${seconds % 60} s` : `${minutes} min`
  const hours = Math.floor(minutes / 60)
  if (hours < 48) return minutes % 60 === 0 ? `${hours} h` : `${hours} h ${minutes % 60} min`
  return `${Math.floor(hours / 24)} d`
}

/** Lab time that has passed since a moment; empty without one. */
export const sinceText = (since: number | null): string => (since === null ? '' : lengthText(labTime() - since))
