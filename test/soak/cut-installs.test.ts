import { execFile } from 'node:child_process'
import { mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { REHEARSAL_IMAGE } from '../../lab/index.js'
import { inspectDisk } from '../../machine/index.js'
import { seededRandom, systemClock, uniform } from '../../runtime/index.js'
import { command } from '../kit/commands/command.js'
import { cuttableWay } from '../kit/cuttable-way.js'
import { SshMachine } from '../real/ssh-machine.js'

/** The real coreos-installer behind a real sshd: needs root. A minute or two for a hundred cuts. */

const run = promisify(execFile)
const CUTS = Number(process.env['SOAK_CUTS'] ?? 100)
const SEED = Number(process.env['SOAK_SEED'] ?? 7)
const clock = systemClock()

let place: string
let disk: string
let loop: string
let machine: SshMachine
/** What the machine reaches by itself: a link that is cut takes nothing from the installer. */
let images: Server
beforeAll(async () => {
  place = await mkdtemp(join(tmpdir(), 'ironstage-cut-'))
  disk = join(place, 'disk.img')
  await run('truncate', ['-s', '2G', disk])
  loop = (await run('losetup', ['--find', '--show', '--partscan', disk])).stdout.trim()
  machine = await SshMachine.open({ disk: loop })
  await mkdir(join(place, '.ssh'), { mode: 0o700 })
  await symlink(machine.keys.key, join(place, '.ssh/id_ed25519'))
  const image = await readFile(REHEARSAL_IMAGE)
  images = createServer((request, response) => {
    if (request.url === '/bad.raw.xz') return void response.end('<html>Please log in</html>')
    if (request.url !== '/good.raw.xz') return void response.writeHead(404).end()
    // An installation of a second or two, most of which is not the image's.
    response.writeHead(200, { 'content-length': image.length })
    const half = image.length >> 1
    response.write(image.subarray(0, half), () => setTimeout(() => response.end(image.subarray(half)), 1000))
  })
  await new Promise<void>((resolve) => images.listen(0, '127.0.0.1', resolve))
  await writeFile(join(place, 'c.ign'), JSON.stringify({ ignition: { version: '3.4.0' } }))
}, 600_000)
afterAll(async () => {
  await machine?.[Symbol.asyncDispose]()
  if (machine) await rm(machine.keys.folder, { recursive: true, force: true })
  images?.close()
  if (loop) await run('losetup', ['--detach', loop])
  await rm(place, { recursive: true, force: true })
})

const installs = async () =>
  (await readFile(join(machine.shared, 'installs'), 'utf8').catch(() => '')).split('\n').length - 1

async function deploy(port: number, bad: boolean) {
  const { port: imagePort } = images.address() as AddressInfo
  const image = `http://127.0.0.1:${imagePort}/${bad ? 'bad' : 'good'}.raw.xz`
  return command(
    [
      ...['deploy', '--target', `ssh://root@127.0.0.1:${port}`, '--device', loop, '--yes-erase', disk],
      ...['--host-key', await machine.hostKey(), '--ssh-config', 'none', '--json', '--append-karg', 'rehearsal=1'],
      ...['--ignition', join(place, 'c.ign'), '--no-cache', '--image', image],
    ],
    { variables: { HOME: place, USER: 'tester' } },
  )
}

describe('deployments with the real coreos-installer through a real sshd', () => {
  test(`lose no outcome and install once each, over ${CUTS} cuts of the link at random moments`, async () => {
    await using way = await cuttableWay(machine.ports.any)
    const random = seededRandom(SEED)
    const since = performance.now()
    let cuts = 0
    let deployments = 0
    for (; cuts < CUTS; deployments++) {
      await rm(join(machine.shared, 'installs'), { force: true })
      // Now and then one that fails: that is an outcome too.
      const bad = deployments % 4 === 3
      const running = await deploy(way.port, bad)
      let over = false
      void running.ended.then(() => (over = true))
      await running.printed(/"stage":"deploy"/)
      while (!over && cuts < CUTS) {
        await clock.sleep(uniform(random, 0, 1500))
        if (over) break
        way.cut()
        cuts++
      }
      const code = await running.ended
      expect({ code, installs: await installs() }, running.stdout + running.stderr).toEqual({
        code: bad ? 1 : 0,
        installs: 1,
      })
      if (bad) expect(running.stderr).toContain('coreos-installer failed with code 1')
      const { partitions, boot } = await inspectDisk({ path: disk }, clock)
      const names = partitions.map(({ name }) => name)
      expect({ names, boots: boot !== null }).toEqual({
        names: bad ? [] : expect.arrayContaining(['boot']),
        boots: !bad,
      })
    }
    console.log(`${cuts} cuts over ${deployments} deployments in ${Math.round((performance.now() - since) / 1000)} s`)
  })
})
