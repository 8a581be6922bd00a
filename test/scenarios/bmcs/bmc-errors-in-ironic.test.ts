import { describe, expect, test } from 'vitest'
import { createStagedLab, type StagedLab } from '../../../lab/index.js'
import type { Fault, FaultEffect } from '../../../control/index.js'
import { seconds } from '../../../base/runtime/index.js'
import type { JsonObject } from '../../../base/wire/index.js'

/** Faults of BMCs as this lab's own Ironic meets them: its sentences and its patience are those of Ironic 39 and sushy. */

const SYSTEM = 'http://198.19.0.1/redfish/v1/Systems/machine-1'
const PREFIX = 'Failed to get power state for node UUID. Error: '

interface Verified {
  readonly state: string
  readonly error: string | null
  /** Lab time of the verification. */
  readonly took: number
  readonly struck: number
}

/** Has a new node verified while a fault is in force. */
async function verified(fault: Fault, fields: JsonObject = {}): Promise<Verified> {
  await using lab = await createStagedLab()
  const { uuid } = await lab.enroll({ fields: { name: 'node-0', ...fields } })
  lab.faults.add(fault)
  const began = lab.clock.elapsed()
  await lab.client.provision(uuid, 'manage')
  const node = await settled(lab, uuid)
  return {
    state: node.provision_state,
    error:
      node.last_error?.replaceAll(uuid, 'UUID').replaceAll(/http:\/\/[^/]*\/redfish/g, 'http://198.19.0.1/redfish') ??
      null,
    took: lab.clock.elapsed() - began,
    struck: lab.faults.list()[0]!.struck,
  }
}

async function settled(lab: StagedLab, uuid: string) {
  for (;;) {
    const node = await lab.client.node(uuid)
    if (node.reservation === null && node.provision_state !== 'verifying') return node
    await lab.wait(lab.clock.sleep(seconds(1)))
  }
}

const reads = (effect: FaultEffect): Fault => ({ match: { machine: 'machine-1', bmc: 'read power' }, effect })

describe('what a BMC answers when Ironic reads the power', () => {
  test.each<[string, FaultEffect, string]>([
    [
      '403 with an empty object',
      { kind: 'status', status: 403, body: {} },
      `Redfish exception occurred. Error: HTTP GET ${SYSTEM} returned code 403. Base.1.0.GeneralError: unknown error. Extended information: None`,
    ],
    [
      '401 without a body',
      { kind: 'status', status: 401 },
      `Redfish exception occurred. Error: HTTP GET ${SYSTEM} returned code 401. unknown error Extended information: None`,
    ],
    ['404', { kind: 'status', status: 404 }, `Redfish exception occurred. Error: Resource ${SYSTEM} not found`],
    [
      '400 with a message that warns',
      {
        kind: 'status',
        status: 400,
        body: {
          error: { code: 'x.1', message: 'general', '@Message.ExtendedInfo': [{ Severity: 'Warning', Message: 'no' }] },
        },
      },
      `HTTP GET ${SYSTEM} returned code 400. x.1: no Extended information: [{'Severity': 'Warning', 'Message': 'no'}]`,
    ],
    [
      'another document',
      { kind: 'status', status: 200, body: {} },
      'The attribute Id is missing from the resource /redfish/v1/Systems/machine-1',
    ],
  ])('%s fails at once', async (_, effect, sentence) => {
    expect(await verified(reads(effect))).toMatchObject({ state: 'enroll', error: PREFIX + sentence, struck: 1 })
  })

  test('at the resource alone, by its route', async () => {
    const effect: FaultEffect = { kind: 'status', status: 404 }
    const error = `${PREFIX}Redfish exception occurred. Error: Resource ${SYSTEM} not found`
    const system = { match: { route: 'GET /redfish/v1/Systems/:id' }, effect }
    expect(await verified(system)).toMatchObject({ state: 'enroll', error, struck: 1 })
    const drive = { match: { route: 'GET /redfish/v1/Systems/:id/VirtualMedia/Cd' }, effect }
    expect(await verified(drive)).toMatchObject({ state: 'manageable', struck: 0 })
  })

  test.each([
    'POST /redfish/v1/Systems/:id/VirtualMedia/:slot/Actions/VirtualMedia.InsertMedia',
    'POST /redfish/v1/Managers/:id/VirtualMedia/:slot/Actions/VirtualMedia.InsertMedia',
  ])('at an image by %s, after a delay', async (route) => {
    await using lab = await createStagedLab({ hardware: [{ hardware: { bmc: 'ilo5' } }] })
    const node = await lab.enroll({ fields: { boot_interface: 'redfish-virtual-media' } })
    lab.faults.add({ match: { route }, effect: { kind: 'delay', ms: seconds(20) } })
    lab.faults.add({ match: { route }, effect: { kind: 'status', status: 500, body: { error: { code: 'SYS518' } } } })
    const answer = await lab.transport.send({
      method: 'POST',
      url: `${lab.url}/v1/nodes/${node.uuid}/vmedia`,
      headers: { 'x-openstack-ironic-api-version': '1.115', 'content-type': 'application/json' },
      body: JSON.stringify({ device_type: 'cdrom', image_url: 'http://images.test/boot.iso' }),
    })
    expect(answer.status).toBe(204)
    await lab.clock.advance(seconds(20))
    const [struck] = lab.journal.entries({ kind: 'bmc' }).filter(({ fault }) => fault === 'fault-2')
    expect(struck).toMatchObject({ call: 'change media', error: 'it answered 500', duration: seconds(20) })
  })

  test('503 is asked for again ten times, three seconds apart', async () => {
    const { state, error, took, struck } = await verified(reads({ kind: 'status', status: 503, body: 'down' }))
    expect({ state, error, struck }).toEqual({
      state: 'enroll',
      error: `${PREFIX}HTTP GET ${SYSTEM} returned code 503. unknown error Extended information: None`,
      struck: 11,
    })
    expect(took).toBeGreaterThanOrEqual(seconds(30))
    expect(took).toBeLessThan(seconds(33))
  })

  test('a short burst of 503 is survived', async () => {
    const fault = { ...reads({ kind: 'bmc-busy' } as const), times: 3 }
    expect(await verified(fault)).toMatchObject({ state: 'manageable', error: null, struck: 3 })
  })

  test.each<FaultEffect>([{ kind: 'bmc-silent' }, { kind: 'connection-reset' }, { kind: 'truncated-body' }])(
    '$kind: the connection is tried fifty times within two and a half minutes',
    async (effect) => {
      const { state, error, took, struck } = await verified(reads(effect))
      expect({ state, struck }).toEqual({ state: 'enroll', struck: 50 })
      expect(error).toContain(
        `${PREFIX}Redfish connection failed for node UUID: Unable to connect to http://198.19.0.1/redfish/v1/. Error: the connection was`,
      )
      expect(Math.round(took / 1000)).toBe(5 * 9 * 3 + 4 * 4)
    },
  )

  test('a hanging BMC is waited for for a minute each time', async () => {
    const { state, took, struck } = await verified({ ...reads({ kind: 'hang' }), times: 2 })
    expect({ state, struck }).toEqual({ state: 'manageable', struck: 2 })
    expect(Math.round(took / 1000)).toBe(126)
  })

  test('a body that is cut in the middle cannot be read', async () => {
    const { state, error, struck } = await verified(reads({ kind: 'malformed-body' }))
    expect({ state, struck }).toEqual({ state: 'enroll', struck: 1 })
    // The ten characters that came.
    expect(error).toBe(`${PREFIX}Expecting value: line 1 column 11 (char 10)`)
  })
})

