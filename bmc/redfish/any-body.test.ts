import fc from 'fast-check'
import { expect, test } from 'vitest'
import { served } from '../../test/kit/redfish/served.js'
import { REDFISH_RESOURCES } from './resources/index.js'

/** Requests with any body, to every resource that takes one. */

const VALUES: Readonly<Record<string, string>> = {
  machine: 'machine-1',
  slot: 'Cd',
  storage: 'RAID.1',
  volume: '1',
  log: 'EventLog',
  database: 'db',
  drive: 'sda',
  session: 'none',
  subscription: 'machine-1-1',
  certificate: 'c',
  task: 't',
  adapter: 'eno1',
}
const CHANGES = REDFISH_RESOURCES.flatMap((resource) =>
  (['patch', 'put', 'post', 'delete'] as const)
    .filter((method) => resource[method])
    .map((method) => ({
      method: method.toUpperCase(),
      path: `/redfish/v1${resource.path.replace(/\{(\w+)\}/g, (_, name: string) => VALUES[name] ?? 'other')}`,
    })),
)

/** Names and values that resources know, in places where they do not belong. */
const NAMES = [
  'Boot',
  'BootOrder',
  'BootSourceOverrideTarget',
  'Image',
  'Inserted',
  'Attributes',
  'ResetType',
  'IndicatorLED',
  'Links',
  'Drives',
  'RAIDType',
  'CapacityBytes',
  'Targets',
  'ImageURI',
  'Destination',
  'Protocol',
  'HttpHeaders',
  'OriginResources',
  'EventTypes',
  'Password',
  'UserName',
  'CertificateString',
  'CertificateType',
  'CertificateUri',
  '@odata.id',
  'SessionTimeout',
  'SecureBootEnable',
  'ResetKeysType',
  'VerifyCertificate',
  '__proto__',
  'constructor',
]
const WORDS = [
  '',
  'On',
  'Cd',
  'UefiHttp',
  'RAID1',
  'Redfish',
  'PEM',
  'http://a.test/b.iso',
  'Alert',
  'x'.repeat(5000),
  '\0',
  '%',
]
const { body } = fc.letrec<{ body: unknown; value: unknown }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 3 },
    fc.constantFrom(...WORDS),
    fc.constantFrom<unknown>(null, true, 0, -1, 1e400, 2 ** 53),
    fc.array(tie('value'), { maxLength: 3 }),
    tie('body'),
  ),
  body: fc.dictionary(fc.constantFrom(...NAMES), tie('value'), { maxKeys: 4, noNullPrototype: true }),
}))

test('no body makes the service fail, and every refusal says why', async () => {
  await using bmc = await served(1, { updateTime: 0, transport: { send: async () => ({ status: 204, headers: {} }) } })
  expect(CHANGES.length).toBeGreaterThan(30)
  await fc.assert(
    fc.asyncProperty(fc.constantFrom(...CHANGES), body, async ({ method, path }, sent) => {
      bmc.accounts.set('machine-1', { username: 'admin', password: 'secret-1' })
      const { status, document } = await bmc.call(method, path, sent)
      expect({ method, path, sent, isFailure: status === 500 }).toMatchObject({ isFailure: false })
      if (status < 400) return
      const [reason] = (document as { error: { '@Message.ExtendedInfo': { Message: string; MessageId: string }[] } })
        .error['@Message.ExtendedInfo']
      expect(reason!.MessageId).toMatch(/^Base\.1\.22\.\w+$/)
      expect(reason!.Message).not.toMatch(/undefined|\[object/)
    }),
    { numRuns: 1500 },
  )
  for (const { path } of CHANGES)
    expect((await bmc.call('GET', path.replace(/\/Actions\/.*/, ''))).status, path).not.toBe(500)
})

test.each(['constructor', '__proto__', 'toString', '%00', '..', ' '])(
  'no resource has a member named %j',
  async (name) => {
    await using bmc = await served()
    const paths = REDFISH_RESOURCES.filter(({ path, get }) => get && path.includes('{')).map(
      ({ path }) =>
        `/redfish/v1${path.replace('{machine}', 'machine-1').replace(/\{\w+\}/g, encodeURIComponent(decodeURIComponent(name)))}`,
    )
    for (const path of paths.filter((each) => !each.endsWith('machine-1') && !/machine-1(\/[A-Za-z]+)+$/.test(each)))
      expect({ path, status: (await bmc.call('GET', path)).status }).toEqual({ path, status: 404 })
  },
)

test('a selection of properties changes no object but the answer', async () => {
  await using bmc = await served()
  const { document } = await bmc.call(
    'GET',
    '/redfish/v1/Systems/machine-1?$select=constructor/prototype/bad,__proto__/worse,Id',
  )
  expect(document).toMatchObject({ Id: 'machine-1' })
  expect([Object.keys(Object.prototype), Object.keys(Object)]).toEqual([[], []])
})
