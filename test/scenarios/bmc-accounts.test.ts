import { expect, test } from 'vitest'
import { createStagedLab, type StagedLab, type StagedLabOptions } from '../../lab/index.js'

const REDFISH = {
  driver: 'redfish',
  driver_info: {
    redfish_address: 'http://10.1.0.1:8000',
    redfish_system_id: '/redfish/v1/Systems/x',
    redfish_username: 'admin',
    redfish_password: 'right',
  },
}
const IPMI = {
  driver: 'ipmi',
  driver_info: { ipmi_address: '10.1.0.2', ipmi_username: 'admin', ipmi_password: 'right' },
}
const REFUSED = {
  redfish: /Redfish exception occurred\. Error: HTTP GET http:\/\/10\.1\.0\.1:8000\/.* returned code 401/,
  ipmi: /IPMI call failed: power status\./,
}

/** A node of a client's, and what the client does with it. */
async function registered(registration: typeof REDFISH | typeof IPMI, options: StagedLabOptions = {}) {
  const lab: StagedLab = await createStagedLab(options)
  const { uuid } = await lab.client.createNode(registration)
  const path = `/driver_info/${registration.driver}_password`
  return {
    lab,
    uuid,
    setPassword: (value: string) => lab.client.patchNode(uuid, [{ op: 'replace', path, value }]),
    manage: async () => {
      await lab.client.provision(uuid, 'manage')
      return free(lab, uuid)
    },
  }
}

async function free(lab: StagedLab, uuid: string) {
  await lab.wait(
    (async () => {
      while ((await lab.store.node(uuid))!.node.reservation !== null) await lab.clock.sleep(100)
    })(),
  )
  return lab.client.node(uuid)
}

/** Until a periodic look has changed what is asked for. */
const looked = (lab: StagedLab, uuid: string, maintenance: boolean) =>
  lab.wait(
    (async () => {
      while ((await lab.store.node(uuid))!.node.maintenance !== maintenance) await lab.clock.sleep(10_000)
    })(),
  )

test.each([
  ['redfish', REDFISH],
  ['ipmi', IPMI],
] as const)(
  '%s: a wrong password keeps a node in enroll, the right one lets it go on',
  async (driver, registration) => {
    const bmcAccount = { username: 'admin', password: 'right' }
    const { lab, setPassword, manage } = await registered(registration, { bmcAccount })
    await using _ = lab
    await setPassword('wrong')
    const refused = await manage()
    expect(refused.provision_state).toBe('enroll')
    expect(refused.last_error).toMatch(REFUSED[driver])
    expect(refused.last_error).toMatch(/^Failed to get power state for node /)
    expect(JSON.stringify(refused)).not.toContain('wrong')
    await setPassword('right')
    expect(await manage()).toMatchObject({ provision_state: 'manageable', last_error: null })
  },
)

test('a machine that is enrolled with its node has an account: another password is refused before the first call', async () => {
  await using lab = await createStagedLab()
  const { uuid } = await lab.enroll()
  const setPassword = (value: string) =>
    lab.client.patchNode(uuid, [{ op: 'replace', path: '/driver_info/redfish_password', value }])
  const { driver_info } = (await lab.store.node(uuid))!.node
  await setPassword('wrong')
  await lab.client.provision(uuid, 'manage')
  expect(await free(lab, uuid)).toMatchObject({
    provision_state: 'enroll',
    last_error: expect.stringContaining('returned code 401') as string,
  })
  const ipmi = { ipmi_address: '198.19.0.1', ipmi_username: 'admin', ipmi_password: 'wrong' }
  const other = await lab.client.createNode({ driver: 'ipmi', driver_info: ipmi })
  await lab.client.provision(other.uuid, 'manage')
  expect(await free(lab, other.uuid)).toMatchObject({
    provision_state: 'enroll',
    last_error: expect.stringContaining('IPMI call failed: power status.') as string,
  })
  await setPassword(String(driver_info.redfish_password))
  await lab.client.provision(uuid, 'manage')
  expect(await free(lab, uuid)).toMatchObject({ provision_state: 'manageable', last_error: null })
})

test('a BMC that was given no account keeps that of the first node: another password takes the node out of service', async () => {
  const { lab, uuid, setPassword, manage } = await registered(REDFISH)
  await using _ = lab
  expect(await manage()).toMatchObject({ provision_state: 'manageable' })
  await setPassword('wrong')
  await looked(lab, uuid, true)
  const failed = await lab.client.node(uuid)
  expect(failed).toMatchObject({ maintenance: true, fault: 'power failure' })
  expect(failed.last_error).toMatch(REFUSED.redfish)
  await setPassword('right')
  await looked(lab, uuid, false)
  expect(await lab.client.node(uuid)).toMatchObject({ maintenance: false, fault: null })
})

test('the lab gives a BMC another account, and never shows it', async () => {
  const { lab, uuid, setPassword, manage } = await registered(REDFISH)
  await using _ = lab
  await manage()
  const put = (body: unknown) =>
    lab.transport.send({
      method: 'PUT',
      url: `${lab.url}/_lab/nodes/${uuid}/bmc-account`,
      headers: {},
      body: JSON.stringify(body),
    })
  expect((await put({ username: 'admin' })).status).toBe(400)
  expect((await put({ username: 'admin', password: 'changed' })).status).toBe(204)
  await lab.client.power(uuid, 'power on')
  expect((await free(lab, uuid)).last_error).toMatch(REFUSED.redfish)
  await setPassword('changed')
  await lab.client.power(uuid, 'power on')
  expect(await free(lab, uuid)).toMatchObject({ power_state: 'power on', last_error: null })
  const shown = await lab.transport.send({ method: 'GET', url: `${lab.url}/_lab/machines`, headers: {} })
  expect(shown.body).not.toContain('changed')
})
