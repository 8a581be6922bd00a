import { PROMPT_PACE, type AgentCommandProgress } from '../../agent/index.js'
import { defined, withFields } from '../../base/runtime/index.js'
import type { LabEvent } from '../lab-events.js'
import { Agents } from './agents.js'
import type { Connections } from './connections.js'
import type { IronicSettings } from './ironic-settings.js'
import type { ReservationGate } from './reservation-gate.js'
import type { StageCore } from './stage-core.js'
import { labProxies, type StageOptions } from './stage-options.js'

/** Makes the agents of a stage, which start once machines boot their ramdisks. */
export function stageAgents(
  options: StageOptions,
  { clock, randomness, probe, events, logger }: StageCore,
  settings: IronicSettings,
  { transport, addresses, ownExchanges }: Connections,
  reservations: ReservationGate,
): Agents {
  const known = ownExchanges.known(transport)
  return new Agents({
    transport: (machine) => (settings.agentPace === PROMPT_PACE ? reservations.patient(machine, known) : known),
    addresses,
    proxies: labProxies(options),
    fileFolders: settings.conf.fileUrlAllowedPaths,
    clock,
    random: randomness.main,
    probe,
    pace: settings.agentPace,
    tls: settings.agentTls,
    ...defined({ managers: options.managers }),
    logger: withFields(logger, { room: 'agent' }),
    onProgress: (machine, progress) =>
      events.emit({ kind: 'progress', machine, step: progress.step, progress: progressOfEvent(progress) }),
  })
}

function progressOfEvent(progress: AgentCommandProgress): (LabEvent & { kind: 'progress' })['progress'] {
  switch (progress.kind) {
    case 'stage':
      return { stage: progress.name }
    case 'percent':
      return { percent: progress.value }
    case 'line':
      return { line: progress.text }
  }
}
