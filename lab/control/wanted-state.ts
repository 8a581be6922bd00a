import type { DiskDrawing, Machine } from '../../machine/index.js'
import { isObject } from '../../base/runtime/index.js'
import {
  parseRootDeviceHints,
  satisfiesHints,
  type HintedDevice,
  type JsonObject,
  type NodeRecord,
} from '../../base/wire/index.js'
import type { StepPlan } from '../../ironic-mock/index.js'
import { rootDeviceHints } from '../../steps/index.js'
import { maskValue, type WantedItem } from '../../control/index.js'
import { shownValue } from './shown-value.js'

/** A node with its machine, as far as both are known. */
export interface WantedSubject {
  readonly node: Readonly<NodeRecord>
  readonly plan: StepPlan | null
  readonly machine: Machine | undefined
  /** Drawings of its disks. */
  readonly disks: readonly DiskDrawing[]
}

/** Compares what Ironic wants of a node with what its machine has, the state of both first. */
export function wantedOfNode(subject: WantedSubject): WantedItem[] {
  const { node, machine } = subject
  const ofMachine = machine ? [...bootItems(node, machine), ...diskItems(subject), ...firmwareItems(machine)] : []
  return [...stateItems(subject), ...ofMachine, ...raidItems(node)]
}

function stateItems({ node, plan, machine }: WantedSubject): WantedItem[] {
  const { provision_state: state, target_provision_state: target } = node
  const isStuck = /fail|error/.test(state)
  const power = machine ? `power ${machine.power()}` : null
  const wantedPower = node.target_power_state ?? node.power_state
  return [
    {
      what: 'provision state',
      wanted: target ?? state,
      actual: state,
      verdict:
        target === null || target === state ? (isStuck ? 'different' : 'same') : isStuck ? 'different' : 'pending',
    },
    ...(plan ? [stepsItem(plan, isStuck)] : []),
    {
      what: 'power',
      wanted: wantedPower,
      actual: power,
      verdict: powerVerdict(node, power),
    },
  ]
}

function stepsItem({ flow, steps }: StepPlan, isStuck: boolean): WantedItem {
  const done = steps.filter(({ status }) => status === 'done').map(({ step }) => step)
  const isDone = done.length === steps.length
  return {
    what: `${flow} steps`,
    wanted: steps.map(({ interface: of, step }) => `${of}.${step}`).join(', '),
    actual: `${done.length} of ${steps.length} done`,
    verdict: isDone ? 'same' : isStuck ? 'different' : 'pending',
  }
}

function powerVerdict(node: Readonly<NodeRecord>, power: string | null): WantedItem['verdict'] {
  if (power === null || node.power_state === null) return 'unknown'
  if (node.target_power_state !== null) return node.target_power_state === power ? 'same' : 'pending'
  // While a flow runs, Ironic reads the power now and then.
  return node.power_state === power ? 'same' : node.target_provision_state === null ? 'different' : 'pending'
}

/** Capabilities as nodes have them: `boot_mode:uefi,secure_boot:true`, or an object. Those of the instance go before. */
function capabilityOf({ instance_info: instance, properties }: Readonly<NodeRecord>, name: string): string | null {
  for (const capabilities of [instance['capabilities'], properties['capabilities']]) {
    if (isObject(capabilities) && capabilities[name] !== undefined) return String(capabilities[name])
    if (typeof capabilities !== 'string') continue
    const pairs = capabilities.split(',').map((pair) => pair.split(/:(.*)/s))
    const [, value] = pairs.find(([key = '']) => key.trim() === name) ?? []
    if (value !== undefined) return value.trim()
  }
  return null
}

function bootItems(node: Readonly<NodeRecord>, machine: Machine): WantedItem[] {
  const { bootMode, secureBoot } = machine.firmware.report()
  const { override } = machine.firmware.boot
  const wantedMode = capabilityOf(node, 'boot_mode')
  const wantsSecureBoot = capabilityOf(node, 'secure_boot')
  const isAsked = override.enabled !== 'Disabled'
  return [
    {
      what: 'boot mode',
      wanted: wantedMode,
      actual: bootMode,
      verdict: agrees(wantedMode, bootMode),
    },
    {
      what: 'secure boot',
      wanted: wantsSecureBoot === null ? null : onOrOff(/^true$/i.test(wantsSecureBoot)),
      actual: onOrOff(secureBoot),
      verdict:
        wantsSecureBoot === null ? 'same' : agrees(onOrOff(/^true$/i.test(wantsSecureBoot)), onOrOff(secureBoot)),
    },
    {
      what: 'booted system',
      wanted: BOOTED_BY_STATE[node.provision_state] ?? null,
      actual: bootedSystem(machine),
      verdict: bootVerdict(node, machine),
    },
    ...(isAsked
      ? [
          {
            what: 'next boot',
            wanted: `${override.target} (${override.enabled.toLowerCase()})`,
            actual: null,
            verdict: 'pending' as const,
          },
        ]
      : []),
  ]
}

const agrees = (wanted: string | null, actual: string): WantedItem['verdict'] =>
  wanted === null || wanted === actual ? 'same' : 'different'

const onOrOff = (isOn: boolean): string => (isOn ? 'on' : 'off')

/** Systems that machines run in states that say so. */
const BOOTED_BY_STATE: Readonly<Record<string, string>> = {
  active: 'the system on its disk',
  rescue: 'the ramdisk',
  'clean wait': 'the ramdisk',
  'wait call-back': 'the ramdisk',
}

