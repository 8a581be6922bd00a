/** Where a file's content comes from: `data:`, `http:`, `https:`, `tftp:`, `s3:` ... */
export interface Resource {
  source?: string | null
  compression?: string | null
  [more: string]: unknown
}

export interface IgnitionFile {
  path: string
  overwrite?: boolean | null
  /** Decimal: 0644 is 420. */
  mode?: number | null
  contents?: Resource | null
  append?: Resource[] | null
  [more: string]: unknown
}

export interface IgnitionUser {
  name?: string | null
  sshAuthorizedKeys?: string[] | null
  [more: string]: unknown
}

export interface IgnitionUnit {
  name?: string | null
  enabled?: boolean | null
  [more: string]: unknown
}

/**
 * A config of spec 3.x as parsed: the parts that a deployment reads are typed, everything else is carried along as it
 * came. Null means absent, as it does for Ignition's own parser (facts: Go's JSON).
 */
export interface IgnitionConfig {
  ignition: { version: string; [more: string]: unknown }
  storage?: {
    files?: IgnitionFile[] | null
    directories?: { path: string; [more: string]: unknown }[] | null
    links?: { path: string; [more: string]: unknown }[] | null
    [more: string]: unknown
  } | null
  passwd?: { users?: IgnitionUser[] | null; [more: string]: unknown } | null
  systemd?: { units?: IgnitionUnit[] | null; [more: string]: unknown } | null
  [more: string]: unknown
}

/** Versions that Ignition 2.26 reads; it wants an exact match. */
export const SPEC_VERSIONS = [
  '3.0.0',
  '3.1.0',
  '3.2.0',
  '3.3.0',
  '3.4.0',
  '3.5.0',
  '3.6.0',
  '3.7.0-experimental',
] as const
