import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { REHEARSAL_IMAGE } from '../../../lab/index.js'
import { inspectDisk } from '../../../machine/index.js'
import { systemClock } from '../../../base/runtime/index.js'
import { attachedTo, beside, LocalHost, localTools } from '../local-host.js'

/** Faults while the real coreos-installer writes a loop device: the final states of node and disk. */

const peer = (name: string) => fileURLToPath(new URL(`../peers/${name}`, import.meta.url))
const MIB = 2 ** 20

let place: string
let tools: { preload: string; installer: string }
let host: LocalHost
let before: Record<string, string>
beforeAll(async () => {
  place = await mkdtemp(join(tmpdir(), 'ironstage-faults-'))
  tools = await localTools(place)
  await writeFile(join(place, 'c.ign'), JSON.stringify({ ignition: { version: '3.4.0' } }))
  const killing = join(place, 'killing')
  await writeFile(killing, KILLED_AT_A_LINE)
  await chmod(killing, 0o755)
  host = await LocalHost.open(join(place, 'host'))
  before = await host.others()
})
afterEach(async () => {
  expect(await host.others()).toEqual(before)
  expect(await attachedTo(host.disk)).toBe('')
})
afterAll(async () => {
  await host?.[Symbol.asyncDispose]()
  await rm(place, { recursive: true, force: true })
})

/** Kills the installer once it has printed as many lines as the file says. */
const KILLED_AT_A_LINE = `#!/bin/sh
read -r at <"$0.at"
said=$TMPDIR/said
mkfifo "$said"
coreos-installer "$@" 2>"$said" &
pid=$!
n=0
while IFS= read -r line; do
  printf '%s\\n' "$line" >&2
  case $line in *'Read disk'*) continue ;; esac
  n=$((n + 1))
  [ "$n" != "$at" ] || kill -9 "$pid" 2>/dev/null
done <"$said"
rm -f "$said"
wait "$pid"
`

/** Starts an image server; `$url` then is where it is. */
const SERVED = `
rm -f ${'$place'}/half ${'$place'}/go ${'$place'}/port
${process.execPath} ${peer('practice-images.mjs')} ${REHEARSAL_IMAGE} $place &
server=$!
while [ ! -f $place/port ]; do sleep 0.05; done
url=http://127.0.0.1:$(cat $place/port)
`

async function outcome(script: string) {
  const { code, out } = await beside(host, tools, `place=${place}\n${SERVED}\n${script}\nkill $server`)
  const { partitions, boot } = await inspectDisk({ path: host.disk }, systemClock())
  return {
    code,
    out,
    state: out
      .match(/"provision_state":"[^"]*"/g)
      ?.at(-1)
      ?.slice('"provision_state":"'.length, -1),
    disk: partitions.some(({ name }) => name === 'boot') || boot !== null ? 'bootable' : 'nothing to boot',
  }
}

/** The installer fetches the image by itself, so that it is the one that meets the server. */
const deploy = (image: string, more = '') =>
  `$ironstage deploy --target local:${host.disk} --ignition $place/c.ign --json --image ${image} --no-cache ${more} || echo "ended with $?"`

const FAILED = { code: 0, state: 'deploy failed', disk: 'nothing to boot' }

describe('an image server', () => {
  test.each([
    ['breaks off', '$url/break', /end of file before message length reached \(3 attempts\)/],
    ['resets the connection', '$url/reset', /Connection reset by peer.*\(3 attempts\)/],
    [
      'ends too early, in order',
      '$url/short',
      /coreos-installer failed with code 1: Error: decoding and writing image/,
    ],
    ['says that it has less than it sends', '$url/less', /coreos-installer failed with code 1/],
    ['says that it has more than it sends', '$url/more', /end of file before message length reached \(3 attempts\)/],
    ['shows a page in HTML', '$url/html', /coreos-installer failed with code 1/],
    ['has no such image', '$url/none', /HTTP status client error \(404 Not Found\)/],
  ])('that %s', async (_, image, why) => {
    await host.freshDisk()
    const { out, ...ended } = await outcome(deploy(image))
    expect(ended, out).toEqual(FAILED)
    expect(out).toContain('ended with 1')
    expect(out).toMatch(why)
  })

  test('that goes on after a long silence only delays', async () => {
    await host.freshDisk()
    const { out, ...ended } =
      await outcome(`(while [ ! -f $place/half ]; do sleep 0.1; done; sleep 8; touch $place/go) &
${deploy('$url/wait')}`)
    expect(ended, out).toEqual({ code: 0, state: 'active', disk: 'bootable' })
  })
})

describe('a disk', () => {
  test('that is pulled when so many bytes were written', async () => {
    for (const mib of [1, 8, 24]) {
      await host.freshDisk()
      // A loop device that is open cannot be detached; one that has lost its bytes answers as one that was.
      const { out, ...ended } = await outcome(`(while [ ! -f $place/half ]; do sleep 0.05; done
loop=$(losetup --associated ${host.disk} --noheadings --output NAME)
# Bytes that are still on their way to the file make it long again.
until [ "$(cat /sys/block/\${loop##*/}/size)" = ${mib * 2048} ]; do truncate -s ${mib}M ${host.disk}; losetup --set-capacity $loop; done
touch $place/go) &
${deploy('$url/wait')}`)
      expect(ended, out).toEqual(FAILED)
      expect(out).toMatch(/coreos-installer failed with code 1: Error: .*\(os error (5|22|28)\)/)
    }
  })

  test('whose bytes have no room (ENOSPC)', async () => {
    const file = join(host.folder, 'small', 'disk.img')
    const { code, out } = await beside(
      host,
      tools,
      `mkdir -p ${host.folder}/small
mount -t tmpfs -o size=${12 * MIB} none ${host.folder}/small
truncate -s 256M ${file}
$ironstage deploy --target local:${file} --ignition ${place}/c.ign --json || echo "ended with $?"
losetup --associated ${file}
cp --sparse=always ${file} ${host.disk}`,
    )
    expect({ code }, out).toEqual({ code: 0 })
    expect(out).toMatch(/ended with 1$/m)
    expect(out).toMatch(/coreos-installer failed with code 1: Error: .*(No space left on device|Input\/output error)/)
    const { partitions } = await inspectDisk({ path: host.disk }, systemClock())
    expect(partitions).toEqual([])
  })
})

describe('the installer', () => {
  test('that is killed at each of its lines', async () => {
    let killed = 0
    for (let at = 1; at < 20; at++) {
      await host.freshDisk()
      await writeFile(join(place, 'killing.at'), `${at}\n`)
      const { out, ...ended } = await outcome(deploy('$url/good', `--installer ${join(place, 'killing')}`))
      if (ended.state === 'active') {
        expect(ended.disk).toBe('bootable')
        break
      }
      expect(ended, `at line ${at}: ${out}`).toEqual(FAILED)
      killed++
    }
    // As many as it has, apart from its progress; after the last it may have ended by itself.
    expect(killed).toBeGreaterThanOrEqual(4)
  })
})
