import { mkdir, mkdtemp, rm, symlink } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { LoopDevice } from './loop-device.js'
import { SshMachine } from './ssh-machine.js'

/** A machine behind a real sshd whose disk is a loop device, and a user of this host who may log in. Needs root. */
export class MachineWithDisk implements AsyncDisposable {
  private constructor(
    /** The home folder of the user; the file of the disk is in it too. */
    readonly home: string,
    readonly disk: LoopDevice,
    readonly machine: SshMachine,
  ) {}

  static async open({ size = '1G', systemd = false } = {}): Promise<MachineWithDisk> {
    const home = await mkdtemp(join(tmpdir(), 'ironstage-with-disk-'))
    let disk: LoopDevice | undefined
    try {
      disk = await LoopDevice.create(join(home, 'disk.img'), size)
      const machine = await SshMachine.open({ disk: disk.device, systemd })
      await mkdir(join(home, '.ssh'), { mode: 0o700 })
      await symlink(machine.keys.key, join(home, '.ssh/id_ed25519'))
      return new MachineWithDisk(home, disk, machine)
    } catch (error) {
      await disk?.[Symbol.asyncDispose]()
      await rm(home, { recursive: true, force: true })
      throw error
    }
  }

  /** Options of a command that has this machine's disk for its target. */
  async targetOptions(user = 'root', port = this.machine.ports.any): Promise<string[]> {
    return [
      '--target',
      `ssh://${user}@127.0.0.1:${port}`,
      '--device',
      this.disk.device,
      '--yes-erase',
      this.disk.file,
      '--host-key',
      await this.machine.hostKey(),
      '--ssh-config',
      'none',
    ]
  }

  async [Symbol.asyncDispose](): Promise<void> {
    try {
      await this.machine[Symbol.asyncDispose]()
    } finally {
      await this.disk[Symbol.asyncDispose]()
      await rm(this.home, { recursive: true, force: true })
    }
  }
}
