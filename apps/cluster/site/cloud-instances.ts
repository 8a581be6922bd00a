import { truncate, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Stage } from '../../../lab/index.js'
import { installToFile, type Machine } from '../../../machine/index.js'
import { unlessAborted, withClockHeld, type Clock, type Random } from '../../../base/runtime/index.js'

/** A machine of a cloud that is to be made. */
interface NewInstance {
  name: string
  /** Name of an image that was published. */
  image: string
  /** Ignition config. */
  userData: Uint8Array
}

interface CloudParts {
  stage: Pick<Stage, 'machines' | 'spec'>
  clock: Clock
  random: Random
  /** Folder for disks. */
  folder: string
}

/**
 * The images and machines of a cloud. A machine begins with a copy of its image on its disk, and with its user data on the boot
 * partition, where Ignition finds it without the metadata service of a real cloud.
 */
export class CloudInstances {
  /** Disk images by name, compressed. */
  readonly #images = new Map<string, Buffer>()
  /** Names of the images of releases. */
  readonly #released = new Set<string>()
  /** Names of the images that machines were made of, by the names of these. */
  readonly #made = new Map<string, string>()
  readonly #parts: CloudParts

  constructor(parts: CloudParts) {
    this.#parts = parts
  }

  /** Publishes an image of a release. */
  publish(image: string, disk: Buffer): void {
    this.#images.set(image, disk)
    this.#released.add(image)
  }

  /** True of an image that the metadata of a release names. */
  isOfRelease(image: string): boolean {
    return this.#released.has(image)
  }

  /** Publishes a copy of an image as one of the user's own. */
  copy(image: string, own: string): void {
    this.#images.set(own, this.#images.get(image)!)
  }

  has(image: string): boolean {
    return this.#images.has(image)
  }

  /** Name of the image that a machine was made of; undefined for one that is not there. */
  imageOf(name: string): string | undefined {
    return this.#made.get(name)
  }

  /**
   * Makes a machine, and starts it.
   *
   * @param signal ends the wait for its power
   * @throws Error for an image that is not there
   */
  async create({ name, image, userData }: NewInstance, signal: AbortSignal): Promise<Machine> {
    const { stage } = this.#parts
    const disk = this.#images.get(image)
    if (!disk) throw new Error(`the cloud has no image ${image}`)
    this.#made.set(name, image)
    const spec = stage.spec(stage.machines.list().length + 1)
    const [first, ...others] = spec.disks
    const file = await this.#writeDisk({ name, size: first!.size, image: disk, userData }, signal)
    const disks = [{ ...first!, backing: { kind: 'file' as const, file } }, ...others]
    const machine = await stage.machines.create({ ...spec, id: name, disks, bmc: null })
    await unlessAborted(machine.setPower('on'), signal)
    return machine
  }

  async remove(name: string): Promise<void> {
    this.#made.delete(name)
    await this.#parts.stage.machines.remove(name)
  }

  /** @returns path of the disk's file */
  async #writeDisk(
    { name, size, image, userData }: { name: string; size: number; image: Buffer; userData: Uint8Array },
    signal: AbortSignal,
  ): Promise<string> {
    const { clock, random, folder } = this.#parts
    const [path, packed, config] = ['img', 'raw.gz', 'ign'].map((ending) => join(folder, `${name}.${ending}`))
    await withClockHeld(clock, `writing the disk of ${name}`, async () => {
      await writeFile(packed!, image)
      await writeFile(config!, userData)
      await writeFile(path!, '')
      await truncate(path!, size)
    })
    const complaints: string[] = []
    const code = await installToFile({
      args: ['install', path!, '--image-file', packed!, '--insecure', '--ignition-file', config!],
      sectorSize: 512,
      architecture: 'x86_64',
      tty: false,
      clock,
      random,
      signal,
      stdout: () => {},
      stderr: (text) => void complaints.push(text),
    })
    if (code !== 0) throw new Error(`the disk of ${name} cannot be written: ${complaints.join('').trim()}`)
    return path!
  }
}
