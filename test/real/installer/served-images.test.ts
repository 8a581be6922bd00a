import { execFile } from 'node:child_process'
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { agentConfig, openImageService } from '../../../coreos/index.js'
import { createStagedLab } from '../../../lab/index.js'
import { seededRandom, silent, systemClock } from '../../../base/runtime/index.js'
import { imageServer, machineOf } from '../../kit/deployed.js'
import { liveFiles, type LiveArchitecture } from '../../kit/images/live-iso.js'
import { realBinary } from '../coreos-installer.js'
import { debianProgram } from '../peers.js'

const run = promisify(execFile)
let real: string
let scratch: string

beforeAll(async () => {
  await debianProgram('xorriso', 'xorriso')
  await debianProgram('curl', 'curl')
  real = await realBinary()
  scratch = await mkdtemp(join(tmpdir(), 'ironstage-served-real-'))
})
afterAll(() => rm(scratch, { recursive: true, force: true }))

async function xorriso(architecture: LiveArchitecture, name: string = architecture): Promise<string> {
  const folder = join(scratch, `${name}.files`)
  for (const [path, bytes] of Object.entries(liveFiles(architecture))) {
    await mkdir(dirname(join(folder, path)), { recursive: true })
    await writeFile(join(folder, path), bytes)
  }
  const image = join(scratch, `${name}.iso`)
  await run('xorriso', ['-as', 'mkisofs', '-quiet', '-V', 'fake-coreos-99', '-o', image, folder])
  return image
}

const CONFIG = JSON.stringify(agentConfig({ ironicUrls: ['http://192.0.2.1:6385'] }))

test.each<LiveArchitecture>(['x86_64', 'aarch64', 'ppc64le', 's390x'])(
  'what is served for %s is what the real coreos-installer reads, also when curl takes it in parts',
  async (architecture) => {
    const published = await xorriso(architecture)
    await using images = await openImageService({
      files: [{ architecture, iso: published }],
      config: CONFIG,
      secret: 's',
      host: '127.0.0.1',
      port: 0,
      clock: systemClock(),
      random: seededRandom(1),
      logger: silent,
    })
    const urls = images.publish('n', architecture)!
    const iso = join(scratch, `${architecture}.served.iso`)
    const initramfs = join(scratch, `${architecture}.initramfs`)
    await run('curl', ['-sf', '-r', '0-99999', '-o', iso, urls.iso!])
    await run('curl', ['-sf', '-C', '-', '-o', iso, urls.iso!])
    await run('curl', ['-sf', '-o', initramfs, urls.pxe!.ramdisk])
    expect((await run(real, ['iso', 'ignition', 'show', iso])).stdout).toBe(CONFIG)
    expect((await run(real, ['pxe', 'ignition', 'unwrap', initramfs])).stdout).toBe(CONFIG)
    await run(real, ['iso', 'reset', iso])
    expect((await readFile(iso)).equals(await readFile(published))).toBe(true)
  },
)

test('a simulated machine boots an ISO that the real coreos-installer has customised', async () => {
  const iso = join(scratch, 'custom.iso')
  const config = join(scratch, 'agent.ign')
  await using lab = await createStagedLab({ conf: { fetchBootImages: true } })
  await writeFile(config, JSON.stringify(agentConfig({ ironicUrls: [lab.url] })))
  await run(real, ['iso', 'ignition', 'embed', '-i', config, '-o', iso, await xorriso('x86_64', 'published')])
  await run(real, ['iso', 'kargs', 'modify', '-a', 'console=ttyS0', iso])
  await using server = await imageServer({ '/custom.iso': await readFile(iso) })
  const { bmc } = lab.spec(1)
  const node = await lab.enroll({
    fields: {
      boot_interface: 'redfish-virtual-media',
      driver_info: {
        redfish_address: `http://${bmc!.address}`,
        redfish_system_id: `/redfish/v1/Systems/${bmc!.systemId}`,
        deploy_iso: server.url('/custom.iso'),
      },
    },
  })
  await node.makeAvailable()
  const { kernelArguments } = (await machineOf(node)).lastBoot()!.live!
  expect(kernelArguments).toMatch(/ignition\.platform\.id=metal console=ttyS0$/)
})
