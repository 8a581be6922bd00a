import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { systemClock } from '../../base/runtime/index.js'
import { HttpTransport, IronicClient } from '../../base/wire/index.js'
import { command } from '../kit/commands/command.js'

/** Accounts of BMCs under `ironstage up`, through restarts on one state folder. */

let folder: string
beforeEach(async () => void (folder = await mkdtemp(join(tmpdir(), 'ironstage-bmc-'))))
afterEach(() => rm(folder, { recursive: true }))

const ACCOUNT = ['--bmc-user', 'root', '--bmc-password', 'right']

async function upWith(...args: string[]) {
  const up = command(['up', '--port', '0', '--clock', 'auto', '--state-dir', join(folder, 'state'), ...args])
  const [, endpoint = ''] = await up.printed(/ready at (\S+) with/)
  const transport = new HttpTransport({ clock: systemClock() })
  const client = new IronicClient({ transport, endpoint, clock: systemClock() })
  const settled = async (ident: string) => {
    await expect.poll(async () => (await client.node(ident)).reservation, { timeout: 10_000 }).toBe(null)
    return client.node(ident)
  }
  return {
    client,
    manage: async (ident: string) => {
      await client.provision(ident, 'manage')
      return settled(ident)
    },
    power: async (ident: string) => {
      await client.power(ident, 'power on')
      return settled(ident)
    },
    putAccount: (ident: string, account: object) =>
      transport.send({
        method: 'PUT',
        url: `${endpoint}/_lab/nodes/${ident}/bmc-account`,
        headers: {},
        body: JSON.stringify(account),
      }),
    async [Symbol.asyncDispose]() {
      up.stop()
      await up.ended
      await transport[Symbol.asyncDispose]()
    },
  }
}

const redfish = (password: string) => ({
  name: 'by-redfish',
  driver: 'redfish',
  driver_info: {
    redfish_address: 'http://10.1.0.1:8000',
    redfish_system_id: '/redfish/v1/Systems/x',
    redfish_username: 'root',
    redfish_password: password,
  },
})
const ipmi = (password: string) => ({
  name: 'by-ipmi',
  driver: 'ipmi',
  driver_info: { ipmi_address: '10.1.0.2', ipmi_username: 'root', ipmi_password: password },
})

const REFUSED_BY_REDFISH =
  /^Failed to get power state for node \S+\. Error: Redfish exception occurred\. Error: HTTP GET http:\/\/10\.1\.0\.1:8000\/redfish\/v1\/Systems\/x returned code 401\./
const REFUSED_BY_IPMI = /^Failed to get power state for node \S+\. Error: IPMI call failed: power status\.$/

test('a wrong password is refused as by Redfish and IPMI, also after restarts without the options', async () => {
  for (const [start, args] of [ACCOUNT, ACCOUNT, []].entries()) {
    await using up = await upWith(...args)
    if (start === 0) {
      await up.client.createNode(redfish('wrong'))
      await up.client.createNode(ipmi('wrong'))
    }
    expect(await up.manage('by-redfish')).toMatchObject({
      provision_state: 'enroll',
      last_error: expect.stringMatching(REFUSED_BY_REDFISH) as string,
    })
    expect(await up.manage('by-ipmi')).toMatchObject({
      provision_state: 'enroll',
      last_error: expect.stringMatching(REFUSED_BY_IPMI) as string,
    })
  }
  await using up = await upWith('--bmc-password', 'another')
  const password = (name: string) => [{ op: 'replace' as const, path: `/driver_info/${name}`, value: 'right' }]
  await up.client.patchNode('by-redfish', password('redfish_password'))
  await up.client.patchNode('by-ipmi', password('ipmi_password'))
  expect(await up.manage('by-redfish')).toMatchObject({ provision_state: 'manageable', last_error: null })
  expect(await up.manage('by-ipmi')).toMatchObject({ provision_state: 'manageable', last_error: null })
}, 60_000)

test('nodes of --nodes have the account of --bmc-user and --bmc-password', async () => {
  await using up = await upWith(...ACCOUNT, '--nodes', '1')
  expect(await up.manage('node-0')).toMatchObject({ provision_state: 'manageable', last_error: null })
  expect((await up.client.node('node-0')).driver_info).toMatchObject({ redfish_username: 'root' })
})

test('an account that was changed at the BMC survives a restart', async () => {
  {
    await using up = await upWith('--nodes', '1')
    await up.manage('node-0')
    expect((await up.putAccount('node-0', { username: 'admin', password: 'changed' })).status).toBe(204)
  }
  await using up = await upWith('--bmc-password', 'password')
  expect(await up.power('node-0')).toMatchObject({
    power_state: 'power off',
    last_error: expect.stringContaining('returned code 401') as string,
  })
})

test('--bmc-user alone is wrong usage', async () => {
  const up = command(['up', '--port', '0', '--bmc-user', 'root'])
  expect(await up.ended).toBe(2)
  expect(up.stderr).toMatch(
    /^ironstage: --bmc-user needs --bmc-password\n {2}try: add --bmc-password, or leave both out/,
  )
})
