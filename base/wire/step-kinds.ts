/** Ironic's interfaces that can own a step, in the order in which equal priorities run (Ironic's source). */
export const STEP_INTERFACES = ['vendor', 'power', 'management', 'firmware', 'deploy', 'bios', 'raid'] as const
/** The interface that a step belongs to. */
export type StepInterface = (typeof STEP_INTERFACES)[number]

/** A kind of work that a step can be part of. */
export type StepKind = 'deploy' | 'clean' | 'service'

/** `argsinfo` as an agent advertises it. */
export type ArgsInfo = Record<string, { description: string; required?: boolean }>

/** A step as an agent advertises it in `get_*_steps`, keyed there by the class name of its hardware manager. */
export interface AdvertisedStep {
  step: string
  interface: StepInterface
  priority: number
  reboot_requested: boolean
  abortable?: boolean
  argsinfo?: ArgsInfo
}

/** A step as a user or a template asks for it, and as it travels to the agent: stored and echoed verbatim. */
export interface RequestedStep {
  step: string
  interface: StepInterface
  args?: Record<string, unknown>
  priority?: number | string
  [more: string]: unknown
}
