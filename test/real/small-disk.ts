import { execFileSync } from 'node:child_process'
import { chown, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { UnprivilegedUser } from './postgres.js'
import { succeeds, tool } from './peers.js'

/** A file system of its own that fills up, in memory. Needs root. */
export class SmallDisk implements AsyncDisposable {
  readonly #atExit = (): void => void execFileSync('umount', ['--lazy', this.folder])

  private constructor(readonly folder: string) {
    process.once('exit', this.#atExit)
  }

  /** @param size as `mount` takes it, as in `80m` */
  static async mount(size: string, { uid, gid }: UnprivilegedUser): Promise<SmallDisk> {
    const folder = await mkdtemp(join(tmpdir(), 'is-small-'))
    await succeeds('mount', '-t', 'tmpfs', '-o', `size=${size},mode=755`, 'none', folder)
    const disk = new SmallDisk(folder)
    if (uid !== undefined && gid !== undefined) await chown(folder, uid, gid)
    return disk
  }

  /** Leaves no free block. */
  async fill(): Promise<void> {
    await tool('dd', 'if=/dev/zero', `of=${this.#filler}`, 'bs=64k')
    await tool('dd', 'if=/dev/zero', `of=${this.#filler}2`, 'bs=4k')
  }

  /** Frees what {@link fill} has taken. */
  async free(): Promise<void> {
    await writeFile(this.#filler, '')
    for (const file of [this.#filler, `${this.#filler}2`]) await rm(file, { force: true })
  }

  get #filler(): string {
    return join(this.folder, 'filler')
  }

  async [Symbol.asyncDispose](): Promise<void> {
    process.removeListener('exit', this.#atExit)
    await succeeds('umount', '--lazy', this.folder)
    await rm(this.folder, { recursive: true })
  }
}
