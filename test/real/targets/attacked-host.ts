import { spawn, type ChildProcess } from 'node:child_process'
import { chmod, cp, link, mkdir, open, rename, rm, symlink, writeFile } from 'node:fs/promises'
import { createServer, type AddressInfo, type Server } from 'node:net'
import { join } from 'node:path'
import { SHELL_ATTACKS, type Attack } from './attacks.js'
import { exists } from '../peer-cache.js'
import { debianProgram, peer, tool } from '../peers.js'

const MIB = 2 ** 20
/** Name of a service's socket, which is in no folder. */
const ABSTRACT = `ironstage-canary-${process.pid}`

/** Disks, files, a process and services of this host that no step may touch. Needs root. */
export class AttackedHost implements AsyncDisposable {
  readonly #place: string
  readonly #undo: (() => Promise<unknown>)[] = []
  #process: ChildProcess | undefined
  #spoken = 0
  #victim = ''
  #mounted = ''
  #named = ''
  #port = 0
  #perl = ''

  private constructor(
    place: string,
    /** Seen by the same name where the attacks run. */
    readonly folder: string,
  ) {
    this.#place = place
  }

  /**
   * @param place has the files behind the disks
   * @param folder is seen by the same name where the attacks run
   */
  static async open(place: string, folder: string): Promise<AttackedHost> {
    const host = new AttackedHost(place, folder)
    try {
      await host.#build()
      return host
    } catch (error) {
      await host[Symbol.asyncDispose]()
      throw error
    }
  }

