import { spawn } from 'node:child_process'
import { mkdtemp, readFile, rm, truncate, writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect } from 'vitest'
import { systemClock } from '../../../base/runtime/index.js'
import { REHEARSAL_IMAGE } from '../../../lab/index.js'
import { inspectDisk } from '../../../machine/index.js'
import { IRONSTAGE } from '../../kit/commands/up-process.js'
import { attachedTo } from '../local-host.js'
import { tool } from '../peers.js'

/**
 * A container without udevd, with a file for a disk: a mount and a PID namespace whose /run is empty. Needs root. Loop
 * devices belong to no namespace: disposing of it detaches those over the file, and fails if there are any.
 */
export class UdevlessContainer implements AsyncDisposable {
  private constructor(readonly folder: string) {}

  static async open(): Promise<UdevlessContainer> {
    const container = new UdevlessContainer(await mkdtemp(join(tmpdir(), 'ironstage-no-udev-')))
    await writeFile(container.disk, 'precious')
    await truncate(container.disk, 256 * 2 ** 20)
    return container
  }

  get disk(): string {
    return join(this.folder, 'disk.img')
  }

  /**
   * Runs shell text in the folder, with `$ironstage` for the program and `$deploy` for a deployment to the disk.
   *
   * @param options.namespaces options of unshare besides those of the mount namespace
   */
  async run(
    text: string,
    { namespaces = ['--pid', '--mount-proc'], program = `${process.execPath} ${IRONSTAGE}` } = {},
  ): Promise<{ code: number | null; out: string }> {
    const script = `mount -t tmpfs none /run
cd ${this.folder}
ironstage="${program}"
deploy="$ironstage deploy --target local:${this.disk}"
${text}`
    const argv = ['--mount', '--fork', '--kill-child', ...namespaces, 'sh', '-c', script]
    const child = spawn('unshare', argv, { stdio: ['ignore', 'pipe', 'pipe'] })
    let out = ''
    for (const stream of [child.stdout, child.stderr]) stream.on('data', (bytes: Buffer) => (out += bytes.toString()))
    const code = await new Promise<number | null>((resolve, reject) => {
      child.once('error', reject)
      child.once('close', resolve)
    })
    return { code, out }
  }

  async isBootable(): Promise<boolean> {
    const { table, boot } = await inspectDisk({ path: this.disk }, systemClock())
    return table === 'gpt' && boot !== null
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const left = await attachedTo(this.disk)
    for (const device of left.split('\n').filter(Boolean)) await tool('losetup', '--detach', device)
    await rm(this.folder, { recursive: true, force: true })
    expect(left).toBe('')
  }
}

/** A server of the rehearsal image on loopback, whose first answer stops in the middle. */
export class StallingServer implements AsyncDisposable {
  readonly #server = createServer()

  /** @param stalled file that is made once the first half was sent */
  static async open(stalled: string): Promise<StallingServer> {
    const image = await readFile(REHEARSAL_IMAGE)
    const stalling = new StallingServer()
    let answers = 0
    stalling.#server.on('request', (request, response) => {
      if (request.url !== '/image.raw.xz') return void response.writeHead(404).end()
      response.writeHead(200, { 'content-length': image.length })
      if (answers++ > 0) return void response.end(image)
      response.write(image.subarray(0, image.length / 2), () => void writeFile(stalled, ''))
    })
    await new Promise<void>((resolve) => stalling.#server.listen(0, '127.0.0.1', resolve))
    return stalling
  }

  get image(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}/image.raw.xz`
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.closeAllConnections()
    await new Promise((resolve) => this.#server.close(resolve))
  }
}