test('a node in the match strikes too, and a refused call is in the journal', async () => {
  await using lab = await createStagedLab()
  const { uuid } = await lab.enroll({ fields: { name: 'node-0' } })
  lab.faults.add({ match: { node: 'node-0', bmc: 'read power' }, effect: { kind: 'status', status: 403 } })
  await lab.client.provision(uuid, 'manage')
  await settled(lab, uuid)
  expect(lab.journal.entries({ kind: 'bmc' })).toMatchObject([
    { call: 'read firmware', error: null },
    { call: 'read power', error: 'it answered 403', fault: 'fault-1' },
  ])
})

test('the periodic look at the power asks a silent BMC once', async () => {
  await using lab = await createStagedLab()
  const { uuid } = await lab.enroll({ fields: { name: 'node-0' } })
  await lab.client.provision(uuid, 'manage')
  await settled(lab, uuid)
  lab.faults.add({ match: { node: 'node-0' }, effect: { kind: 'bmc-silent' } })
  await lab.wait(lab.clock.sleep(seconds(3 * 120 + 1)))
  expect(lab.faults.list()).toMatchObject([{ struck: 3 }])
  expect(await lab.client.node(uuid)).toMatchObject({ power_state: 'power off' })
})

describe('what a BMC answers to a change', () => {
  test.each<[string, string, FaultEffect, string]>([
    [
      'an error to power',
      'set power',
      { kind: 'status', status: 500 },
      `Failed to change power state to 'power on' by 'power on': HTTP POST ${SYSTEM}/Actions/ComputerSystem.Reset returned code 500. unknown error Extended information: None`,
    ],
    [
      'nothing to power',
      'set power',
      { kind: 'connection-reset' },
      `Failed to change power state to 'power on' by 'power on': Redfish exception occurred. Error: Setting power state to power on failed for node UUID. Error: Unable to connect to ${SYSTEM}/Actions/ComputerSystem.Reset. Error: the connection was lost (a fault of this lab)`,
    ],
  ])('%s', async (_, bmc, effect, sentence) => {
    await using lab = await createStagedLab()
    const { uuid } = await lab.enroll({ fields: { name: 'node-0' } })
    await lab.client.provision(uuid, 'manage')
    await settled(lab, uuid)
    lab.faults.add({ match: { machine: 'machine-1', bmc }, effect })
    await lab.client.power(uuid, 'power on')
    const { last_error } = await settled(lab, uuid)
    expect(
      last_error?.replaceAll(uuid, 'UUID').replaceAll(/http:\/\/[^/]*\/redfish/g, 'http://198.19.0.1/redfish'),
    ).toBe(sentence)
  })
})

describe('over IPMI', () => {
  const IPMI = { driver: 'ipmi', driver_info: { ipmi_address: '198.19.0.9' } }

  test('a busy BMC is asked for a minute', async () => {
    const fault: Fault = { match: { node: 'node-0', bmc: 'read power' }, effect: { kind: 'bmc-busy' } }
    const { state, error, took, struck } = await verified(fault, IPMI)
    expect({ state, error, struck }).toEqual({
      state: 'enroll',
      error: `${PREFIX}IPMI call failed: power status.`,
      struck: 12,
    })
    expect(Math.round(took / 1000)).toBe(55)
  })

  test('answers by HTTP are none of it: the fault is refused', async () => {
    const fault: Fault = { match: { node: 'node-0', bmc: 'read power' }, effect: { kind: 'status', status: 403 } }
    await expect(verified(fault, IPMI)).rejects.toThrow(
      'node node-0 has no BMC that Ironic asks over Redfish, and a fault of kind status changes answers by HTTP, so the fault could never strike',
    )
  })
})
