import { mkdir, rm, symlink, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { DISK_FUNCTIONS } from '../../targets/disks/guard-script.js'
import { inShells } from './commands/in-shells.js'

/** Fake sysfs, procfs and /dev of a host; a device node is a file with its number. */
export class FakeDisks {
  constructor(readonly root: string) {}
  #minor = 0

  /** Runs shell text with the functions of the disk guard over this host; what each shell prints, and its errors. */
  run(text: string): { stdout: string; stderr: string }[] {
    const script = `
refuse() { printf 'refused: %s\\n' "$1"; exit 0; }
${DISK_FUNCTIONS}
sys=$1/sys proc=$1/proc dev=$1/dev own=/run/ironstage base=$1/own
node() { [ -f "$1" ] && cat "$1"; }
udevadm() { return 1; }
${text}`
    return inShells(script, this.root)
  }

  async file(path: string, text: string): Promise<void> {
    await mkdir(dirname(join(this.root, path)), { recursive: true })
    await writeFile(join(this.root, path), text)
  }

  async #device(name: string, at: string): Promise<string> {
    const number = `8:${this.#minor++}`
    await this.file(`sys/devices/${at}/dev`, `${number}\n`)
    await this.file(`dev/${name}`, number)
    for (const folder of ['class/block', 'dev/block']) await mkdir(join(this.root, 'sys', folder), { recursive: true })
    const path = join(this.root, 'sys/devices', at)
    await symlink(path, join(this.root, 'sys/class/block', name))
    await symlink(path, join(this.root, 'sys/dev/block', number))
    return number
  }

  async disk(name: string, files: Record<string, string> = {}): Promise<string> {
    const number = await this.#device(name, name)
    await this.file(`sys/devices/${name}/size`, '1000\n')
    for (const [path, text] of Object.entries(files)) await this.file(`sys/devices/${name}/${path}`, text)
    await mkdir(join(this.root, 'sys/block'), { recursive: true })
    await symlink(join(this.root, 'sys/devices', name), join(this.root, 'sys/block', name))
    return number
  }

  async partition(disk: string, name: string): Promise<string> {
    await this.file(`sys/devices/${disk}/${name}/partition`, '1\n')
    return this.#device(name, `${disk}/${name}`)
  }

  /** Adds a device-mapper device or array over others. */
  async over(name: string, below: readonly string[], files: Record<string, string> = {}): Promise<string> {
    const number = await this.disk(name, files)
    for (const one of below) {
      const at = join(this.root, 'sys/class/block', one)
      await mkdir(join(at, 'holders'), { recursive: true })
      await symlink(join(this.root, 'sys/devices', name), join(at, 'holders', name))
      await mkdir(join(this.root, 'sys/devices', name, 'slaves'), { recursive: true })
      await symlink(at, join(this.root, 'sys/devices', name, 'slaves', one))
    }
    return number
  }

  async mounts(entries: Record<string, string>, process = '1'): Promise<void> {
    const lines = Object.entries(entries).map(([number, at], n) => `${n} 1 ${number} / ${at} rw - ext4 /dev/x rw\n`)
    await this.file(`proc/${process}/mountinfo`, lines.join(''))
  }

  /** Plugs a disk in: `controllers` are the folders of sysfs above it, each `NAME` or `NAME BUS`. */
  async plug(disk: string, controllers: readonly string[]): Promise<void> {
    let at = 'sys/devices'
    for (const controller of controllers) {
      const [name = '', bus] = controller.split(' ')
      at = join(at, name)
      await mkdir(join(this.root, at), { recursive: true })
      if (bus === undefined) continue
      await mkdir(join(this.root, 'sys/bus', bus), { recursive: true })
      await rm(join(this.root, at, 'subsystem'), { force: true })
      await symlink(join(this.root, 'sys/bus', bus), join(this.root, at, 'subsystem'))
    }
    const link = join(this.root, 'sys/devices', disk, 'device')
    await rm(link, { force: true })
    await symlink(join(this.root, at), link)
  }
}
