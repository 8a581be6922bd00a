import type { STAGE_NAMES } from './hosts-schema.js'

export type HostStage = (typeof STAGE_NAMES)[number]

/** Where a secret comes from. */
export type SecretSetting = { env: string } | { file: string } | { command: readonly string[] } | { text: string }

/** Settings of one host as the file has them; defaults are merged in. */
export interface HostSettings {
  labels?: string[]
  bmc?: HostBmcSettings
  console?: ConsoleSettings
  macs?: string[]
  disk?: DiskSettings
  live?: { iso: string } | { http: string } | { pxe: true } | { booted: true }
  ssh?: { address?: string; user?: string; key?: string; 'host-keys'?: string[]; config?: string }
  ignition?: string | { template?: string; butane?: string; values?: Record<string, string | number | boolean> }
  image?: string
  'image-sha256'?: string
  steps?: (string | { step: string; args?: Record<string, unknown> })[]
  'step-files'?: string[]
  'append-kargs'?: string[]
  'delete-kargs'?: string[]
  hostname?: string
  expect?: ExpectedHardware
  ironic?: { node?: string; 'driver-info'?: Record<string, unknown>; 'boot-interface'?: string }
  allow?: string[]
  'target-is-disposable'?: boolean
  installer?: string
  'verify-boot'?: boolean
  'post-checks'?: PostCheck[]
  stages?: Partial<Record<HostStage, StageSettings>>
}

type ConsoleSettings = { ssh: string; line?: string; key?: string; config?: string } | { command: string[] }

interface HostBmcSettings {
  redfish?: string
  ipmi?: string
  system?: string
  username?: string | SecretSetting
  password?: SecretSetting
  certificate?: string
  insecure?: boolean
  console?: 'none' | 'log' | 'sol' | 'redfish'
}

interface DiskSettings {
  serial?: string
  wwn?: string
  'by-id'?: string
  'by-path'?: string
  size?: string | number
  name?: string
}

interface ExpectedHardware {
  serial?: string
  product?: string
  cpus?: number
  memory?: string | number
  'disk-size'?: string | number
  'disk-model'?: string
}

export interface PostCheck {
  command: string | string[]
  output?: string
  matches?: string
  exit?: number
}

interface StageSettings {
  time?: string
  retries?: number
  pause?: string
}

/** A file of hosts, as it is written. */
export interface HostsDocument {
  run?: { parallel?: number; 'max-failures'?: number; canary?: string }
  defaults?: HostSettings
  hosts: Record<string, HostSettings>
}

/** A host with its name, and every setting that it needs. */
export interface Host extends HostSettings {
  readonly name: string
  readonly disk: DiskSettings
  readonly live: NonNullable<HostSettings['live']>
  readonly ssh: { address: string } & NonNullable<HostSettings['ssh']>
}

/** A file of hosts that was read and checked. */
export interface HostsFile {
  readonly path: string
  /** Folder that paths of the file are relative to. */
  readonly folder: string
  readonly run: NonNullable<HostsDocument['run']>
  readonly hosts: readonly Host[]
  /** Line of each host in the file, by its name; the first is 1. */
  readonly lines: ReadonlyMap<string, number>
}
