import { errorChain } from '../../base/runtime/index.js'
import type { JsonObject } from '../../base/wire/index.js'
import { defineStep } from '../sdk/define-step.js'
import { deletableArrays, deleteArray, listRaidArrays } from '../hardware/software-raid.js'
import { runCommand } from '../sdk/run-command.js'
import { StepError, type StepContext } from '../sdk/step.js'
import { erasableDisks, eraseOptionsOf } from './erasable.js'
import { eraseMetadata } from './erase-metadata.js'
import { eraseItself, isNvme } from './secure-erase.js'

/** Makes every disk erase itself if it can, and overwrites all others. Returns the method used, by disk. */
export const eraseDevices = defineStep({
  name: 'erase_devices',
  interface: 'deploy',
  on: ['clean'],
  priority: { clean: 10 },
  abortable: true,
  run: async (context) => {
    const disks = await disksWithoutRaid(context)
    const done: Record<string, string> = {}
    await eraseEach(context, disks, 'erasing', async (disk) => {
      done[disk] = (await eraseItself(context, disk)) ?? (await shred(context, disk))
    })
    return done
  },
})

/** Destroys partition tables and file system signatures. */
export const eraseDevicesMetadata = defineStep({
  name: 'erase_devices_metadata',
  interface: 'deploy',
  on: ['clean', 'deploy'],
  priority: { clean: 99, deploy: 0 },
  abortable: true,
  run: async (context) => {
    const disks = await disksWithoutRaid(context)
    await eraseEach(context, disks, 'erasing the metadata of', (disk) => eraseMetadata(context, disk))
    return null
  },
})

/** Makes NVMe disks erase themselves, and destroys the metadata of all others. Returns the method used, by disk. */
export const eraseDevicesExpress = defineStep({
  name: 'erase_devices_express',
  interface: 'deploy',
  on: ['clean'],
  abortable: true,
  run: async (context) => {
    const disks = await disksWithoutRaid(context)
    const done: Record<string, string> = {}
    await eraseEach(context, disks, 'erasing', async (disk) => {
      const erased = isNvme(disk) ? await eraseItself(context, disk) : null
      if (erased === null) await eraseMetadata(context, disk)
      done[disk] = erased ?? 'metadata destroyed'
    })
    return done
  },
})

/** The disks to erase, no longer held by software RAID arrays, which would keep them busy and come back. */
async function disksWithoutRaid(context: StepContext): Promise<string[]> {
  const { target, logger } = context
  const disks = await erasableDisks(context)
  const arrays = target.has('software-raid') ? await listRaidArrays(target) : []
  // Only arrays that lie on disks to erase: a skipped disk keeps what it is part of.
  const gone = deletableArrays(target, arrays, disks)
  for (const array of gone) await deleteArray(target, array, logger)
  return disks.map((disk) => disk.name).filter((name) => !gone.some((array) => array.name === name))
}

/** Erases disks, `disk_erasure_concurrency` at once. Tries all before the step fails. */
async function eraseEach(
  { node, progress, signal }: StepContext,
  disks: readonly string[],
  doing: string,
  erase: (disk: string) => Promise<void>,
): Promise<void> {
  const waiting = [...disks]
  const failures: string[] = []
  const worker = async () => {
    for (let disk = waiting.shift(); disk !== undefined; disk = waiting.shift()) {
      progress.stage(`${doing} ${disk}`)
      try {
        await erase(disk)
      } catch (error) {
        signal.throwIfAborted()
        failures.push(`${disk}: ${errorChain(error).join(': ')}`)
      }
    }
  }
  const workers = Math.max(1, readWholeNumber(eraseOptionsOf(node), 'disk_erasure_concurrency', 1))
  await Promise.all(Array.from({ length: Math.min(workers, disks.length) }, worker))
  if (failures.length > 0)
    throw new StepError(`${doing} ${failures.length} of ${disks.length} disks failed: ${failures.join('; ')}`, {
      type: 'BlockDeviceEraseError',
    })
}

async function shred({ target, node, progress, signal }: StepContext, disk: string): Promise<string> {
  const passes = readWholeNumber(eraseOptionsOf(node), 'agent_erase_devices_iterations', 1)
  const zeros = eraseOptionsOf(node)['agent_erase_devices_zeroize'] !== false
  await runCommand(
    target.executor,
    ['shred', '--force', ...(zeros ? ['--zero'] : []), '--verbose', '--iterations', String(passes), disk],
    { effect: 'writes', signal, onLine: (line) => progress.line(line) },
  )
  return `overwritten ${passes === 1 ? 'once' : `${passes} times`} with random data${zeros ? ', then with zeros' : ''}`
}

function readWholeNumber(values: JsonObject, key: string, otherwise: number): number {
  const value = Number(values[key] ?? otherwise)
  return Number.isInteger(value) && value >= 0 ? value : otherwise
}
