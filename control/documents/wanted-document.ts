/** How what is wanted and what is there compare: `pending` is under way, or waits for the next boot. */
export type WantedVerdict = 'same' | 'different' | 'pending' | 'unknown'

/** One thing that someone wants of a host, beside what is there. */
export interface WantedItem {
  /** `boot mode`, `root device` ... */
  what: string
  /** Null where nothing is asked for. */
  wanted: string | null
  /** Null where nothing is there, or nothing is known. */
  actual: string | null
  verdict: WantedVerdict
}

/** Wishes of Ironic for a node, beside the state of its machine. */
export interface WantedReport {
  items: WantedItem[]
  /** The BareMetalHost behind the node; null where none acts. */
  host: {
    namespace: string
    name: string
    /** `status.provisioning.state`; empty before the first. */
    state: string
    /** `status.errorMessage`; empty without an error. */
    error: string
    /** Members of its spec beside those of its status. */
    items: WantedItem[]
  } | null
}

/** A BareMetalHost as far as it is compared. */
export interface HostObject {
  readonly metadata: { readonly namespace?: string; readonly name: string }
  readonly spec?: object
  readonly status?: object
}
