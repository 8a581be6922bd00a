/** Where a file's content comes from: `data:`, `http:`, `https:`, `tftp:`, `s3:` ... */
export interface IgnitionResource {
  source?: string | null
  compression?: string | null
  [more: string]: unknown
}

/** A file of a config. */
export interface IgnitionFile {
  path: string
  overwrite?: boolean | null
  /** Decimal: 0644 is 420. */
  mode?: number | null
  contents?: IgnitionResource | null
  append?: IgnitionResource[] | null
  [more: string]: unknown
}

/** A user of a config. */
export interface IgnitionUser {
  name?: string | null
  sshAuthorizedKeys?: string[] | null
  [more: string]: unknown
}

/** A systemd unit of a config. */
export interface IgnitionUnit {
  name?: string | null
  enabled?: boolean | null
  [more: string]: unknown
}

/**
 * A config of spec 3.x as parsed: the parts that a deployment reads are typed, everything else is passed on unchanged.
 * Null means absent, as in Ignition's own parser (Go's encoding/json).
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
