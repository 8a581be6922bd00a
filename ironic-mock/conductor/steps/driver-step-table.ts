import { defined } from '../../../base/runtime/index.js'
import type { NodeRecord, StepKind } from '../../../base/wire/index.js'
import type { InterfaceStep } from '../../drivers/hardware-type.js'
import { HARDWARE_TYPES, implementationOf } from '../../drivers/hardware-types.js'
import type { OutOfBandStep } from './out-of-band-step.js'

const DRIVER_STEP_INTERFACES = ['vendor', 'bios', 'firmware', 'raid'] as const

/** Steps of a node's interfaces other than deploy, for one flow. Only one, of a fake interface, has a priority. */
export function interfaceSteps(node: Readonly<NodeRecord>, kind: StepKind, types = HARDWARE_TYPES): OutOfBandStep[] {
  return DRIVER_STEP_INTERFACES.flatMap(
    (name) => implementationOf(name, node[`${name}_interface`], types)?.steps ?? [],
  ).flatMap((step) => {
    const how = step.in[kind]
    return how ? [offered(step, kind, how)] : []
  })
}

function offered(
  row: InterfaceStep,
  kind: StepKind,
  { ramdisk = true, abortable = kind === 'deploy' }: { ramdisk?: boolean; abortable?: boolean },
): OutOfBandStep {
  const unasked = kind === 'clean' && row.step === 'log_passthrough'
  return {
    step: row.step,
    priority: unasked ? 1 : 0,
    abortable,
    argsinfo: row.argsinfo ?? null,
    interface: row.interface,
    ...defined({ requires_ramdisk: kind === 'deploy' ? undefined : ramdisk }),
  }
}
