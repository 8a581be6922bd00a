import type { HostStage } from '../hosts/host.js'
import { checkHost } from '../live/check-host.js'
import { firstBoot, postChecks } from '../live/check-installed.js'
import { runSteps } from '../live/run-steps.js'
import { startDisk } from '../live/start-disk.js'
import { waitForSsh } from '../live/wait-for-ssh.js'
import type { IronicElsewhere } from '../ironic/ironic-elsewhere.js'
import { cleanHost, deployHost, inspectHardware, register } from '../ironic/ironic-stages.js'
import type { HostContext } from './context.js'

/** A stage of a host; `skipped` where the host has no use for it. */
export interface StageDefinition {
  name: HostStage
  /** Stages after the table wait until every host was checked. */
  afterTable: boolean
  run(context: HostContext, signal: AbortSignal): Promise<'done' | 'skipped'>
}

/** The stages of a run, in order. */
export const stagesOf = (ironic: Pick<IronicElsewhere, 'url'> | null): readonly StageDefinition[] =>
  ironic ? THROUGH_IRONIC : STAGES

/** Stages of a run, through an Ironic or not; a check ends before the first that writes. */
export const stageNames = (run: { throughIronic: boolean; isCheck: boolean }): string[] =>
  (run.throughIronic ? THROUGH_IRONIC : STAGES)
    .filter(({ afterTable }) => !(run.isCheck && afterTable))
    .map(({ name }) => name)

const STAGES: readonly StageDefinition[] = [
  { name: 'bmc', afterTable: false, run: reachBmc },
  { name: 'boot', afterTable: false, run: bootLive },
  { name: 'ssh', afterTable: false, run: waitForSsh },
  { name: 'check', afterTable: false, run: checkHost },
  { name: 'steps', afterTable: true, run: runSteps },
  { name: 'power', afterTable: true, run: startDisk },
  { name: 'first-boot', afterTable: true, run: firstBoot },
  { name: 'post-checks', afterTable: true, run: postChecks },
]

/** An Ironic boots, cleans and installs; the installed system is proven as after any run. */
const THROUGH_IRONIC: readonly StageDefinition[] = [
  { name: 'register', afterTable: false, run: register },
  { name: 'inspect', afterTable: false, run: inspectHardware },
  { name: 'clean', afterTable: true, run: cleanHost },
  { name: 'deploy', afterTable: true, run: deployHost },
  { name: 'first-boot', afterTable: true, run: firstBoot },
  { name: 'post-checks', afterTable: true, run: postChecks },
]

async function reachBmc(context: HostContext, signal: AbortSignal): Promise<'done' | 'skipped'> {
  const bmc = await context.bmc(signal)
  if (!bmc) return 'skipped'
  const { bmcSerial, systemSerial, product } = await bmc.identify(signal)
  Object.assign(context.state.facts, { bmcSerial, systemSerial, product })
  return 'done'
}

async function bootLive(context: HostContext, signal: AbortSignal): Promise<'done' | 'skipped'> {
  const { live } = context.host
  if ('booted' in live) return 'skipped'
  const bmc = (await context.bmc(signal))!
  await bmc.bootLive(live, signal)
  return 'done'
}
