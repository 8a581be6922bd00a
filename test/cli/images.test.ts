import { mkdtemp, readFile, writeFile } from 'node:fs/promises'
import { networkInterfaces, tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { describe, expect, test } from 'vitest'
import { REHEARSAL_LIVE_ISO } from '../../lab/index.js'
import { defined, systemClock } from '../../base/runtime/index.js'
import { agentOf, IGNITION_FILE, openLiveIso } from '../../coreos/index.js'
import { bytesSource } from '../../base/bytes/index.js'
import { readIgnition } from '../../ignition/index.js'
import { command } from '../kit/commands/command.js'
import { isoImage, liveFiles } from '../kit/images/live-iso.js'

const scratch = () => mkdtemp(join(tmpdir(), 'ironstage-images-'))
const bytesAt = async (url: string) => Buffer.from(await (await fetch(url)).arrayBuffer())
const agentIn = async (url: string) => {
  const { files } = await openLiveIso(bytesSource(await bytesAt(url)), systemClock())
  return agentOf(readIgnition(files.get(IGNITION_FILE)!).config)!
}

test('the live ISO that comes with ironstage is the one of the tests', async () => {
  expect((await readFile(REHEARSAL_LIVE_ISO)).equals(isoImage(liveFiles()))).toBe(true)
})

describe('ironstage images serve', () => {
  const BASE = ['--base-url', 'http://192.0.2.1:6385']

  test('serves a live ISO whose agent goes to the Ironic that is named, and one for each machine', async () => {
    const argv = ['images', 'serve', '--live-iso', REHEARSAL_LIVE_ISO, ...BASE, '--node', 'worker-1', '--json']
    const serve = command(argv)
    const [line] = await serve.printed(/.*"ready".*/)
    const { images } = JSON.parse(line) as { images: { node: string | null; iso: string; pxe: { kernel: string } }[] }
    expect(images).toMatchObject([{ node: null }, { node: 'worker-1' }])
    const [common, own] = images
    expect((await agentIn(common!.iso)).options).toMatchObject({ api_url: 'http://192.0.2.1:6385' })
    expect((await agentIn(own!.iso)).environment).toMatchObject({ IPA_DEFAULT_HOSTNAME: 'worker-1' })
    expect((await bytesAt(common!.pxe.kernel)).toString()).toContain('kernel')
    await serve.printed(
      /"event":"request","method":"GET","path":"\/live\/x86_64\/ironic-python-agent\.kernel","status":200/,
    )
    serve.stop()
    expect(await serve.ended).toBe(0)
  })

  test('prints what to tell Ironic', async () => {
    const folder = await scratch()
    await writeFile(join(folder, 'fedora-coreos-40.20240416.3.1-live.aarch64.iso'), isoImage(liveFiles('aarch64')))
    const serve = command([
      'images',
      'serve',
      '--live-image',
      folder,
      ...BASE,
      '--public-url',
      'http://images.example/',
    ])
    await serve.printed(/rootfs_url/)
    expect(serve.stdout).toContain('http://images.example/live/aarch64/ironic-python-agent.iso')
    expect(serve.stdout).toMatch(
      /kernel_append_params +coreos\.live\.rootfs_url=\S+ ignition\.config\.url=\S+ ignition/,
    )
    serve.stop()
    expect(await serve.ended).toBe(0)
  })

  test('listens on all addresses with --host 0.0.0.0, and prints one that other hosts can reach', async () => {
    const outside = Object.values(networkInterfaces()).flatMap((each) => (each ?? []).filter((one) => !one.internal))
    const serve = command(['images', 'serve', '--live-iso', REHEARSAL_LIVE_ISO, ...BASE, '--host', '0.0.0.0', '--json'])
    if (outside.every(({ address }) => /^(169\.254\.|fe[89ab])/i.test(address))) {
      expect(await serve.ended).toBe(2)
      expect(serve.stderr).toContain('this host has no address that BMCs can reach')
      return
    }
    const [line] = await serve.printed(/.*"ready".*/)
    const { url, images } = JSON.parse(line) as { url: string; images: { iso: string }[] }
    const hosts = [url, ...images.map(({ iso }) => iso)].map((each) => new URL(each).hostname.replace(/^\[|\]$/g, ''))
    for (const host of hosts) expect(outside.map(({ address }) => address)).toContain(host)
    expect((await fetch(images[0]!.iso, { method: 'HEAD' })).status).toBe(200)
    serve.stop()
    expect(await serve.ended).toBe(0)
  })

  test('says that a BMC does not reach an address of loopback', async () => {
    const serve = command(['images', 'serve', '--live-iso', REHEARSAL_LIVE_ISO, ...BASE])
    const [port] = await serve.printed(/(?<=Live images are served at http:\/\/127\.0\.0\.1:)\d+(?=\.\n)/)
    await serve.printed(/a BMC needs --host 0\.0\.0\.0 or --public-url/)
    expect(serve.stdout).toContain(`deploy_iso              http://127.0.0.1:${port}/`)
    serve.stop()
    expect(await serve.ended).toBe(0)
  })

  test.each<[string, string[], string]>([
    ['no image', BASE, 'no live image was given'],
    ['no Ironic', ['--live-iso', REHEARSAL_LIVE_ISO], 'the agent has no Ironic to go to'],
    ['a kernel alone', ['--live-kernel', REHEARSAL_LIVE_ISO, ...BASE], 'only some of kernel, initramfs and rootfs'],
    ['two ways to say it', ['--live-kernel', 'k', '--live-image', '.', ...BASE], 'both say which live image there is'],
  ])('refuses a command line with %s', async (_, argv, message) => {
    const serve = command(['images', 'serve', ...argv])
    expect(await serve.ended).toBe(2)
    expect(serve.stderr).toContain(message)
  })
})

describe('IRONIC_USE_COREOS_IPA', () => {
  const latest = { 'X-OpenStack-Ironic-API-Version': 'latest', 'content-type': 'application/json' }

  test('makes nodes of ironstage up boot CoreOS with the agent in its container', async () => {
    const up = command(['up', '--port', '0', '--nodes', '1', '--agent-registry', 'registry.example:5000', '--json'], {
      variables: { IRONIC_USE_COREOS_IPA: 'true' },
    })
    const [line] = await up.printed(/.*"ready".*/)
    const ready = JSON.parse(line) as { ironic_url: string; environment: Record<string, string>; images: object }
    expect(ready.environment).toMatchObject({ IRONIC_USE_COREOS_IPA: 'true' })
    const ask = async (method: string, path: string, body?: object) => {
      const init = { method, headers: latest, ...defined({ body: body ? JSON.stringify(body) : undefined }) }
      const text = await (await fetch(`${ready.ironic_url}${path}`, init)).text()
      return (text === '' ? {} : JSON.parse(text)) as Record<string, unknown>
    }
    const until = async (state: string) => {
      for (;;) {
        const { provision_state: now } = await ask('GET', '/v1/nodes/node-0')
        if (now === state) return
        await delay(20)
      }
    }
    await ask('PUT', '/v1/nodes/node-0/states/provision', { target: 'manage' })
    await until('manageable')
    // The answer comes once the node is inspecting: states between this one and the last may be over before a look.
    await ask('PUT', '/v1/nodes/node-0/states/provision', { target: 'inspect' })
    await until('manageable')
    const { machines } = (await ask('GET', '/_lab/machines')) as {
      machines: { console: string[]; lastBoot: { outcome: string; from: string } }[]
    }
    expect(machines[0]!.lastBoot).toMatchObject({ outcome: 'ramdisk', from: 'pxe', failure: null })
    expect(machines[0]!.console.join('\n')).toContain('Trying to pull registry.example:5000/')
    up.stop()
    expect(await up.ended).toBe(0)
  })

  test('is off by default', async () => {
    const up = command(['up', '--port', '0'])
    await up.printed(/export IRONIC_USE_COREOS_IPA=false/)
    await up.printed(/try: curl/)
    expect(up.stdout).not.toContain('deploy_iso')
    up.stop()
    await up.ended
  })

  test('images that were named are served then too, for who asks for them', async () => {
    const up = command(['up', '--port', '0', '--live-iso', REHEARSAL_LIVE_ISO])
    await up.printed(/live images, which nodes boot on request:[^]*deploy_iso +http:\/\/127\.0\.0\.1/)
    up.stop()
    expect(await up.ended).toBe(0)
  })

  test('a word that is neither yes nor no is refused', async () => {
    const up = command(['up', '--port', '0'], { variables: { IRONIC_USE_COREOS_IPA: 'maybe' } })
    expect(await up.ended).toBe(2)
    expect(up.stderr).toContain('IRONIC_USE_COREOS_IPA is "maybe", which is neither yes nor no')
  })
})
