import type { HttpThrough } from '../../base/bytes/index.js'
import { errorChain, type Clock, type Probe } from '../../base/runtime/index.js'
import type { LiveBoot } from '../machine.js'
import type { BootNetwork, MediaAccess } from './boot-network.js'
import { runLiveIgnition } from './live-ignition.js'
import { BootFailed, loadIso, loadPxe, mountRoot } from './live-image.js'
import { removableParameters, type RemovableMedium } from './removable-parameters.js'

/** A boot source that is not on the machine's disks. */
export type LiveMedium =
  ({ kind: 'iso'; url: string } & MediaAccess) | { kind: 'pxe'; kernel: string; ramdisk: string; append: string }

export interface LiveBootParts {
  /** Id of the machine. */
  machine: string
  network: BootNetwork
  clock: Clock
  probe: Probe
  /** Sees the requests of Ignition. */
  downloads?: HttpThrough | undefined
  signal: AbortSignal
  say: (line: string) => void
  /** Sticks and floppies that the agent may find its parameters on. */
  removable: readonly RemovableMedium[]
}

export type LiveOutcome = 'ramdisk' | 'live' | BootFailed['outcome']

/**
 * Boots a live system: fetches its media, and reads their kernel arguments and Ignition config. An agent starts only if the config
 * defines one, or if the ramdisk is not CoreOS and contains one. `version` is the version of CoreOS, null when unknown.
 */
export async function bootLive(
  medium: LiveMedium,
  parts: LiveBootParts,
): Promise<{ outcome: LiveOutcome; live: Omit<LiveBoot, 'console'>; version: string | null }> {
  const live: Omit<LiveBoot, 'console'> = {
    kernelArguments: '',
    ignition: null,
    files: [],
    agent: null,
    failure: null,
  }
  let version: string | null = null
  const failed = (why: string): void => {
    live.failure = why
    parts.say(why)
  }
  const withAgent = async () => {
    try {
      const parameters = await removableParameters(live.kernelArguments, parts.removable, parts)
      if (parameters) live.parameters = parameters
      return { outcome: 'ramdisk' as const, live, version }
    } catch (error) {
      parts.signal.throwIfAborted()
      failed(`the agent does not start: ${errorChain(error).join(': ')}`)
      return { outcome: 'live' as const, live, version }
    }
  }
  try {
    const image = await (medium.kind === 'iso' ? loadIso(medium, parts) : loadPxe(medium, parts))
    live.kernelArguments = image.kernelArguments
    version = image.version
    parts.say(`kernel: Command line: ${maskKernelTokens(image.kernelArguments)}`)
    if (image.configFiles && image.configFiles.length > 0) live.configFiles = image.configFiles
    if (image.kind === 'agent') {
      parts.say('the ramdisk is not CoreOS: starting the agent that it contains')
      return await withAgent()
    }
    if (image.kind === 'other') {
      failed('unknown live system: no agent is started')
      return { outcome: 'live', live, version }
    }
    await mountRoot(image, parts)
    const { from, version: specVersion, files, agent } = await runLiveIgnition(image, parts)
    live.ignition = from === null ? null : { from, version: specVersion! }
    live.files = files
    live.agent = agent
    if (agent) return await withAgent()
    failed(
      from === null
        ? 'no Ignition config was applied, so the live system starts no agent'
        : 'the Ignition config starts no agent',
    )
    return { outcome: 'live', live, version }
  } catch (error) {
    parts.signal.throwIfAborted()
    if (!(error instanceof BootFailed)) throw error
    failed(error.message)
    return { outcome: error.outcome, live, version }
  }
}

/** Masks the tokens that Ironic puts on the command line, since many people can read the console. */
const maskKernelTokens = (line: string): string =>
  line.replace(/\b(ipa-agent-token|coreos\.inst\.\w*token)=\S+/g, '$1=******')
