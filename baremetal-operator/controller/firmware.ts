import { defined } from '../../base/runtime/index.js'
import {
  kubeTime,
  isSameJson,
  apiVersionOf,
  type FirmwareComponent,
  type HostFirmwareComponents,
  type HostFirmwareSettings,
  type Condition,
} from '../../base/kubernetes/index.js'
import { ownedBy } from './deploy-image.js'
import type { HostPass } from './host-pass.js'

/** A component as Ironic has it. */
export interface FirmwareItem {
  component: string
  initial_version: string
  current_version?: string | null
  last_version_flashed?: string | null
  updated_at?: string | null
}

type FirmwareSetting = { name: string; value: string }
type FirmwareUpdate = { component: string; url: string }

/** The controller of the settings has not looked at what they ask for now. */
export class NotReadYet extends Error {
  override name = 'NotReadYet'
}

/** Firmware that the spec asks for. */
export interface FirmwareChange {
  /** True if something is to be changed. */
  isDue: boolean
  /** True if the spec names anything, changed or not. */
  isAsked: boolean
  /** BIOS settings that differ; undefined for none. */
  settings?: FirmwareSetting[]
  /** Firmware that is to be installed; undefined for none. */
  updates?: FirmwareUpdate[]
  /** Notes that the updates are asked for. */
  applied: () => Promise<void>
  /** Notes that they failed, so that all are asked for again. */
  forget: () => Promise<void>
}

/** Parts of the firmware to look at. */
interface FirmwareScope {
  settings?: boolean
  updates?: boolean
}

const ALL: FirmwareScope = { settings: true, updates: true }

/**
 * Finds what is to be changed of a host's firmware, by the conditions of its HostFirmwareSettings and HostFirmwareComponents
 * (getHostFirmwareSettings, getHostFirmwareComponents).
 *
 * @throws NotReadYet if the conditions are of an older spec
 */
export async function firmwareChange(pass: HostPass, scope = ALL): Promise<FirmwareChange> {
  const { parts, managed } = pass
  const { name, namespace = '' } = managed.metadata
  const found = scope.settings ? await parts.kube.find('HostFirmwareSettings', { name, namespace }) : undefined
  const components = scope.updates ? await parts.kube.find('HostFirmwareComponents', { name, namespace }) : undefined
  const settings = found && hasChanges(found) ? changedSettings(found) : undefined
  const areUpdatesDue = components !== undefined && hasChanges(components)
  const installed = components?.status?.updates ?? []
  const updates = areUpdatesDue
    ? components.spec.updates.filter((each) => !installed.some((known) => isSameJson(known, each)))
    : []
  return {
    isDue: settings !== undefined || areUpdatesDue,
    isAsked: Object.keys(found?.spec.settings ?? {}).length > 0 || (components?.spec.updates.length ?? 0) > 0,
    ...(settings?.length ? { settings } : {}),
    ...defined({ updates: updates.length > 0 ? updates : undefined }),
    applied: async () => {
      if (areUpdatesDue) await noteUpdates(pass, components)
    },
    forget: async () => {
      if (!areUpdatesDue || !components.status?.updates) return
      const { updates: _failed, ...status } = components.status
      await parts.kube.updateStatus<'HostFirmwareComponents'>({ ...components, status })
    },
  }
}

/** saveHostFirmwareComponents. */
async function noteUpdates(pass: HostPass, components: HostFirmwareComponents): Promise<void> {
  const { updates } = components.spec
  if (isSameJson(components.status?.updates, updates)) return
  const { calls, kube } = pass.parts
  const path = `/nodes/${pass.status.provisioning.ID}/firmware`
  const { firmware } = await calls.call<{ firmware: FirmwareItem[] }>('firmware', 'GET', path)
  const status = { ...components.status, updates, components: firmwareComponentsOf(firmware) }
  await kube.updateStatus<'HostFirmwareComponents'>({ ...components, status })
}

/** hostObjectHasChanges. */
function hasChanges({ kind, metadata, status }: HostFirmwareSettings | HostFirmwareComponents): boolean {
  const conditions: readonly Condition[] = status?.conditions ?? []
  const of = (type: string): Condition | undefined => conditions.find((each) => each.type === type)
  const changed = of('ChangeDetected')
  if (!changed) return false
  const { generation } = metadata
  if (changed.observedGeneration !== generation)
    throw new NotReadYet(`${kind} not ready yet: generation ${generation} != ${changed.observedGeneration}`)
  return changed.status === 'True' && of('Valid')?.status === 'True'
}

function changedSettings({ spec, status }: HostFirmwareSettings): FirmwareSetting[] {
  const actual = status?.settings ?? {}
  if (Object.keys(actual).length === 0) throw new NotReadYet('host firmware status settings not available')
  return Object.entries(spec.settings)
    .filter(([name, value]) => actual[name] !== `${value}`)
    .map(([name, value]) => ({ name, value: `${value}` }))
}

/** Components that HostFirmwareComponents have: the firmware of the system, the BMC and the NICs. */
export const firmwareComponentsOf = (firmware: readonly FirmwareItem[]): FirmwareComponent[] =>
  firmware
    .filter(({ component }) => /^(bios$|bmc$|nic:)/.test(component))
    .map((item) => ({
      component: item.component,
      initialVersion: item.initial_version,
      ...defined({
        currentVersion: item.current_version || undefined,
        lastVersionFlashed: item.last_version_flashed || undefined,
      }),
      updatedAt: item.updated_at ? kubeTime(Date.parse(item.updated_at)) : null,
    }))

/** Objects of the host's name that show its firmware, and belong to it. */
export async function ownFirmwareObjects(pass: HostPass, firmware: readonly FirmwareItem[]): Promise<void> {
  await ensureFirmwareObject(pass, 'HostFirmwareSettings', { settings: {} })
  if (firmwareComponentsOf(firmware).length > 0)
    await ensureFirmwareObject(pass, 'HostFirmwareComponents', { updates: [] })
  await ensureFirmwareObject(pass, 'HostUpdatePolicy')
}

/** @param spec of the object that is created if it is missing; undefined creates none */
async function ensureFirmwareObject(
  { parts, managed }: HostPass,
  kind: 'HostFirmwareSettings' | 'HostFirmwareComponents' | 'HostUpdatePolicy',
  spec?: object,
): Promise<void> {
  const { name, namespace = '' } = managed.metadata
  const owner = ownedBy(managed, false)
  const found = await parts.kube.find(kind, { name, namespace })
  if (found) {
    const { ownerReferences = [] } = found.metadata
    if (ownerReferences.some(({ uid }) => uid === owner.uid)) return
    const metadata = { ...found.metadata, ownerReferences: [...ownerReferences, owner] }
    await parts.kube.update({ ...found, metadata } as never)
  } else if (spec) {
    const metadata = { name, namespace, ownerReferences: [owner] }
    await parts.kube.create({ apiVersion: apiVersionOf(kind), kind, spec, metadata } as never)
  }
}