  /** The words that attacks are given. */
  words(named: string): Record<string, string> {
    const name = this.#victim.replace('/dev/', '')
    return {
      VICTIM: this.#victim,
      NAME: name,
      NUMBER: this.#named,
      FILE: join(this.#place, 'victim.img'),
      MOUNTED: this.#mounted,
      CANARY: join(this.folder, 'canary'),
      FOLDER: this.folder,
      NAMED: named,
      HOST_PID: String(this.#process?.pid),
      UNIX: join(this.folder, 'service.sock'),
      ABSTRACT,
      SOCKETS: join(this.folder, 'sockets'),
      CALLS: join(this.folder, 'calls'),
      PORT: String(this.#port),
      NODE: process.execPath,
      PERL: this.#perl,
    }
  }

  /** Everything that attacks are after, as it is now. */
  async state(): Promise<string> {
    const { stdout } = await tool(
      'sh',
      '-c',
      `blockdev --flushbufs "$1"; sha256sum <"$1"; sha256sum <"$2/victim.img"; blockdev --getro "$1"; cat "/sys/block/\${1#/dev/}/loop/backing_file"
for t in "$3/canary" "$2/mounted"; do ( cd "$t"; find . -exec stat -c '%n %F %a %u %g %s %Y %N' {} + | sort; find . -type f -exec sha256sum {} + | sort ); done
losetup --list --noheadings --output NAME,BACK-FILE | grep -E "$2/(victim|mounted)"
ls -l /dev/canary* /dev/shm/canary* /etc/ironstage-canary /etc/udev/rules.d/99-canary.rules /run/ironstage/canary /run/ironstage/loops/canary 2>/dev/null
cat /proc/sys/kernel/core_pattern; hostname; ipcs -m | awk '$5 == 64' | grep -c .; ip -o link show lo; grep -o 'user *ironstage-.*' /proc/keys; cat "$5"; ps -eo args | grep -c '[s]leep 987654'; kill -0 "$4" && echo alive`,
      ...['state', this.#victim, this.#place, this.folder, String(this.#process?.pid), join(this.#place, 'heard')],
    )
    return `${stdout}spoken to ${this.#spoken} times`
  }

  /** As it was, after an attack that nothing guarded against. */
  async restore(): Promise<void> {
    await tool('losetup', '--detach', this.#victim)
    await cp(join(this.#place, 'pristine.img'), join(this.#place, 'victim.img'), { force: true })
    await attachedAgain(this.#victim, join(this.#place, 'victim.img'))
    await done('blockdev', '--setrw', this.#victim)
    await rm(join(this.folder, 'canary'), { recursive: true, force: true })
    await this.#canary()
    await rm(join(this.#place, 'mounted/other'), { force: true })
    await done('touch', '-d', '2020-02-02', join(this.#place, 'mounted'))
    await tool('sh', '-c', `ipcs -m | awk '$5 == 64 && $6 == 0 { print $2 }' | xargs -r -n1 ipcrm -m`)
    await tool('keyctl', 'purge', 'user', 'ironstage-canary')
    await writeFile(join(this.#place, 'heard'), '')
    this.#spoken = 0
    if (this.#process?.exitCode === null && this.#process.signalCode === null) return
    this.#process = spawn('sleep', ['3600'], { stdio: 'ignore' })
  }

  /** Files of all attacks, and a script that runs them one after the other, saying `NUMBER GOT` for what was got. */
  async script(named: string, attacks: readonly Attack[] = SHELL_ATTACKS): Promise<string> {
    const words = Object.entries(this.words(named)).map(([name, value]) => `${name}='${value}'`)
    await rm(join(this.folder, 'attacks'), { recursive: true, force: true })
    await mkdir(join(this.folder, 'attacks'))
    for (const [n, { text }] of attacks.entries())
      await writeFile(join(this.folder, 'attacks', `${100 + n}`), `${text}\n`)
    const path = join(this.folder, 'run-attacks')
    await writeFile(
      path,
      `${words.join('\n')}
export ${words.map((word) => word.split('=')[0]).join(' ')} T
for f in ${this.folder}/attacks/*; do
  T=$(mktemp -d) || exit 1
  timeout -k 1 10 sh "$f" </dev/null 2>&1 | grep -a '^GOT' | sed "s/^/\${f##*/} /"
done
echo all done
`,
    )
    return path
  }

  async #build(): Promise<void> {
    const file = (name: string) => join(this.#place, name)
    for (const [name, mib] of [
      ['pristine.img', 8],
      ['mounted.img', 8],
    ] as const) {
      await done('truncate', '-s', `${mib * MIB}`, file(name))
      await done('mke2fs', '-q', '-F', '-t', 'ext2', file(name))
    }
    await cp(file('pristine.img'), file('victim.img'))
    this.#victim = await this.#attachVictim(file('victim.img'))
    this.#named = (await done('cat', `/sys/block/${this.#victim.replace('/dev/', '')}/dev`)).trim()
    this.#mounted = await this.#attach(file('mounted.img'))
    await mkdir(file('mounted'))
    await done('mount', this.#mounted, file('mounted'))
    this.#undo.push(() => tool('umount', file('mounted')))
    await done('touch', '-d', '2020-02-02', file('mounted'))
    await this.#canary()
    await symlink(this.#victim, join(this.folder, 'link'))
    await mkdir(join(this.folder, 'bin'))
    await writeFile(join(this.folder, 'bin/sync'), '#!/bin/sh\nfor last; do echo destroyed >"$last"; done\n')
    await chmod(join(this.folder, 'bin/sync'), 0o755)
    this.#process = spawn('sleep', ['3600'], { stdio: 'ignore' })
    await this.#serve(join(this.folder, 'service.sock'))
    await this.#serve(`\0${ABSTRACT}`)
    this.#port = ((await this.#serve(0)).address() as AddressInfo).port
    await this.#serveInFolder(join(this.folder, 'sockets'))
    this.#perl = (await done('sh', '-c', 'command -v perl')).trim()
    await debianProgram('gcc', 'gcc')
    await done('gcc', '-O1', '-Wall', '-o', join(this.folder, 'calls'), peer('attack-calls.c'))
    await debianProgram('keyctl', 'keyutils')
    const key = (await done('keyctl', 'add', 'user', 'ironstage-host-secret', 'precious', '@u')).trim()
    this.#undo.push(() => tool('keyctl', 'unlink', key, '@u'))
  }

  /** A service that counts who speaks to it. */
  async #serve(at: string | number): Promise<Server> {
    const server = createServer((socket) => {
      this.#spoken++
      socket.on('error', () => {}).destroy()
    })
    await listening(server, at)
    this.#undo.push(() => new Promise((resolve) => server.close(resolve)))
    return server
  }

  /** Sockets by names that are hard to find: /proc/net/unix has the words that they were bound by. */
  async #serveInFolder(folder: string): Promise<void> {
    await mkdir(join(folder, 'real'), { recursive: true })
    await symlink(join(folder, 'real'), join(folder, 'link'))
    for (const name of ['plain', 'with space', 'a~b', 'a#b', 'ü', 'link/linked', 'hard0', 'renamed0', 'real/there'])
      await this.#serve(join(folder, `${name}.sock`))
    await link(join(folder, 'hard0.sock'), join(folder, 'hard.sock'))
    await rename(join(folder, 'renamed0.sock'), join(folder, 'renamed.sock'))
    await mkdir(join(folder, 'second'))
    await done('mount', '--bind', join(folder, 'real'), join(folder, 'second'))
    this.#undo.push(() => tool('umount', join(folder, 'second')))
    const heard = await open(join(this.#place, 'heard'), 'a')
    const other = spawn('perl', [peer('odd-services.pl')], { cwd: folder, stdio: ['ignore', heard.fd, 'inherit'] })
    this.#undo.push(() => Promise.resolve(other.kill('SIGKILL')))
    await heard.close()
    while (!(await exists(join(folder, 'ready')))) await new Promise((resolve) => setTimeout(resolve, 20))
  }

  async #canary(): Promise<void> {
    await mkdir(join(this.folder, 'canary'))
    await writeFile(join(this.folder, 'canary/file'), 'precious\n')
    await done('touch', '-d', '2020-02-02', join(this.folder, 'canary/file'), join(this.folder, 'canary'))
  }

  /**
   * Attaches the victim to a high number, with free numbers below it: an attack may free it, and a test that runs at
   * the same
   * time and asks the kernel for a free loop device gets the lowest one.
   */
  async #attachVictim(path: string): Promise<string> {
    for (let number = 100; number < 116; number++) {
      await tool('losetup', `/dev/loop${number}`, path)
      await tool('losetup', '--detach', `/dev/loop${number}`)
    }
    // Another run of these attacks may be at work on this host.
    for (let number = 116; number < 132; number++) {
      const device = `/dev/loop${number}`
      const { code } = await tool('losetup', device, path)
      if (code !== 0) continue
      this.#undo.push(() => tool('losetup', '--detach', device))
      return device
    }
    throw new Error(`no loop device from 116 to 131 takes ${path}`)
  }

  async #attach(path: string): Promise<string> {
    const device = (await done('losetup', '--find', '--show', path)).trim()
    this.#undo.push(() => tool('losetup', '--detach', device))
    return device
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#process?.kill('SIGKILL')
    for (const undo of this.#undo.reverse()) await undo()
  }
}

const listening = (server: Server, at: string | number): Promise<void> =>
  new Promise((resolve, reject) => {
    server.once('error', reject)
    if (typeof at === 'number') server.listen(at, '127.0.0.1', resolve)
    else server.listen(at, resolve)
  })

/** A program of another test that has the device open, to list all of them, delays the end of a detached one. */
async function attachedAgain(device: string, path: string): Promise<void> {
  for (let left = 100; ; left--) {
    const { code, stderr } = await tool('losetup', device, path)
    if (code === 0) return
    if (left === 0 || !stderr.includes('busy')) throw new Error(`losetup ${device} ${path}: ${stderr}`)
    await new Promise((resolve) => setTimeout(resolve, 100))
  }
}

async function done(...argv: [string, ...string[]]): Promise<string> {
  const { code, stdout, stderr } = await tool(...argv)
  if (code !== 0) throw new Error(`${argv.join(' ')}: ${stderr}`)
  return stdout
}
