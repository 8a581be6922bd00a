import { gunzipSync } from 'node:zlib'
import { defined, errorChain } from '../../base/runtime/index.js'
import { partitionPath, readPartitions } from '../hardware/read-partitions.js'
import { rescanDevice } from '../hardware/rescan.js'
import { runCommand } from '../sdk/run-command.js'
import { StepError, type StepContext } from '../sdk/step.js'
import { fetchSmall } from './image-source.js'

/** Label by which systems find a config drive, of the partition and of its filesystem. */
const CONFIG_DRIVE_LABEL = 'config-2'
/** Ironic's limit for config drives; the partition gets one MiB more, for alignment. */
const MAX_CONFIG_DRIVE_MIB = 64

/** The argument of steps that write one. */
export const CONFIG_DRIVE_ARGUMENT = {
  description: 'A config drive: base64 of a gzipped filesystem, or a URL of that.',
}

/** Reads a config drive: a gzipped filesystem as base64, or the URL of that. */
export async function readConfigDrive(context: StepContext, configdrive: unknown): Promise<Buffer | null> {
  if (configdrive === undefined || configdrive === null || configdrive === '') return null
  if (typeof configdrive !== 'string')
    throw new StepError(
      'the configdrive is an object: Ironic must make a filesystem of it before it sends it to an agent',
    )
  try {
    const isUrl = /^https?:\/\//.test(configdrive)
    const text = isUrl ? (await fetchSmall(context, configdrive)).toString('latin1') : configdrive
    const bytes = gunzipSync(Buffer.from(text, 'base64'))
    if (bytes.length <= MAX_CONFIG_DRIVE_MIB * 2 ** 20) return bytes
  } catch (cause) {
    throw new StepError(`the configdrive cannot be read: ${errorChain(cause).join(': ')}`, { cause })
  }
  throw new StepError(`the configdrive is larger than ${MAX_CONFIG_DRIVE_MIB} MiB`)
}

/** Writes a config drive to the image's partition for it, or to a new partition at the end of the disk. */
export async function writeConfigDrive(context: StepContext, disk: string, bytes: Buffer): Promise<void> {
  const { target, logger, signal } = context
  const run = (argv: [string, ...string[]], stdin?: Uint8Array) =>
    runCommand(target.executor, argv, { effect: 'writes', signal, ...defined({ stdin }) })
  const { type, partitions } = await readPartitions(target, disk)
  let partition = partitions.find(
    ({ label, partitionLabel }) => label === CONFIG_DRIVE_LABEL || partitionLabel === CONFIG_DRIVE_LABEL,
  )?.name
  if (partition === undefined) {
    if (type === 'dos') throw new StepError(`${disk} has an MBR: a config drive is only added to a GPT`)
    const used = partitions.map(({ number }) => number)
    const number = [...Array(128).keys()].map((n) => n + 1).find((n) => !used.includes(n))!
    await run([
      'sgdisk',
      `--new=${number}:-${MAX_CONFIG_DRIVE_MIB + 1}M:0`,
      `--change-name=${number}:${CONFIG_DRIVE_LABEL}`,
      disk,
    ])
    await rescanDevice(target, disk, logger)
    partition = partitionPath(disk, number)
  }
  await run(['dd', `of=${partition}`, 'bs=1M', 'iflag=fullblock', 'status=none'], bytes)
  await run(['sync'])
}
