import { AGENT_CONFIG_SHAPES } from './table/agent-config-shapes.js'
import { AGENT_SHAPES } from './table/agent-shapes.js'
import { CONTROL_SHAPES } from './table/control-shapes.js'
import { HARDWARE_SHAPES } from './table/hardware-shapes.js'
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
import { IMAGE_CACHE_SHAPES, PUBLISHED_SHAPES, REGISTRY_SHAPES } from './table/fetch-shapes.js'
import { MACHINE_OS_SHAPES } from './table/machine-os-shapes.js'
import { RELEASE_SHAPES, STREAM_SHAPES } from './table/stream-shapes.js'
import { UP_SHAPES } from './table/up-shapes.js'
import type { CommandOptionShape } from './table/option-shape.js'

/**
 * Every option of every command, once: flag `--name`, environment variable `IRONSTAGE_NAME`, config key `name`.
 * Precedence: flag, environment, config file, default. A flag that means something else in another command is a row with
 * a name of its own, since a variable and a config key are set for all commands at once.
 */
export const COMMAND_OPTIONS = {
  ...UP_SHAPES,
  ...SERVER_SHAPES,
  ...TARGET_SHAPES,
  ...INSTALLATION_SHAPES,
  ...IMAGE_CACHE_SHAPES,
  ...REGISTRY_SHAPES,
  ...PUBLISHED_SHAPES,
  ...AGENT_SHAPES,
  ...STEP_SHAPES,
  ...IGNITION_SHAPES,
  ...LIVE_IMAGE_SHAPES,
  ...AGENT_CONFIG_SHAPES,
  ...REHEARSAL_SHAPES,
  ...RECORDING_SHAPES,
  ...CONTROL_SHAPES,
  ...HARDWARE_SHAPES,
  ...HARDWARE_LAB_SHAPES,
  ...FLEET_SHAPES,
  ...STREAM_SHAPES,
  ...RELEASE_SHAPES,
  ...MACHINE_OS_SHAPES,
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

/** The flag of an option, without `--`. */
export function flagOf(name: CommandOptionName): string {
  const { flag = name }: CommandOptionShape = COMMAND_OPTIONS[name]
  return flag
}
