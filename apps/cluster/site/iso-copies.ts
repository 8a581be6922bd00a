import { bytesSource, type ByteSource } from '../../../base/bytes/index.js'
import type { BootNetwork } from '../../../machine/index.js'

/**
 * Copies of live ISOs on Ironic's own web server: a conductor fetches the ISO of a node before it boots it, and BMCs read
 * that copy (ironic 7bc6aba conf/deploy.py ramdisk_image_download_source, `local` by default). They outlive the image
 * service that made the ISO, and end with the pod of Ironic. Here machines read from the image service, and its images are
 * copied when it ends.
 */
export class IsoCopies {
  readonly #copies = new Map<string, ByteSource>()

  /** A network in which the copies are found at the URLs of the originals. */
  before(network: BootNetwork): BootNetwork {
    return { ...network, open: async (url, options) => this.#copies.get(url) ?? network.open(url, options) }
  }

  /**
   * Copies images; one that is not served any more has no copy.
   *
   * @param network where the originals are
   */
  async keep(urls: readonly string[], network: BootNetwork): Promise<void> {
    const { signal } = new AbortController()
    for (const url of urls) {
      const source = await network.open(url, { signal }).catch(() => undefined)
      if (source) this.#copies.set(url, bytesSource(await source.read(0, source.size)))
    }
  }

  clear(): void {
    this.#copies.clear()
  }
}
