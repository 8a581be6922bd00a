import { randomBytes } from 'node:crypto'
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { connect, createServer, type AddressInfo, type Server, type Socket } from 'node:net'
import { dirname, join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Machine } from '../../../machine/index.js'
import { LoopDevice } from '../loop-device.js'
import { succeeds } from '../peers.js'
import { SshMachine } from '../ssh-machine.js'

/**
 * A host of a lab: the BMC, the power and the firmware of a fleet's machine, and in place of its systems a machine in
 * namespaces of its own, with a real sshd and the disk of the fleet's machine as a loop device. Needs root.
 */
export class LabHost implements AsyncDisposable {
  /** Boots of the live system and of the installed one. */
  readonly boots: string[] = []
  readonly #ended = new AbortController()
  readonly #sockets = new Set<Socket>()
  #following: Promise<void> | undefined
  #installed: SshMachine | undefined
  #boot: string | undefined
  #isCut = false

  private constructor(
    readonly name: string,
    readonly simulated: Machine,
    /** The disk that is installed to. */
    readonly disk: LoopDevice,
    /** File of its other disk, which has something on it. */
    readonly other: string,
    readonly live: SshMachine,
    /** The way to its sshd, which can be cut. */
    private readonly cable: Server,
  ) {}

  static async open(name: string, simulated: Machine): Promise<LabHost> {
    const [sda, sdb] = simulated.spec.disks
    const other = (await simulated.diskFile(sdb!.name))!
    const file = (await simulated.diskFile(sda!.name))!
    await mkdir(dirname(file), { recursive: true })
    await succeeds('truncate', '-s', String(sda!.size), file)
    await writeFile(other, randomBytes(4 * 2 ** 20))
    await succeeds('truncate', '-s', String(sdb!.size), other)
    const disk = await LoopDevice.attach(file)
    let live: SshMachine | undefined
    try {
      live = await SshMachine.open({ disk: disk.device })
      await live.stop()
      const cable = createServer()
      await new Promise<void>((resolve) => cable.listen(0, '127.0.0.1', resolve))
      const host = new LabHost(name, simulated, disk, other, live, cable)
      cable.on('connection', (socket) => host.#connect(socket))
      host.#following = host.#follow()
      return host
    } catch (error) {
      await live?.[Symbol.asyncDispose]()
      await disk[Symbol.asyncDispose]()
      throw error
    }
  }

  get port(): number {
    return (this.cable.address() as AddressInfo).port
  }

  /** How often its coreos-installer has begun to install. */
  async installs(): Promise<number> {
    const lines = await readFile(join(this.live.shared, 'installs'), 'utf8').catch(() => '')
    return lines.split('\n').filter((line) => line !== '').length
  }

  /** Cuts its link for good. */
  cut(): void {
    this.#isCut = true
    for (const socket of this.#sockets) socket.destroy()
  }

  /** Forgets what has happened to it, and plugs its link in again. */
  async reset(): Promise<void> {
    await this.simulated.setPower('off')
    this.#isCut = false
    this.boots.length = 0
    await writeFile(join(this.live.shared, 'installs'), '')
    // Only the beginning of the disk says what is on it.
    await succeeds('blkdiscard', '--force', this.disk.device)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#ended.abort()
    await this.#following
    this.cut()
    this.cable.close()
    await this.#installed?.[Symbol.asyncDispose]()
    await this.live[Symbol.asyncDispose]()
    await this.disk[Symbol.asyncDispose]()
  }

  #connect(socket: Socket): void {
    if (this.#isCut) return void socket.destroy()
    const onward = connect(this.live.ports.any, '127.0.0.1')
    for (const [one, other] of [
      [socket, onward],
      [onward, socket],
    ] as const) {
      this.#sockets.add(one)
      one
        .on('error', () => {})
        .on('close', () => {
          this.#sockets.delete(one)
          other.destroy()
        })
      one.pipe(other)
    }
  }

  /** Starts the system that the simulated machine has booted, and stops it with that boot. */
  async #follow(): Promise<void> {
    while (!this.#ended.signal.aborted) {
      const boot = this.simulated.boot()
      if (boot?.id !== this.#boot) {
        this.#boot = boot?.id
        await this.live.stop()
        await this.#installed?.[Symbol.asyncDispose]()
        this.#installed = undefined
        if (boot?.outcome === 'live' || boot?.outcome === 'ramdisk') {
          this.boots.push('live')
          await this.live.setBoot(boot.id)
          await this.live.start()
        } else if (boot?.outcome === 'disk' && this.simulated.firstBoot()?.failure === null) {
          this.boots.push('installed')
          this.#installed = await this.#startInstalled(boot.id)
        } else if (boot) this.boots.push(boot.outcome)
      }
      await sleep(50, undefined, { signal: this.#ended.signal }).catch(() => {})
    }
  }

  /** The system as its first boot has left it. */
  #startInstalled(bootId: string): Promise<SshMachine> {
    const { hostname, kernelArguments } = this.simulated.firstBoot()!
    const root = this.simulated.rootFiles()!
    const etc = ['ironstage-boot-nonce', 'greeting'].flatMap((name) => {
      const text = root.text(`/etc/${name}`)
      return text === undefined ? [] : [[name, text] as const]
    })
    return SshMachine.open({
      disk: this.disk.device,
      instead: this.live,
      newHostKeys: true,
      bootId,
      machineId: '3'.repeat(32),
      hostname: hostname ?? 'localhost',
      cmdline: kernelArguments.join(' '),
      etc: Object.fromEntries(etc),
    })
  }
}
