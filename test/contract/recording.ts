import { readFileSync } from 'node:fs'

/** Keys in order with JSON types; `object` where the content is not Ironic's to fix; `2 links`. */
export type Shape = string | Shape[] | { [key: string]: Shape }

/** One exchange with a real Ironic, as `distil.mjs` keeps it. */
export interface RecordedExchange {
  seq: number
  step: string
  method: string
  path: string
  version?: string
  standardVersion?: string
  body?: unknown
  status: number
  answeredVersion?: string
  allow?: string
  /** Without scheme and host. */
  location?: string
  error?: { fault: string } | { routed: string }
  /** Index into the recording's shapes. */
  shape?: number
  uuid?: string
  provision_state?: string | null
  next?: string
}

export interface Recording {
  shapes: Shape[]
  exchanges: RecordedExchange[]
}

export const readRecording = (name: string): Recording =>
  JSON.parse(
    readFileSync(new URL(`../fixtures/recordings/${name}.json`, import.meta.url), 'utf8'),
    (_, value: unknown) => (isRepeated(value) ? value.repeat.repeat(value.times) : value),
  ) as Recording

const isRepeated = (value: unknown): value is { repeat: string; times: number } =>
  typeof value === 'object' && value !== null && 'repeat' in value && 'times' in value
