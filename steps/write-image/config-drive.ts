import { gunzipSync } from 'node:zlib'
import { errorChain } from '../../runtime/index.js'
import { partitionPath, readPartitions } from '../hardware/partitions.js'
import { rescanDevice } from '../hardware/rescan.js'
import { runCommand } from '../sdk/run-command.js'
import { StepError, type StepContext } from '../sdk/step.js'
import { fetchSmall } from './image-source.js'

/** By which systems find it: the partition has the same name as the filesystem in it. */
const LABEL = 'config-2'
/** As large as Ironic lets it be; the partition gets one more, which alignment may take. */
const MIB = 64

/** Reads a config drive: a filesystem, packed by gzip, as base64 or behind a URL that gives that. */
export async function readConfigDrive(context: StepContext, given: unknown): Promise<Buffer | null> {
  if (given === undefined || given === null || given === '') return null
  if (typeof given !== 'string')
    throw new StepError('the configdrive is an object: Ironic makes a filesystem of it before it gives it to an agent')
  try {
    const text = /^https?:\/\//.test(given) ? (await fetchSmall(context, given)).toString('latin1') : given
    const bytes = gunzipSync(Buffer.from(text, 'base64'))
    if (bytes.length <= MIB * 2 ** 20) return bytes
  } catch (cause) {
    throw new StepError(`the configdrive cannot be read: ${errorChain(cause).join(': ')}`, { cause })
  }
  throw new StepError(`the configdrive is larger than ${MIB} MiB`)
}

/** Puts a config drive into a partition of its own at the end of the disk, or into the one that the image brought. */
export async function writeConfigDrive(context: StepContext, disk: string, bytes: Buffer): Promise<void> {
  const { target, logger, signal } = context
  const run = (argv: [string, ...string[]], stdin?: Uint8Array) =>
    runCommand(target.executor, argv, { effect: 'writes', signal, ...(stdin && { stdin }) })
  const { type, partitions } = await readPartitions(target, disk)
  let partition = partitions.find(({ label, partitionLabel }) => label === LABEL || partitionLabel === LABEL)?.name
  if (partition === undefined) {
    if (type === 'dos') throw new StepError(`${disk} has an MBR: a config drive is only added to a GPT`)
    const used = partitions.map(({ number }) => number)
    const number = [...Array(128).keys()].map((n) => n + 1).find((n) => !used.includes(n))!
    await run(['sgdisk', `--new=${number}:-${MIB + 1}M:0`, `--change-name=${number}:${LABEL}`, disk])
    await rescanDevice(target, disk, logger)
    partition = partitionPath(disk, number)
  }
  await run(['dd', `of=${partition}`, 'bs=1M', 'iflag=fullblock', 'status=none'], bytes)
  await run(['sync'])
}
