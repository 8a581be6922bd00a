import type { JsonObject } from '../../../base/wire/index.js'
import type { HardwareRequest } from '../hardware/hardware-request.js'

/** The inventory of an inspection, and the plugin data that the agent posted or the BMC reported. */
export interface InspectionData {
  inventory: JsonObject
  pluginData: JsonObject
}

/** Memo of a continuation that needs the node only. */
type NoMemo = JsonObject

interface FailureMemo {
  error: string
}

/** Progress of a step that a BMC carries out. */
export interface InterfaceStepMemo {
  /** The second effect reads the hardware again after the change. */
  phase: 'changed' | 'read again'
  /** The change takes effect at a boot. */
  reboot: boolean
}

/** Effects that every flow with steps continues after. */
export interface StepFlowMemos {
  'agent-commands': NoMemo
  'agent-step': NoMemo
  'agent-steps': NoMemo
  'agent-steps-refresh': NoMemo
  'interface-step': InterfaceStepMemo
  pause: NoMemo
  'reserved-step': NoMemo
  'step-reboot': NoMemo
}

/** The effects that each flow continues after, by their names, with the data that is stored until then. */
export interface FlowMemos {
  adoption: { 'boot-preparation': NoMemo }
  cleaning: StepFlowMemos & {
    'abort-tear-down': NoMemo
    'failure-logs': FailureMemo
    'failure-tear-down': FailureMemo
    'fast-track': NoMemo
    preparation: NoMemo
    'ramdisk-boot': NoMemo
    'tear-down': NoMemo
  }
  deployment: StepFlowMemos & {
    'agent-logs': NoMemo
    'agent-partitions': NoMemo
    'agent-power-off': NoMemo
    'boot-device': NoMemo
    'abort-clean-up': FailureMemo
    'failure-clean-up': FailureMemo
    'failure-logs': FailureMemo & { off: boolean }
    'failure-power-off': NoMemo
    'fast-track': NoMemo
    'instance-boot': NoMemo
    'plan-refusal': FailureMemo
    /** The steps of the request. */
    preparation: { user: JsonObject[] }
    'ramdisk-boot': NoMemo
    'ramdisk-end': NoMemo
  }
  hardware: { 'bmc-change': { request: HardwareRequest; impossible: string | null } }
  inspection: {
    'abort-power-off': NoMemo
    'api-calls': NoMemo
    'bmc-nics': NoMemo
    'bmc-system': NoMemo
    'inspection-facts': InspectionData
    'no-inspection': NoMemo
    'ramdisk-boot': NoMemo
    'ramdisk-end': InspectionData & { error?: string }
    'start-clean-up': FailureMemo
    'timeout-power-off': NoMemo
  }
  power: { 'power-change': { target: string }; 'power-correction': NoMemo }
  rescue: {
    'abort-clean-up': NoMemo
    'agent-rescue': NoMemo
    completion: NoMemo
    'failure-power-off': FailureMemo
    'power-off': NoMemo
    'ramdisk-boot': NoMemo
  }
  servicing: StepFlowMemos & {
    'abort-tear-down': NoMemo
    'failure-logs': FailureMemo & { agentFailed: boolean }
    'failure-tear-down': FailureMemo
    'power-off': NoMemo
    preparation: NoMemo
    'ramdisk-boot': NoMemo
    'tear-down': NoMemo
  }
  teardown: { 'held-power-off': NoMemo; 'power-off': NoMemo }
  unrescue: { 'instance-boot': NoMemo; 'power-off': NoMemo }
  verification: { 'read-power': NoMemo }
}

export type FlowName = keyof FlowMemos

/** The flow that continues after a chain of effects, and the name of the effect that it follows. */
export type Continuation = { [Flow in FlowName]: { flow: Flow; after: keyof FlowMemos[Flow] } }[FlowName]
