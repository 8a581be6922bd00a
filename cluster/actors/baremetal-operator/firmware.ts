import { kubeTime, withCondition } from '../../kube/conditions.js'
import { isSame } from '../../kube/json.js'
import type { HostPass } from './host-pass.js'

interface Setting {
  name: string
  value: string | null
}

export interface FirmwareChange {
  /** BIOS settings that differ from the spec's; undefined for none. */
  settings?: { name: string; value: string }[]
  /** Firmware that is to be installed; undefined for none. */
  updates?: { component: string; url: string }[]
  /** Notes that the updates are asked for. */
  applied: () => Promise<void>
  /** Notes that they failed, so that all are asked for again. */
  forget: () => Promise<void>
}

/**
 * Differences between the host and its HostFirmwareSettings and HostFirmwareComponents (getHostFirmwareSettings,
 * getHostFirmwareComponents). The operator has controllers of their own that read the settings every five minutes; here
 * they are read when they are needed.
 */
export async function firmwareChange(pass: HostPass): Promise<FirmwareChange> {
  const settings = await changedSettings(pass)
  const { parts, managed } = pass
  const { name, namespace = '' } = managed.metadata
  const components = await parts.kube.find('HostFirmwareComponents', { name, namespace })
  const wanted = components?.spec.updates ?? []
  const installed = components?.status?.updates ?? []
  const updates = wanted.filter((each) => !installed.some((known) => isSame(known, each)))
  const note = async (known: typeof updates): Promise<void> => {
    if (!components || updates.length === 0) return
    const status = { ...components.status, updates: known, lastUpdated: kubeTime(parts.clock.now()) }
    await parts.kube.updateStatus<'HostFirmwareComponents'>({ ...components, status })
  }
  return {
    ...(settings.length > 0 ? { settings } : {}),
    ...(updates.length > 0 ? { updates } : {}),
    applied: () => note(wanted),
    forget: () => note([]),
  }
}

async function changedSettings({ parts, managed, status }: HostPass): Promise<{ name: string; value: string }[]> {
  const { kube, calls, clock } = parts
  const { name, namespace = '' } = managed.metadata
  const found = await kube.find('HostFirmwareSettings', { name, namespace })
  const wanted = Object.entries(found?.spec.settings ?? {})
  if (!found || wanted.length === 0) return []
  const path = `/nodes/${status.provisioning.ID}/bios?detail=true`
  const { bios } = await calls.call<{ bios: Setting[] }>('BIOS settings', 'GET', path)
  const actual = Object.fromEntries(bios.map((setting) => [setting.name, setting.value ?? '']))
  const isValid = wanted.every(([key]) => Object.hasOwn(actual, key))
  const changed = wanted.filter(([key, value]) => actual[key] !== `${value}`)
  const { generation } = found.metadata
  const condition = (type: string, isSo: boolean) => ({
    ...{
      type,
      status: isSo ? ('True' as const) : ('False' as const),
      reason: 'Success',
      observedGeneration: generation,
    },
  })
  const conditions = withCondition(
    withCondition(found.status?.conditions, condition('ChangeDetected', changed.length > 0), clock),
    condition('Valid', isValid),
    clock,
  )
  const shown = { settings: actual, conditions }
  if (!isSame(shown, found.status)) await kube.updateStatus<'HostFirmwareSettings'>({ ...found, status: shown })
  return isValid ? changed.map(([key, value]) => ({ name: key, value: `${value}` })) : []
}
