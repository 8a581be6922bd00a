import { errorChain } from '../../base/runtime/index.js'
import type { JsonObject } from '../../base/wire/index.js'
import { defineStep } from '../sdk/define-step.js'
import { nodeWithHints } from '../hardware/node-with-hints.js'
import { chooseWritableRoot } from '../hardware/writable-root.js'
import { readPartitions } from '../hardware/read-partitions.js'
import { rescanDevice } from '../hardware/rescan.js'
import { runCommand } from '../sdk/run-command.js'
import { StepError, type ImageRules, type StepContext } from '../sdk/step.js'
import { digestInFile } from './checksum-file.js'
import { CONFIG_DRIVE_ARGUMENT, readConfigDrive, writeConfigDrive } from './write-config-drive.js'
import { algorithmOf, checkAlgorithm, readImageInfo, type ChecksumAlgorithm, type ImageInfo } from './image-info.js'
import { fetchSmall, stageImage, type StagedImage } from './image-source.js'
import { isQcow2, openQcow2, type DiskContents } from './qcow2.js'
import { writeContents } from './write-contents.js'

export interface WriteImageArgs {
  image_info: JsonObject
  configdrive?: unknown
}

/** Writes the image of a whole disk to the root device. */
export const writeImage = defineStep<WriteImageArgs>({
  name: 'write_image',
  interface: 'deploy',
  on: ['deploy', 'service'],
  abortableOn: [],
  argsinfo: 'absent',
  args: {
    properties: {
      image_info: { type: 'object', description: 'The image: id, urls, disk_format and its checksum.' },
      configdrive: CONFIG_DRIVE_ARGUMENT,
    },
    required: ['image_info'],
  },
  run: (context, { image_info: info, configdrive }) => prepareImage(context, info, configdrive),
})

/**
 * Fetches and verifies the image, then writes it to the root device, with a config drive. Runs for `write_image` and
 * `standby.prepare_image`. The disk is not changed before the image is verified.
 *
 * @returns IPA's sentence: `image (ID) written to device /dev/sda root_uuid=0x00000000`
 * @throws StepError of IPA's types: ImageDownloadError, ImageChecksumError, ImageWriteError, DeviceNotFound
 */
async function prepareImage(context: StepContext, info: JsonObject, configdrive?: unknown): Promise<string> {
  const { target, images, progress, logger } = context
  const image = readImageInfo(info, images)
  const drive = await readConfigDrive(context, configdrive)
  const device = await chooseWritableRoot({ ...context, node: await nodeWithHints(context) })
  progress.stage(`fetching the image ${image.id}`)
  await using staged = await stageImage(context, image.urls, { authorization: image.authorization })
  progress.stage('verifying the image')
  // IPA writes a raw image as it comes, and any other from a file.
  const location = image.format === 'raw' ? device.name : `/tmp/${image.id}`
  await verifyImage(context, image, staged, location)
  const contents = await contentsOf(image, staged, images)
  if (contents.size > device.size)
    throw new StepError(
      `Download of image ${image.id} failed: Unable to write image to device ${device.name}. Error: [Errno 28] No space ` +
        `left on device: the image needs ${contents.size} bytes, and ${device.name} has ${device.size}`,
      { type: 'ImageDownloadError' },
    )
  progress.stage(`writing the image to ${device.name}`)
  const failing = (error: unknown) => {
    context.signal.throwIfAborted()
    if (error instanceof StepError) throw error
    throw new StepError(`writing the image to ${device.name}: ${errorChain(error).join(': ')}`, {
      type: 'ImageWriteError',
      cause: error,
    })
  }
  await writeContents(context, device.name, contents).catch(failing)
  await rescanDevice(target, device.name, logger)
  await moveBackupTable(context, device.name).catch(failing)
  if (drive) {
    progress.stage('writing the config drive')
    await writeConfigDrive(context, device.name, drive).catch(failing)
  }
  await rescanDevice(target, device.name, logger)
  // Disk signature of the MBR, which is zero with a GPT.
  const signature = (await contents.read(440, 4)).toString('hex').match(/../g) ?? []
  return `image (${image.id}) written to device ${device.name} root_uuid=0x${signature.reverse().join('').padStart(8, '0')}`
}

async function verifyImage(
  context: StepContext,
  image: ImageInfo,
  staged: StagedImage,
  location: string,
): Promise<void> {
  const { algorithm, digest } =
    'url' in image.checksum ? await fetchDigest(context, image.checksum, image.urls[0]!) : image.checksum
  const found = await staged.digest(algorithm)
  if (found === digest) return
  throw new StepError(
    `Image failed to verify against checksum. location: ${location}; image ID: ${image.id}; image checksum: ${digest}; ` +
      `verification checksum: ${found}`,
    { type: 'ImageChecksumError' },
  )
}

async function fetchDigest(
  context: StepContext,
  { url, algorithm: named }: { url: string; algorithm: ChecksumAlgorithm | null },
  image: string,
): Promise<{ algorithm: ChecksumAlgorithm; digest: string }> {
  const bytes = await fetchSmall(context, url).catch((cause: unknown) => {
    throw new StepError(`the checksum could not be fetched: ${errorChain(cause).join(': ')}`, {
      type: 'ImageDownloadError',
      cause,
    })
  })
  const digest = digestInFile(bytes.toString(), url, image)
  const algorithm = named ?? checkAlgorithm(algorithmOf(digest)!, context.images)
  return { algorithm, digest }
}

/** Detects the format from the image's bytes, and refuses one that differs from Ironic's: a disguised image is an attack. */
async function contentsOf(
  { id, format }: ImageInfo,
  staged: StagedImage,
  rules: ImageRules | undefined,
): Promise<DiskContents> {
  const found = isQcow2(await staged.read(0, 4)) ? 'qcow2' : 'raw'
  if (format !== null && format !== found)
    throw new StepError(`the image ${id} is declared as ${format}, but is ${found}`, { type: 'ImageWriteError' })
  const permitted = rules?.formats ?? null
  // Ironic calls a raw image with a partition table gpt.
  if (permitted && !permitted.includes(found) && !(found === 'raw' && permitted.includes('gpt')))
    throw new StepError(`the image ${id} is ${found}, and Ironic permits only ${permitted.join(', ')}`, {
      type: 'ImageWriteError',
    })
  return found === 'qcow2'
    ? openQcow2(staged)
    : { size: staged.size, read: (offset, length) => staged.read(offset, length), zeros: () => Promise.resolve(0) }
}

/** Moves the copy of the partition table to the disk's end, since an image is smaller than its disk. */
async function moveBackupTable({ target, signal, logger }: StepContext, disk: string): Promise<void> {
  if ((await readPartitions(target, disk)).type !== 'gpt') return
  await runCommand(target.executor, ['sgdisk', '--move-second-header', disk], { effect: 'writes', signal })
  await rescanDevice(target, disk, logger)
}
