import { HookFailure, type Inspected } from './inspection-context.js'
import { hookLocalLink, hookPhysicalNetwork, hookPorts, validateInterfaces } from './inspection-interfaces.js'
import type { InspectionHook } from './inspection-conf.js'
import {
  setAccelerators,
  setArchitecture,
  bootMode,
  cpuCapabilities,
  setCpus,
  extraHardware,
  setMemory,
  parsedLldp,
  pciAliases,
  raidDevice,
  ramdiskError,
  rootDevice,
} from './inspection-properties.js'

type Hook = (inspected: Inspected) => void

/** Preprocess hooks, which check the data before the main hooks. */
const PREPROCESS: Partial<Record<InspectionHook, Hook>> = {
  'ramdisk-error': ramdiskError,
  'validate-interfaces': validateInterfaces,
}
const NO_HOOK: Hook = () => {}
const MAIN: Record<InspectionHook, Hook> = {
  'ramdisk-error': NO_HOOK,
  'validate-interfaces': NO_HOOK,
  ports: hookPorts,
  architecture: setArchitecture,
  accelerators: setAccelerators,
  'boot-mode': bootMode,
  'cpu-capabilities': cpuCapabilities,
  cpus: setCpus,
  'extra-hardware': extraHardware,
  'local-link-connection': hookLocalLink,
  memory: setMemory,
  'parse-lldp': parsedLldp,
  'pci-devices': pciAliases,
  'physical-network': hookPhysicalNetwork,
  'raid-device': raidDevice,
  'root-device': rootDevice,
}

/**
 * Runs Ironic's inspection hooks in the configured order (ironic drivers/modules/inspector/hooks/base.py
 * run_inspection_hooks). Returns the error in upstream's words; changes of earlier hooks stay, as there.
 */
export function runHooks(hooks: readonly InspectionHook[], inspected: Inspected): string | undefined {
  const failures = hooks.flatMap((name) => {
    const error = runHook(PREPROCESS[name] ?? NO_HOOK, inspected)
    if (error === undefined) return []
    if (error instanceof HookFailure && error.exception === 'HardwareInspectionFailure')
      return [`Error in preprocess hook ${name}: ${error.message}`]
    return [`Unexpected exception ${classOf(error)} during preprocess hook ${name}: ${error.message}`]
  })
  if (failures.length > 0)
    return describeHookFailure(
      `The following failures happened while running preprocess hooks for node ${inspected.uuid}:\n${failures.join('\n')}`,
    )
  for (const name of hooks) {
    const error = runHook(MAIN[name], inspected)
    if (error === undefined) continue
    if (error instanceof HookFailure && error.exception === 'HardwareInspectionFailure') return error.message
    return describeHookFailure(
      `Unexpected exception ${classOf(error)} during processing for node: ${inspected.uuid}. Error: ${error.message}`,
    )
  }
  return undefined
}

const describeHookFailure = (reason: string): string => `Failed to inspect hardware. Reason: ${reason}`

const classOf = (error: Error): string => (error instanceof HookFailure ? error.exception : 'ValueError')

function runHook(hook: Hook, inspected: Inspected): Error | undefined {
  try {
    hook(inspected)
    return undefined
  } catch (error) {
    return error as Error
  }
}
