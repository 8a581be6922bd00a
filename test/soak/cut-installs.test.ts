import { readFile, rm, writeFile } from 'node:fs/promises'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { REHEARSAL_IMAGE } from '../../lab/index.js'
import { inspectDisk } from '../../machine/index.js'
import { seededRandom, systemClock, randomUniform } from '../../base/runtime/index.js'
import { command } from '../kit/commands/command.js'
import { cuttableLink } from '../kit/cuttable-link.js'
import { MachineWithDisk } from '../real/machine-with-disk.js'

/** The real coreos-installer behind a real sshd: needs root. A minute or two for a hundred cuts. */

const CUTS = Number(process.env['SOAK_CUTS'] ?? 100)
const SEED = Number(process.env['SOAK_SEED'] ?? 7)
const clock = systemClock()

let target: MachineWithDisk
/** A server that the machine reaches directly, so that the installer does not notice a cut link. */
let images: Server
beforeAll(async () => {
  target = await MachineWithDisk.open({ size: '2G' })
  const image = await readFile(REHEARSAL_IMAGE)
  images = createServer((request, response) => {
    if (request.url === '/bad.raw.xz') return void response.end('<html>Please log in</html>')
    if (request.url !== '/good.raw.xz') return void response.writeHead(404).end()
    // The pause makes an installation of a small image take a second or two.
    response.writeHead(200, { 'content-length': image.length })
    const half = image.length >> 1
    response.write(image.subarray(0, half), () => setTimeout(() => response.end(image.subarray(half)), 1000))
  })
  await new Promise<void>((resolve) => images.listen(0, '127.0.0.1', resolve))
  await writeFile(join(target.home, 'c.ign'), JSON.stringify({ ignition: { version: '3.4.0' } }))
}, 600_000)
afterAll(async () => {
  images?.close()
  await target?.[Symbol.asyncDispose]()
})

const installs = async () =>
  (await readFile(join(target.machine.shared, 'installs'), 'utf8').catch(() => '')).split('\n').length - 1

async function deploy(port: number, bad: boolean) {
  const { port: imagePort } = images.address() as AddressInfo
  const image = `http://127.0.0.1:${imagePort}/${bad ? 'bad' : 'good'}.raw.xz`
  return command(
    [
      'deploy',
      ...(await target.targetOptions('root', port)),
      '--json',
      '--append-karg',
      'rehearsal=1',
      '--ignition',
      join(target.home, 'c.ign'),
      '--no-cache',
      '--image',
      image,
    ],
    { variables: { HOME: target.home, USER: 'tester' } },
  )
}

describe('deployments with the real coreos-installer through a real sshd', () => {
  test(`lose no outcome and install once each, over ${CUTS} cuts of the link at random moments`, async () => {
    await using link = await cuttableLink(target.machine.ports.any)
    const random = seededRandom(SEED)
    const since = performance.now()
    let cuts = 0
    let deployments = 0
    for (; cuts < CUTS; deployments++) {
      await rm(join(target.machine.shared, 'installs'), { force: true })
      // Every fourth deployment has to fail.
      const bad = deployments % 4 === 3
      const running = await deploy(link.port, bad)
      let over = false
      void running.ended.then(() => (over = true))
      await running.printed(/"stage":"deploy"/)
      while (!over && cuts < CUTS) {
        await clock.sleep(randomUniform(random, 0, 1500))
        if (over) break
        link.cut()
        cuts++
      }
      const code = await running.ended
      expect({ code, installs: await installs() }, running.stdout + running.stderr).toEqual({
        code: bad ? 1 : 0,
        installs: 1,
      })
      if (bad) expect(running.stderr).toContain('coreos-installer failed with code 1')
      const { partitions, boot } = await inspectDisk({ path: target.disk.file }, clock)
      const names = partitions.map(({ name }) => name)
      expect({ names, boots: boot !== null }).toEqual({
        names: bad ? [] : expect.arrayContaining(['boot']),
        boots: !bad,
      })
    }
    console.log(`${cuts} cuts over ${deployments} deployments in ${Math.round((performance.now() - since) / 1000)} s`)
  })
})
