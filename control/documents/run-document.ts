/** A stage of a host of `ironstage run`, as far as it came. */
export interface RunStage {
  /** `bmc`, `boot`, `steps` ... */
  stage: string
  status: 'started' | 'done' | 'skipped' | 'failed'
  /** How often it was begun. */
  attempts: number
  /** Seconds that it took; null while it runs. */
  seconds: number | null
}

/** A host of `ironstage run`. */
export interface RunHost {
  host: string
  outcome: 'waiting' | 'running' | 'ok' | 'failed' | 'skipped'
  /** Stages that were begun, in their order. */
  stages: RunStage[]
  /** ISO 8601: since when the present stage runs; null between stages. */
  since: string | null
  /** Percentage of the present stage; null where it has none. */
  percent: number | null
  /** The last line about its progress or from its console; empty without any. */
  detail: string
  /** Sentences of its failure, the outermost first; the reason why a host was skipped. */
  why: string[]
  /** How the failure is mended, where that is known. */
  remedy: string | null
}

/** A run over hosts, as the control API beside it shows it. */
export interface RunProgress {
  /** Null before it has begun. */
  id: string | null
  isRehearsal: boolean
  /** True if it only looks at hosts. */
  isCheck: boolean
  /** Names of the stages of each host, in their order. */
  stages: string[]
  hosts: RunHost[]
  /** True if no host will go on. The server ends soon after. */
  isOver: boolean
  /** Path of its report. */
  report: string | null
}
