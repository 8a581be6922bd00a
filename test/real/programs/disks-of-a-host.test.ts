import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { REHEARSAL_IMAGE } from '../../../lab/index.js'
import { IRONSTAGE } from '../../kit/commands/up-process.js'
import { inspectDisk } from '../../../machine/index.js'
import { systemClock } from '../../../base/runtime/index.js'
import { realBinary } from '../coreos-installer.js'
import { onOwnKernel } from '../own-kernel.js'
import { debianProgram } from '../peers.js'
import { sshPackages } from '../ssh-machine.js'

/**
 * Arrays and volumes as the kernel makes them, on a kernel that surely has them and reads GPT itself: nothing here helps
 * the real coreos-installer. A step alone: a whole deployment asks an agent's machine for more than this kernel does in minutes.
 */

const peer = (name: string) => fileURLToPath(new URL(`../peers/${name}`, import.meta.url))

let place: string
let environment: Record<string, string>
beforeAll(async () => {
  place = await mkdtemp(join(tmpdir(), 'ironstage-disks-'))
  await debianProgram('mdadm', 'mdadm')
  await debianProgram('lvcreate', 'lvm2')
  await debianProgram('ssh-keygen', 'openssh-client')
  environment = {
    IRONSTAGE: `${process.execPath} ${IRONSTAGE}`,
    NODE: process.execPath,
    IMAGE: REHEARSAL_IMAGE,
    INSTALLER: await realBinary(),
    SSHD_TREE: await sshPackages(),
    IMAGES: peer('practice-images.mjs'),
    KIT: peer('disks-of-a-host.sh'),
  }
})
afterAll(() => rm(place, { recursive: true, force: true }))

/** The content of a disk after an installation, or during one. */
async function contentOf(name: string): Promise<'bootable' | 'nothing'> {
  const { table, boot } = await inspectDisk({ path: join(place, `${name}.img`) }, systemClock())
  return table === 'gpt' && boot !== null ? 'bootable' : 'nothing'
}

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
  echo "case $1 code $code; others \$(cmp -s "$FOLDER/before" "$FOLDER/$1" && echo equal || echo changed)"
  mv "$FOLDER/target.img" "$FOLDER/$1.img"
}
`.replaceAll('\\$', '$')

/** Succeeds, fails with the installer, and is killed with it while it writes. */
const RUNS = (fresh: string, over: string) => `
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

describe('a host with a data md array and a mounted LV', () => {
  test('keeps every byte of them over local installations that succeed, fail and are killed', async () => {
    const script = `${COMMON}
target=--target=local:$FOLDER/target.img
${RUNS('fresh_disk', 'losetup --associated $FOLDER/target.img --noheadings --output NAME | xargs -r losetup --detach')}
fresh_disk
for disk in $one $(readlink -f /dev/data/home); do
  target="--target=local:$disk --yes-erase=anything"; install good
  echo "refused $disk $code"
done
compared refused`
    const { code, out } = await onOwnKernel(place, script, environment)
    expect({ code }, out).toEqual({ code: 0 })
    expect(out).toMatch(/raid1 .*\/run\/data$/m)
    expect(out).toMatch(/lvm .*\/run\/volume$/m)
    expect(out).toContain('case succeeded code 0; others equal')
    expect(out).toContain('case failed code 1; others equal')
    expect(out).toContain('case killed code 137; others equal')
    expect(out.match(/^refused .* [12]$/gm)).toHaveLength(2)
    expect(out).toMatch(/case refused code [12]; others equal/)
    expect(await Promise.all(['succeeded', 'failed', 'killed'].map(contentOf))).toEqual([
      'bootable',
      'nothing',
      'nothing',
    ])
  }, 2_400_000)

  test('keeps every byte of them over installations through SSH that succeed, fail and are killed', async () => {
    const attach = `fresh_disk
loop=$(losetup --find --show --partscan "$FOLDER/target.img")
target="--target=ssh://root@127.0.0.1 --host-key=$pin --ssh-config=none --device=$loop --yes-erase=$FOLDER/target.img"`
    const over = 'losetup --detach $loop'
    const script = `${COMMON}
make_ssh
${RUNS(attach, over)}
${attach}
for path in $one:one $three:three; do
  target="--target=ssh://root@127.0.0.1 --host-key=$pin --ssh-config=none --device=\${path%%:*} --yes-erase=$FOLDER/\${path#*:}.img"
  install good; echo "refused $path $code"
done
${over}; compared refused`
    const { code, out } = await onOwnKernel(place, script, environment)
    expect({ code }, out).toEqual({ code: 0 })
    expect(out).toContain('case succeeded code 0; others equal')
    expect(out).toContain('case failed code 1; others equal')
    expect(out).toContain('case killed code 137; others equal')
    expect(out.match(/^refused .* 1$/gm)).toHaveLength(2)
    expect(out).toMatch(/is not touched: md\d+ is mounted on \/run\/data$/m)
    expect(out).toMatch(/is not touched: dm-\d+ is mounted on \/run\/volume$/m)
    expect(await Promise.all(['succeeded', 'failed', 'killed'].map(contentOf))).toEqual([
      'bootable',
      'nothing',
      'nothing',
    ])
    expect(await readFile(join(place, 'refused'), 'utf8')).toContain('precious')
  }, 2_400_000)
})
