/** Stages of a deployment, in order. */
export const STAGES = ['enroll', 'verify', 'inspect', 'clean', 'deploy', 'first boot'] as const
export type StageName = (typeof STAGES)[number]

/** Events of a running deployment; `--json` prints them unchanged. */
export type DeploymentEvent =
  | { event: 'started'; ironic_url: string; node: string; uuid: string }
  /** The disk of a real target, before anything is written to it. Bytes. */
  | { event: 'disk'; path: string; size: number; model: string | null }
  | { event: 'stage'; stage: StageName; status: 'started' }
  | { event: 'stage'; stage: StageName; status: 'done' | 'failed'; seconds: number }
  /** The first boot of a simulated machine takes its time: what it waits for. */
  | { event: 'waiting'; stage: StageName; seconds: number; for: string | null }
  | { event: 'state'; provision_state: string; power_state: string | null }
  /** Progress of the agent's step: a new stage, a percentage, or a line of its program. */
  | { event: 'progress'; step: string; stage: string }
  | { event: 'progress'; step: string; percent: number }
  | { event: 'progress'; step: string; line: string }
