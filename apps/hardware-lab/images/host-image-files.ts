import { digestOfFile } from '../../../base/bytes/index.js'
import { checkMetalImage } from '../../../machine/index.js'
import type { RealTarget } from '../../runs/index.js'
import { UserError, type Clock, type Logger, type Random } from '../../../base/runtime/index.js'
import { stageFile, type ImageReach } from '../../../steps/index.js'
import type { Host } from '../hosts/host.js'

/** The image of a host, where it is a file of this machine. */
export const imageFileOf = ({ image }: Pick<Host, 'image'>): string | undefined =>
  image === undefined || /^https?:\/\//.test(image) ? undefined : image

/** URL that stands for an image file in the arguments of steps; no request ever goes there. */
export const IMAGE_FILE_URL = 'http://127.0.0.1/image'

/** Images that are files of this machine: each is looked at once for all hosts, and sent to each that installs it. */
export class ImageFiles {
  readonly #checked = new Map<string, Promise<{ digest: string; size: number }>>()

  /** @param reach how hosts get them; by default through their SSH connections */
  constructor(
    private readonly parts: { clock: Clock; random: Random; logger: Logger },
    private readonly reach?: ImageReach,
  ) {}

  /**
   * A target that gets the file in place of {@link IMAGE_FILE_URL}.
   *
   * @throws UserError for a file that is no image, is another one, or is too large for the disk
   */
  async on(target: RealTarget, path: string, { 'image-sha256': wanted }: Host): Promise<RealTarget> {
    const { digest, size } = await this.#look(path)
    if (wanted !== undefined && wanted.toLowerCase() !== digest)
      throw new UserError('image-digest', `${path} has the SHA-256 ${digest}, and the file of hosts says ${wanted}`)
    if (size > target.disk.size)
      throw new UserError(
        'disk-too-small',
        `the image ${path} needs ${size} bytes, and ${target.disk.path} has ${target.disk.size}`,
        { remedy: 'choose a larger disk; nothing was written' },
      )
    const { ssh } = target
    if (!ssh) return target
    const reach = this.reach ?? { kind: 'port', forward: (port) => ssh.shell.forward(port) }
    const stage = stageFile({ path, digest }, { reach, ...this.parts })
    return { ...target, target: { ...target.target, stage } }
  }

  #look(path: string): Promise<{ digest: string; size: number }> {
    let looked = this.#checked.get(path)
    if (!looked) this.#checked.set(path, (looked = this.#lookNow(path)))
    return looked
  }

  async #lookNow(path: string): Promise<{ digest: string; size: number }> {
    const { size } = await checkMetalImage(path, this.parts.clock, { keep: false })
    return { digest: await digestOfFile(path, this.parts.clock), size }
  }
}
