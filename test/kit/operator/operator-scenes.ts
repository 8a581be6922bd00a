import type { StagedLabOptions } from '../../../lab/index.js'
import { HARDWARE_SCENES } from './hardware-scenes.js'
import { INSTANCE_SCENES } from './instance-scenes.js'
import type { OperatorStage } from './operator-stage.js'

export interface OperatorScene {
  lab?: Partial<StagedLabOptions>
  play: (on: OperatorStage) => Promise<void>
}

/** Lives of a host; each is played by the real BareMetal Operator and by the actor. */
export const OPERATOR_SCENES: Readonly<Record<string, OperatorScene>> = { ...INSTANCE_SCENES, ...HARDWARE_SCENES }

/** The Ironic of the scenes. Their records have a digest of the hardware that Metal3's agents found without LLDP. */
export const SCENE_IRONIC = { profile: 'metal3', set: ['inspector.extra_kernel_params='] } as const
