import { expect, test } from 'vitest'
import { LabClock, silent, systemRandom } from '../../base/runtime/index.js'
import { openBootFiles, type BootFilesOptions } from './boot-files.js'

const files = (options: Partial<BootFilesOptions> = {}) =>
  openBootFiles({
    host: '127.0.0.1',
    port: 0,
    advertise: '127.0.0.1',
    allowedHosts: [],
    folder: null,
    clock: new LabClock({ mode: 1 }),
    random: systemRandom,
    logger: silent,
    ...options,
  })

const NODE = '1b474008-520b-48e4-aff9-00fe7aa28b88'

test('the ISO of a ramdisk has its command line, and a kernel that only simulated machines boot', async () => {
  await using served = await files()
  const url = served.publishIso(NODE, 'ipa-api-url=http://192.0.2.1:6385 boot_method=vmedia')
  const iso = Buffer.from(await (await fetch(url)).arrayBuffer()).toString('latin1')
  expect(iso).toContain('linux /vmlinuz ipa-api-url=http://192.0.2.1:6385 boot_method=vmedia --')
  expect(iso.split('a simulated machine takes any kernel')).toHaveLength(3)
})

test('the token of an agent is behind a secret, and goes with its node', async () => {
  await using served = await files()
  const url = served.publishIso(NODE, 'ipa-agent-token=secret')
  expect(new URL(url).pathname).toMatch(/^\/[\w-]{30,}\/boot-/)
  expect((await fetch(`${served.url}/boot-${NODE}.iso`)).status).toBe(404)
  served.forget(NODE)
  expect((await fetch(url)).status).toBe(404)
})

test('a NIC finds its script by the first one, and none when its machine boots its disks', async () => {
  await using served = await files()
  const macs = ['52:54:00:00:00:01']
  served.publishScript(NODE, macs, { kernel: 'http://h/k', ramdisk: 'http://h/r', append: 'a=b' })
  expect(await (await fetch(`${served.url}/boot.ipxe`)).text()).toContain('chain pxelinux.cfg/${mac:hexhyp}')
  const script = `${served.url}/pxelinux.cfg/52-54-00-00-00-01`
  expect(await (await fetch(script)).text()).toContain('kernel http://h/k a=b initrd=ramdisk')
  served.publishScript(NODE, macs, 'disk')
  expect((await fetch(script)).status).toBe(404)
})
