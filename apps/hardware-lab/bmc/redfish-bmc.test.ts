import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { X509Certificate } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import { StrangeBmc, type Habits } from '../../../test/kit/hardware-lab/strange-bmc.js'
import { errorChain, silent, systemClock } from '../../../base/runtime/index.js'
import { RedfishBmc } from './redfish-bmc.js'
import { RedfishClient } from './redfish-client.js'
import type { BmcTrust } from './pinned-agent.js'

const clock = systemClock()
const { signal } = new AbortController()
const ISO = 'http://192.0.2.1/live.iso'

function reach(bmc: StrangeBmc, trust: BmcTrust = {}, password = 's3cret'): RedfishBmc {
  const client = new RedfishClient({ url: bmc.url, username: 'admin', password, clock, logger: silent, ...trust })
  return new RedfishBmc({ client, system: undefined, clock, logger: silent, every: 10 })
}

describe('a BMC', () => {
  test.each<[string, Habits]>([
    ['with no habits', {}],
    ['without sessions', { sessions: 'none' }],
    ['whose sessions are all taken', { sessions: 'full' }],
    ['whose sessions end early', { sessionRequests: 3 }],
    ['that is busy', { busy: 3 }],
    ['that wants an ETag', { etag: 'required' }],
    ['that refuses its own weak ETags', { etag: 'no weak ones' }],
    ['that refuses every ETag', { etag: 'none taken' }],
    ['whose drive has another medium', { inserted: 'http://192.0.2.1/old.iso' }],
    ['that has no actions for media', { media: 'no actions', inserted: 'http://192.0.2.1/old.iso' }],
    ['that knows few properties', { media: 'strict properties' }],
    ['that makes tasks', { tasks: true }],
    ['whose tasks name another host', { tasks: true, foreignLocation: true }],
    [
      'with all of it',
      { sessionRequests: 4, busy: 2, etag: 'none taken', inserted: 'x', media: 'strict properties', tasks: true },
    ],
  ])('%s boots a live ISO once, then its disk', async (_, habits) => {
    await using bmc = await StrangeBmc.open(habits)
    {
      await using machine = reach(bmc)
      expect(await machine.identify(signal)).toEqual({ bmcSerial: 'BMC-1', systemSerial: 'SYS-1', product: 'Box' })
      await machine.bootLive({ iso: ISO }, signal)
      expect(bmc).toMatchObject({ power: 'On', image: ISO })
      expect(bmc.boot).toMatchObject({ BootSourceOverrideTarget: 'Cd', BootSourceOverrideEnabled: 'Once' })
      const off = bmc.calls.indexOf('POST /redfish/v1/Systems/1/Actions/Reset')
      expect(off).toBeLessThan(bmc.calls.findIndex((call) => /^PATCH .*Systems/.test(call)))
      await machine.bootDisk(signal)
      expect(bmc).toMatchObject({ power: 'On', image: null, boot: { BootSourceOverrideTarget: 'Hdd' } })
    }
    // No session is left behind, and Basic authentication is for BMCs without.
    expect(bmc.openSessions.size).toBe(0)
    expect(bmc.basic > 0).toBe(habits.sessions !== undefined)
  })

  test('that refuses the account says so, without the password', async () => {
    await using bmc = await StrangeBmc.open({ sessions: 'none' })
    await using machine = reach(bmc, {}, 'wr0ng-password')
    const error = await machine.identify(signal).catch((caught: unknown) => caught)
    expect(errorChain(error).join(': ')).toMatch(
      /refused GET \/redfish\/v1\/ \(401\): the account is not accepted: no session$/,
    )
  })

  test('that does not answer is unreachable', async () => {
    const bmc = await StrangeBmc.open()
    await using machine = reach(bmc)
    await bmc[Symbol.asyncDispose]()
    await expect(machine.identify(signal)).rejects.toMatchObject({ code: 'bmc-unreachable' })
  })
})

describe('a certificate', () => {
  const identity = () => {
    const folder = mkdtempSync(join(tmpdir(), 'ironstage-bmc-'))
    try {
      const key = join(folder, 'key')
      const cert = join(folder, 'cert')
      const days = ['-days', '1', '-subj', '/CN=some-other-name']
      execFileSync(
        'openssl',
        [
          'req',
          '-x509',
          '-newkey',
          'ec',
          '-pkeyopt',
          'ec_paramgen_curve:P-256',
          '-nodes',
          '-keyout',
          key,
          '-out',
          cert,
          ...days,
        ],
        { stdio: 'ignore' },
      )
      return { key: readFileSync(key, 'utf8'), cert: readFileSync(cert, 'utf8') }
    } finally {
      rmSync(folder, { recursive: true })
    }
  }

  test('is believed by its fingerprint alone; another one gets no request', async () => {
    const tls = identity()
    const { fingerprint256 } = new X509Certificate(tls.cert)
    await using bmc = await StrangeBmc.open({ tls })
    await using pinned = reach(bmc, { certificate: fingerprint256 })
    expect(await pinned.identify(signal)).toMatchObject({ systemSerial: 'SYS-1' })
    await using open = reach(bmc, { insecure: true })
    expect(await open.identify(signal)).toMatchObject({ systemSerial: 'SYS-1' })
    const before = bmc.calls.length
    await using other = reach(bmc, {
      certificate: fingerprint256.replace(/^../, fingerprint256.startsWith('00') ? '01' : '00'),
    })
    await expect(other.identify(signal)).rejects.toMatchObject({ code: 'bmc-certificate' })
    await using unpinned = reach(bmc)
    await expect(unpinned.identify(signal)).rejects.toMatchObject({ code: 'bmc-unreachable' })
    expect(bmc.calls.length).toBe(before)
  })
})
