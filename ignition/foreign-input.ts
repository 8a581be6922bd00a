import { isObject, UserError } from '../base/runtime/index.js'

/** Where an ISO 9660 image names itself, in bytes (ECMA-119, 8.1). */
const ISO_MARK = { offset: 32_769, text: 'CD001' }
/** A line with which a kickstart file begins or opens a section. */
const KICKSTART_LINE =
  /^(%(packages|pre|post|addon|include)\b|(autopart|bootloader|clearpart|ignoredisk|rootpw|zerombr)\b)/m
const MACHINE_CONFIG_LINE = /^\s*["']?kind["']?\s*:\s*["']?MachineConfig["']?\s*,?\s*$/m

/** Refuses the bytes of an ISO image. */
export function refuseIso(bytes: Uint8Array): void {
  const { offset, text } = ISO_MARK
  if (Buffer.from(bytes.subarray(offset, offset + text.length)).toString('latin1') !== text) return
  throw new UserError('ignition-iso', 'this is an ISO image, not an Ignition config', {
    remedy: 'Run ironstage iso ignition show FILE.iso > FILE.ign for the config in it, then give FILE.ign.',
  })
}

/** Refuses a kickstart file and a MachineConfig in YAML. */
export function refuseForeignText(text: string): void {
  if (MACHINE_CONFIG_LINE.test(text)) throw machineConfig('yq -o json .spec.config FILE.yaml > FILE.ign')
  if (!KICKSTART_LINE.test(text)) return
  throw new UserError('ignition-kickstart', 'this is a kickstart file for Anaconda, which CoreOS does not have', {
    remedy: 'Write what it sets up as Butane, run butane --strict FILE.bu > FILE.ign, then give FILE.ign.',
  })
}

/** Refuses a MachineConfig in JSON, whose config is one of its members. */
export function refuseForeignObject(value: unknown): void {
  if (isObject(value) && value['kind'] === 'MachineConfig') throw machineConfig('jq .spec.config FILE.json > FILE.ign')
}

const machineConfig = (command: string): UserError =>
  new UserError('ignition-machine-config', 'this is a MachineConfig of OpenShift, not the Ignition config in it', {
    remedy: `Run ${command}, then give FILE.ign.`,
  })
