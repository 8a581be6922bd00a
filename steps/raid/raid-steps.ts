import { isObject } from '../../base/runtime/index.js'
import type { JsonObject } from '../../base/wire/index.js'
import { defineStep } from '../sdk/define-step.js'
import { StepError, type StepContext } from '../sdk/step.js'
import { createVolumes } from './create.js'
import { deleteVolumes } from './delete.js'
import { readRaidConfig } from './raid-config.js'

function checkAllowed({ target }: StepContext): void {
  if (!target.has('software-raid')) throw new StepError(`${target.name} does not allow software RAID to be changed`)
}

/** Deletes all software RAID. */
export const deleteConfiguration = defineStep({
  name: 'delete_configuration',
  interface: 'raid',
  on: ['clean', 'service'],
  abortable: true,
  run: async (context) => {
    checkAllowed(context)
    await deleteVolumes(context)
    return null
  },
})

/** Creates the software RAID of the node's `target_raid_config`. Returns that configuration. */
export const createConfiguration = defineStep({
  name: 'create_configuration',
  interface: 'raid',
  on: ['clean', 'service'],
  abortable: true,
  run: async (context) => {
    const config = context.node['target_raid_config']
    if (!isObject(config) || Object.keys(config).length === 0) {
      context.logger('info', 'the node has no target_raid_config: no RAID is created')
      return {}
    }
    checkAllowed(context)
    await createVolumes(context, readRaidConfig(config))
    return config
  },
})

/** Creates the software RAID of its argument; by default deletes the existing one first. */
export const applyConfiguration = defineStep<{ raid_config: JsonObject; delete_existing: boolean }>({
  name: 'apply_configuration',
  interface: 'raid',
  on: ['deploy', 'service'],
  abortableOn: [],
  args: {
    properties: {
      raid_config: { type: 'object', description: 'The RAID configuration to apply.' },
      delete_existing: {
        type: 'boolean',
        default: true,
        description:
          "Setting this to 'True' indicates to delete existing RAID configuration prior to creating the new configuration. Default value is 'True'.",
      },
    },
    required: ['raid_config'],
  },
  run: async (context, { raid_config: config, delete_existing: deleteExisting }) => {
    checkAllowed(context)
    // Read first: an invalid configuration must not delete the existing one.
    const volumes = readRaidConfig(config)
    if (deleteExisting) await deleteVolumes(context)
    await createVolumes(context, volumes)
    return config
  },
})
