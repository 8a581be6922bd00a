import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect } from 'vitest'
import { systemClock } from '../../base/runtime/index.js'
import { REHEARSAL_IMAGE } from '../../lab/index.js'
import { inspectDisk } from '../../machine/index.js'
import { IRONSTAGE } from '../kit/commands/up-process.js'
import { realBinary } from './coreos-installer.js'
import { onOwnKernel } from './own-kernel.js'
import { debianProgram } from './peers.js'
import { sshPackages } from './ssh-machine.js'

const peer = (name: string) => fileURLToPath(new URL(`./peers/${name}`, import.meta.url))

const COMMON = `
. "$KIT"
$NODE $IMAGES $IMAGE $FOLDER &
make_disks
others >"$FOLDER/before"
while [ ! -f "$FOLDER/port" ]; do sleep 0.1; done
url=http://127.0.0.1:$(cat "$FOLDER/port")
for way in good short wait; do
  printf '{"image_url":"%s","ignition":{"ignition":{"version":"3.4.0"}}}' "$url/$way" >"$FOLDER/$way.json"
done
step="$IRONSTAGE step run install_coreos --no-cache --installer $INSTALLER"
install() {
  code=0
  $step $target --args "$FOLDER/$1.json" || code=$?
}
compared() {
  others >"$FOLDER/$1"
  echo "case $1 code $code; others $(cmp -s "$FOLDER/before" "$FOLDER/$1" && echo equal || echo changed)"
  mv "$FOLDER/target.img" "$FOLDER/$1.img"
}
`

/**
 * Shell text: an installation that succeeds, one that fails with the installer, and one that is killed with it while it
 * writes.
 *
 * @param fresh makes an empty disk and sets `$target`
 * @param over lets go of the disk
 */
export const installations = (fresh: string, over: string) => `
${fresh}
install good; ${over}; compared succeeded
${fresh}
install short; ${over}; compared failed
${fresh}
rm -f $FOLDER/half
$step $target --args $FOLDER/wait.json >/dev/null 2>&1 &
while [ ! -f $FOLDER/half ] && kill -0 $!; do sleep 0.1; done
pkill -9 -x coreos-installe
kill -9 $!
wait $! || code=$?
${over}; compared killed
`

/**
 * A host whose other disks carry arrays and volumes as the kernel makes them, on a kernel that surely has them and reads
 * GPT itself: nothing here helps the real coreos-installer. A step alone: a whole deployment asks an agent's machine for
 * more than this kernel does in minutes.
 */
export class HostWithDisks {
  readonly #place: string
  readonly #environment: Readonly<Record<string, string>>

  private constructor(place: string, environment: Readonly<Record<string, string>>) {
    this.#place = place
    this.#environment = environment
  }

  static async open(): Promise<HostWithDisks> {
    await debianProgram('mdadm', 'mdadm')
    await debianProgram('lvcreate', 'lvm2')
    await debianProgram('ssh-keygen', 'openssh-client')
    const environment = {
      IRONSTAGE: `${process.execPath} ${IRONSTAGE}`,
      NODE: process.execPath,
      IMAGE: REHEARSAL_IMAGE,
      INSTALLER: await realBinary(),
      SSHD_TREE: await sshPackages(),
      IMAGES: peer('practice-images.mjs'),
      KIT: peer('disks-of-a-host.sh'),
    }
    return new HostWithDisks(await mkdtemp(join(tmpdir(), 'ironstage-disks-')), environment)
  }

  /** A file that a script left in `$FOLDER`. */
  path(name: string): string {
    return join(this.#place, name)
  }

  /** Runs shell text after the common part; what it printed shows three installations that left the other disks alone. */
  async keepsOtherDisks(script: string): Promise<string> {
    const { code, out } = await onOwnKernel(this.#place, `${COMMON}\n${script}`, this.#environment)
    expect({ code }, out).toEqual({ code: 0 })
    expect(out).toContain('case succeeded code 0; others equal')
    expect(out).toContain('case failed code 1; others equal')
    expect(out).toContain('case killed code 137; others equal')
    const contents = ['succeeded', 'failed', 'killed'].map((name) => this.#contentOf(name))
    expect(await Promise.all(contents)).toEqual(['bootable', 'nothing', 'nothing'])
    return out
  }

  /** The content of a disk after an installation, or during one. */
  async #contentOf(name: string): Promise<'bootable' | 'nothing'> {
    const { table, boot } = await inspectDisk({ path: this.path(`${name}.img`) }, systemClock())
    return table === 'gpt' && boot !== null ? 'bootable' : 'nothing'
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await rm(this.#place, { recursive: true, force: true })
  }
}
