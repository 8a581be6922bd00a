import { createHash } from 'node:crypto'
import { spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { mkdir, open, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { IRONSTAGE } from '../kit/commands/up-process.js'
import { realBinary } from './coreos-installer.js'
import { debianProgram, peer, tool } from './peers.js'

const MIB = 2 ** 20

/** The real coreos-installer, and what it is started with where the kernel reads no GPT by itself. */
export async function localTools(folder: string): Promise<{ preload: string; installer: string }> {
  await debianProgram('gcc', 'gcc')
  const preload = join(folder, 'reread.so')
  await done(tool('gcc', '-O2', '-Wall', '-shared', '-fPIC', '-o', preload, peer('reread.c'), '-ldl'))
  return { preload, installer: await realBinary() }
}

/** Features of this kernel that can stack over disks. */
export const KERNEL = { arrays: existsSync('/proc/mdstat'), mapper: existsSync('/dev/mapper/control') }

/**
 * Disks of a host, loop devices over files: one to install to, and others that are in use, in the two ways that a host
 * uses disks: several together, and mounted. Where the kernel has neither arrays nor the device mapper, a btrfs over two
 * disks and a mounted partition take their places.
 */
export class LocalHost implements AsyncDisposable {
  readonly #undo: (() => Promise<unknown>)[] = []
  readonly #others: string[] = []

  private constructor(readonly folder: string) {}

  static async open(folder: string): Promise<LocalHost> {
    const host = new LocalHost(folder)
    try {
      await host.#build()
      return host
    } catch (error) {
      await host[Symbol.asyncDispose]()
      throw error
    }
  }

  get disk(): string {
    return join(this.folder, 'target.img')
  }

  /** Digests of all disks except the target. */
  async others(): Promise<Record<string, string>> {
    const hashes: Record<string, string> = {}
    await done(tool('sync'))
    for (const path of this.#others) {
      const hash = createHash('sha256')
      const file = await open(path)
      for await (const chunk of file.createReadStream()) hash.update(chunk as Buffer)
      hashes[path] = hash.digest('hex')
    }
    return hashes
  }

  /** A disk with nothing on it but traces of an earlier use. */
  async freshDisk(): Promise<void> {
    const file = await open(this.disk, 'w')
    await file.truncate(256 * MIB)
    for (let at = 0; at < 256; at += 8) await file.write(Buffer.alloc(4096, 0xa5), 0, 4096, at * MIB)
    await file.close()
  }

  async #file(name: string, mib: number): Promise<string> {
    const path = join(this.folder, name)
    const file = await open(path, 'w')
    await file.truncate(mib * MIB)
    await file.close()
    if (path !== this.disk) this.#others.push(path)
    return path
  }

  async #attach(path: string): Promise<string> {
    const { stdout } = await done(tool('losetup', '--find', '--show', path))
    const device = stdout.trim()
    this.#undo.push(() => tool('losetup', '--detach', device))
    return device
  }

  async #mount(device: string, name: string): Promise<void> {
    const at = join(this.folder, name)
    await mkdir(at)
    // Mount read-only: the kernel itself would otherwise change these disks.
    await done(tool('mount', '-o', 'ro', device, at))
    this.#undo.push(() => tool('umount', at))
  }

  async #build(): Promise<void> {
    await mkdir(this.folder, { recursive: true })
    await this.freshDisk()
    const one = await this.#attach(await this.#file('one.img', 160))
    const two = await this.#attach(await this.#file('two.img', 160))
    const three = await this.#attach(await this.#file('three.img', 64))
    if (KERNEL.arrays) {
      await debianProgram('mdadm', 'mdadm')
      const array = '/dev/md/ironstage-data'
      await done(tool('mdadm', '--create', array, '--run', '--level=1', '--raid-devices=2', '--assume-clean', one, two))
      this.#undo.push(() => tool('mdadm', '--stop', array))
      await done(tool('mke2fs', '-q', array))
      await this.#mount(array, 'data')
    } else {
      await debianProgram('mkfs.btrfs', 'btrfs-progs')
      await done(tool('mkfs.btrfs', '-q', '-d', 'raid1', '-m', 'raid1', one, two))
      await this.#mount(one, 'data')
    }
    if (KERNEL.mapper) {
      await debianProgram('lvcreate', 'lvm2')
      await done(tool('vgcreate', '-q', 'ironstage-test', three))
      this.#undo.push(() => tool('vgchange', '-an', 'ironstage-test'))
      await done(tool('lvcreate', '-q', '-n', 'home', '-l', '100%FREE', 'ironstage-test'))
      await done(tool('mke2fs', '-q', '/dev/ironstage-test/home'))
      await this.#mount('/dev/ironstage-test/home', 'home')
    } else {
      await done(tool('mke2fs', '-q', three))
      await this.#mount(three, 'home')
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const undo of this.#undo.reverse()) await undo()
    await rm(this.folder, { recursive: true, force: true })
  }
}

/** Runs shell text beside a udevd that knows this host's disks, with `ironstage` and the real installer on PATH. */
export async function beside(
  { folder }: Pick<LocalHost, 'folder'>,
  { preload, installer }: { preload: string; installer: string },
  text: string,
): Promise<{ code: number | null; out: string }> {
  const own = ['--mount', '--pid', '--fork', '--kill-child', '--mount-proc']
  const script = `ironstage="${process.execPath} ${IRONSTAGE}"\n${text}`
  const argv = [...own, 'sh', peer('beside-local.sh'), folder, preload, installer, 'sh', '-c', script]
  const path = `${process.env['PATH'] ?? ''}:/usr/sbin:/sbin`
  const child = spawn('unshare', argv, { env: { ...process.env, PATH: path }, stdio: ['ignore', 'pipe', 'pipe'] })
  let out = ''
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (bytes: Buffer) => (out += bytes.toString()))
  const code = await new Promise<number | null>((resolve, reject) => {
    child.once('error', reject)
    child.once('close', resolve)
  })
  return { code, out }
}

/** Loop devices that are attached to a file. */
export async function attachedTo(file: string): Promise<string> {
  return (await tool('losetup', '--associated', file, '--noheadings', '--output', 'NAME')).stdout.trim()
}

async function done(running: ReturnType<typeof tool>) {
  const ended = await running
  if (ended.code !== 0) throw new Error(`it ended with ${ended.code}: ${ended.stderr}`)
  return ended
}
