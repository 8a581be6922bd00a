import { AGENT_CONFIG_SHAPES } from './table/agent-config-shapes.js'
import { AGENT_SHAPES } from './table/agent-shapes.js'
import { CONTROL_SHAPES } from './table/control-shapes.js'
import { HARDWARE_LAB_SHAPES } from './table/hardware-lab-shapes.js'
import { FLEET_SHAPES } from './table/fleet-shapes.js'
import { IGNITION_SHAPES } from './table/ignition-shapes.js'
import { INSTALLATION_SHAPES } from './table/installation-shapes.js'
import { LIVE_IMAGE_SHAPES } from './table/live-image-shapes.js'
import { RECORDING_SHAPES } from './table/recording-shapes.js'
import { REHEARSAL_SHAPES } from './table/rehearsal-shapes.js'
import { SERVER_SHAPES } from './table/server-shapes.js'
import { STEP_SHAPES } from './table/step-shapes.js'
import { TARGET_SHAPES } from './table/target-shapes.js'
import type { CommandOptionShape } from './table/option-shape.js'

/**
 * Every option of every command, once: flag `--name`, environment variable `IRONSTAGE_NAME`, config key `name`.
 * Precedence: flag, environment, config file, default.
 */
export const COMMAND_OPTIONS = {
  ...SERVER_SHAPES,
  ...TARGET_SHAPES,
  ...INSTALLATION_SHAPES,
  ...AGENT_SHAPES,
  ...STEP_SHAPES,
  ...IGNITION_SHAPES,
  ...LIVE_IMAGE_SHAPES,
  ...AGENT_CONFIG_SHAPES,
  ...REHEARSAL_SHAPES,
  ...RECORDING_SHAPES,
  ...CONTROL_SHAPES,
  ...HARDWARE_LAB_SHAPES,
  ...FLEET_SHAPES,
} as const satisfies Record<string, CommandOptionShape>

export type CommandOptionName = keyof typeof COMMAND_OPTIONS

type ValueOf<S> = S extends { type: 'boolean' }
  ? boolean
  : S extends { type: 'integer' | 'number' }
    ? number
    : S extends { type: 'array' }
      ? string[]
      : string

export type CommandOptionValues<N extends CommandOptionName> = {
  [K in N]?: ValueOf<(typeof COMMAND_OPTIONS)[K]['schema']>
}

/** `append-karg` -> `IRONSTAGE_APPEND_KARG` */
export const variableOf = (name: CommandOptionName): string => `IRONSTAGE_${name.toUpperCase().replaceAll('-', '_')}`