function bootedSystem(machine: Machine): string | null {
  const boot = machine.boot()
  if (!boot) return machine.power() === 'off' ? 'nothing: it is off' : null
  if (boot.source.kind !== 'disk') return boot.live?.failure ?? `the ramdisk, from ${boot.source.kind}`
  const version = machine.os()?.booted.version
  return version === undefined ? `${boot.outcome}, from its disk` : `the system on its disk, version ${version}`
}

function bootVerdict({ provision_state: state }: Readonly<NodeRecord>, machine: Machine): WantedItem['verdict'] {
  const wanted = BOOTED_BY_STATE[state]
  const boot = machine.boot()
  if (wanted === undefined) return 'same'
  // A machine that is on its way to the ramdisk has not failed.
  if (!boot) return state === 'active' || state === 'rescue' ? 'different' : 'pending'
  const isFromDisk = boot.source.kind === 'disk' && boot.outcome === 'disk'
  return isFromDisk === (state === 'active') ? 'same' : 'different'
}

/** Hints about what only a running kernel knows. */
const HINTS_OF_THE_KERNEL = ['hctl', 'by_path', 'wwn_with_extension', 'wwn_vendor_extension']

function diskItems({ node, machine, disks }: WantedSubject): WantedItem[] {
  const hints = rootDeviceHints(node as unknown as JsonObject)
  const image = imageOf(node)
  const isInstalled = node.provision_state === 'active'
  const written = disks.filter(({ table, partitions }) => table !== null && partitions.length > 0)
  const items: WantedItem[] = []
  if (hints !== null) {
    const matching = machine!.spec.disks.filter((disk) => matchesHints(disk, hints) === true).map(({ name }) => name)
    const isKnown = !Object.keys(hints).some((name) => HINTS_OF_THE_KERNEL.includes(name))
    const isUsed = !isInstalled || matching.some((name) => written.some((disk) => disk.name === name))
    items.push({
      what: 'root device',
      wanted: shownValue(hints),
      actual: matching.length > 0 ? matching.join(', ') : 'no disk matches',
      verdict: !isKnown ? 'unknown' : matching.length > 0 && isUsed ? 'same' : 'different',
    })
  }
  items.push({
    what: 'disk contents',
    wanted: image ?? (isInstalled ? 'a system' : null),
    actual: written.length === 0 ? 'no partitions on any disk' : written.map(diskText).join('; '),
    verdict: isInstalled && written.length === 0 ? 'different' : image !== null && !isInstalled ? 'pending' : 'same',
  })
  return items
}

/** True if a disk satisfies hints; null for hints that are no hints. */
function matchesHints(disk: Machine['spec']['disks'][number], hints: JsonObject): boolean | null {
  const device = {
    name: `/dev/${disk.name}`,
    model: disk.model,
    vendor: disk.vendor,
    size: disk.size,
    rotational: disk.rotational,
    serial: [disk.serial],
    wwn: [disk.wwn],
    tran: disk.transport,
  } as unknown as HintedDevice
  try {
    return satisfiesHints(device, parseRootDeviceHints(hints, 'agent'))
  } catch {
    return null
  }
}

/** The image that the instance asks for. */
const imageOf = ({ instance_info: instance }: Readonly<NodeRecord>): string | null =>
  shownValue(instance['image_source'] ?? instance['boot_iso'])

/** `sda: gpt with EFI-SYSTEM, boot, root` */
function diskText({ name, table, partitions, boot, problem }: DiskDrawing): string {
  if (problem !== null) return `${name}: ${problem}`
  const names = partitions.map((partition) => partition.name || `partition ${partition.number}`).join(', ')
  const title = boot?.title == null ? '' : `, boots ${boot.title}`
  return `${name}: ${table} with ${names}${title}`
}

/** BIOS settings that wait for the next boot. */
function firmwareItems({ firmware }: Machine): WantedItem[] {
  const { pendingBios: pending } = firmware
  if (pending === null)
    return [{ what: 'BIOS settings', wanted: 'factory values', actual: 'as they are', verdict: 'pending' }]
  const present = new Map(firmware.report().bios.map(({ name, value }) => [name, value]))
  return Object.entries(pending ?? {}).map(([name, value]) => ({
    what: `BIOS ${name}`,
    wanted: settingText(name, value),
    actual: settingText(name, present.get(name)),
    verdict: 'pending',
  }))
}

/** The value of a setting, unless its name is that of a secret. */
const settingText = (name: string, value: unknown): string | null =>
  shownValue((maskValue({ [name]: value }) as Record<string, unknown>)[name])

function raidItems({ target_raid_config: target, raid_config: present }: Readonly<NodeRecord>): WantedItem[] {
  const wanted = shownValue(volumesOf(target))
  const actual = shownValue(volumesOf(present))
  if (wanted === null && actual === null) return []
  return [{ what: 'RAID volumes', wanted, actual, verdict: wanted === null ? 'same' : raidVerdict(target, present) }]
}

const volumesOf = (config: unknown): unknown[] | undefined => {
  const volumes = isObject(config) ? config['logical_disks'] : undefined
  return Array.isArray(volumes) && volumes.length > 0 ? volumes : undefined
}

/** Each wanted volume is there, with the members that it names; the controller adds others. */
function raidVerdict(target: unknown, present: unknown): WantedItem['verdict'] {
  const wanted = (volumesOf(target) ?? []).filter(isObject)
  const there = (volumesOf(present) ?? []).filter(isObject)
  const names = ['raid_level', 'volume_name'] as const
  const isThere = wanted.every((volume) =>
    there.some((one) => names.every((name) => volume[name] === undefined || volume[name] === one[name])),
  )
  return isThere && wanted.length <= there.length ? 'same' : 'pending'
}
