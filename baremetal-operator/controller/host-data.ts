import { defined } from '../../base/runtime/index.js'
import type { KubeClient } from '../../base/kubernetes/index.js'
import { HARDWARE_DETAILS, STATUS_ANNOTATION } from './annotations.js'
import { otherHardware, knownHardware, releaseHardware } from './hardware-data.js'
import { asManagedHost, type ManagedHost } from './host-status.js'

export interface HostDataParts {
  kube: KubeClient
  /** Writes the status of the host. */
  save: (host: ManagedHost) => Promise<void>
  /** Tells something of the host in an event. */
  publish: (host: ManagedHost, reason: string, message: string) => Promise<void>
}

/**
 * Takes over what a host brings along, before anything else is done with it: its status from another cluster, and its
 * hardware (reconcileHostData and updateHardwareDetails of the controller). Whether the host was written, so that the pass
 * begins again.
 */
export async function takesHostData(parts: HostDataParts, host: ManagedHost): Promise<boolean> {
  const { kube, save, publish } = parts
  if (host.metadata.deletionTimestamp !== undefined) await releaseHardware(kube, host)
  if (await restored(parts, host)) return true
  const architecture = (await knownHardware(kube, host))?.cpu.arch
  if (!host.spec['architecture'] && architecture) {
    await kube.update<'BareMetalHost'>({ ...host, spec: { ...host.spec, architecture } })
    return true
  }
  const hardware = await otherHardware(kube, host)
  if (hardware) {
    host.status.hardware = hardware
    await save(host)
    await publish(host, 'UpdateHardwareDetails', 'Set HardwareDetails from hardware data or annotation')
    // The annotation goes without an event: it was used.
    const { name, namespace = '' } = host.metadata
    await removed(kube, asManagedHost(await kube.get('BareMetalHost', { name, namespace })), HARDWARE_DETAILS)
    return true
  }
  if (!(await removed(kube, host, HARDWARE_DETAILS))) return false
  const why = 'HardwareDetails annotation ignored, status already set and inspection is not disabled'
  await publish(host, 'RemoveAnnotation', why)
  return true
}

/** A host that was moved here has its status in an annotation. */
async function restored({ kube, save }: HostDataParts, host: ManagedHost): Promise<boolean> {
  const text = host.metadata.annotations?.[STATUS_ANNOTATION]
  if (text === undefined) return false
  const status = host.status.lastUpdated === undefined ? parseStatusAnnotation(text) : undefined
  if (!status) return removed(kube, host, STATUS_ANNOTATION)
  const hardware = (await knownHardware(kube, host)) ?? status.hardware
  await save({
    ...host,
    status: asManagedHost({ ...host, status: { ...status, ...defined({ hardware }) } as never }).status,
  })
  return true
}

async function removed(kube: KubeClient, host: ManagedHost, name: string): Promise<boolean> {
  const { [name]: text, ...annotations } = host.metadata.annotations ?? {}
  if (text === undefined) return false
  await kube.update<'BareMetalHost'>({ ...host, metadata: { ...host.metadata, annotations } })
  return true
}

function parseStatusAnnotation(text: string): Partial<ManagedHost['status']> | undefined {
  try {
    return JSON.parse(text) as Partial<ManagedHost['status']>
  } catch {
    return undefined
  }
}
