import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { UserError } from '../../base/runtime/index.js'
import { createStagedLab } from '../create-lab.js'
import { defineStep } from '../../steps/index.js'
import type { Fault } from '../../control/faults/fault.js'
import { DRIVER_CALLS } from './known-names.js'

const SILENT = { kind: 'agent-silent' } as const
const STATUS = { kind: 'status', status: 503 } as const

describe('a fault that can never strike is refused, with what keeps it from it', () => {
  test.each<[string, Fault]>([
    ["there is no node o'x, so the fault could never strike", { match: { node: "o'x" }, effect: SILENT }],
    ['there is no machine nope, so the fault could never strike', { match: { machine: 'nope' }, effect: SILENT }],
    [
      'the machine of node node-0 is machine-1, and not machine-2, so the fault could never strike',
      { match: { node: 'node-0', machine: 'machine-2' }, effect: SILENT },
    ],
    ['machine-1 has no disk sdz', { match: { node: 'node-0', disk: 'sdz' }, effect: { kind: 'disk-full' } }],
    ['machine-2 has no disk sdz', { match: { machine: 'machine-2', disk: 'sdz' }, effect: { kind: 'disk-full' } }],
    ['a BMC cannot lie about read power', { match: { bmc: 'read power' }, effect: { kind: 'bmc-lies' } }],
    [
      'wrong-token can never strike GET /v1/nodes',
      { match: { route: 'GET /v1/nodes' }, effect: { kind: 'wrong-token' } },
    ],
    [
      'empty-last-error can never strike POST /v1/commands',
      { match: { route: 'POST /v1/commands' }, effect: { kind: 'empty-last-error' } },
    ],
    ['agent-silent can never strike GET /v1/nodes', { match: { route: 'GET /v1/nodes' }, effect: SILENT }],
    [
      'a fault with a phase can never strike GET /v1/drivers',
      { match: { route: 'GET /v1/drivers', phase: 'install' }, effect: STATUS },
    ],
    [
      'a fault with a step can never strike PATCH /v1/nodes/:id',
      { match: { route: 'PATCH /v1/nodes/:id', step: 'install_coreos' }, effect: STATUS },
    ],
    [
      'a fault of a node can never strike GET /v1/drivers',
      { match: { route: 'GET /v1/drivers', node: 'node-0' }, effect: STATUS },
    ],
    [
      'no BMC has a call "set pwer", so the fault could never strike',
      { match: { bmc: 'set pwer' }, effect: { kind: 'bmc-silent' } },
    ],
    [
      'no BMC has GET /redfish/v1/Systems/:id/SecurBoot, so the fault could never strike',
      { match: { route: 'GET /redfish/v1/Systems/:id/SecurBoot' }, effect: STATUS },
    ],
    [
      'no BMC has DELETE /redfish/v1/Systems/:id, so the fault could never strike',
      { match: { route: 'DELETE /redfish/v1/Systems/:id' }, effect: STATUS },
    ],
    [
      'a fault of kind repeat can never strike where route matches',
      { match: { route: '/redfish/v1/Systems/:id' }, effect: { kind: 'repeat' } },
    ],
    [
      'a fault of kind status can never strike where route and to match',
      { match: { route: '/redfish/v1/Systems/:id', to: 'ironic' }, effect: STATUS },
    ],
    ['no agent of this lab has a step "instal_coreos"', { match: { step: 'instal_coreos' }, effect: SILENT }],
    ['there is no phase "instal"', { match: { phase: 'instal' as 'install' }, effect: SILENT }],
    ['there is no state "activ"', { match: { state: 'activ' as 'active' }, effect: SILENT }],
    [
      'no ramdisk has a program "coreos-instaler"',
      { match: { program: 'coreos-instaler' }, effect: { kind: 'exit-code', code: 1 } },
    ],
    [
      'a node in state cleaning is never in phase install',
      { match: { state: 'cleaning', phase: 'install' }, effect: SILENT },
    ],
    ['no machine here is reached by SSH', { match: {}, effect: { kind: 'link-cut', ms: 0 } }],
    ['times is 1e+300', { match: {}, effect: SILENT, times: 1e300 }],
    ['times is Infinity', { match: {}, effect: SILENT, times: Infinity }],
    ['after is -1', { match: {}, effect: SILENT, after: -1 }],
    ['the effect takes 1e+300 ms', { match: {}, effect: { kind: 'bmc-dark', ms: 1e300 } }],
    [
      'the header CONTENT-length follows from the body',
      { match: {}, effect: { kind: 'status', status: 403, headers: { 'CONTENT-length': '5' } } },
    ],
    ['between ends before it begins', { match: {}, effect: SILENT, between: [2, 1] }],
  ])('with the sentence: %s', async (message, fault) => {
    await using lab = await createStagedLab()
    for (const name of ['node-0', 'node-1']) await lab.enroll({ fields: { name } })
    const add = () => lab.faults.add(fault)
    expect(add).toThrow(UserError)
    expect(add).toThrow(message)
    expect(lab.faults.list()).toEqual([])
  })

  test('the nearest right name is in the remedy, or all that there are', async () => {
    await using lab = await createStagedLab()
    const remedies = (
      [
        { bmc: 'set pwer' },
        { step: 'instal_coreos' },
        { step: 'nothing_like_it' },
        { state: 'cleaning', phase: 'install' },
      ] as const
    ).map((match) => {
      try {
        lab.faults.add({ match, effect: 'bmc' in match ? { kind: 'bmc-silent' } : SILENT })
      } catch (error) {
        return (error as UserError).remedy
      }
      return undefined
    })
    expect(remedies).toEqual([
      'did you mean set power?',
      'did you mean install_coreos?',
      expect.stringMatching(/^there are .*erase_devices, .*install_coreos/),
      'match the state deploying or wait call-back or deploy hold, or leave one of the two out',
    ])
  })

  test('a step of the lab is taken, and a program that none of its ramdisks has', async () => {
    const step = defineStep({ name: 'flash_firmware', interface: 'deploy', on: ['deploy'], run: async () => {} })
    const manager = {
      className: 'Own',
      name: 'own',
      version: '1',
      support: () => Promise.resolve(3),
      steps: [step],
    }
    await using lab = await createStagedLab({ managers: [manager] })
    lab.faults.add({ match: { step: 'flash_firmware' }, effect: SILENT })
    lab.faults.add({ match: { program: 'vendor-flash' }, effect: { kind: 'exit-code', code: 0 } })
    expect(lab.faults.list()).toHaveLength(2)
    expect(() => lab.faults.add({ match: { step: 'install_coreos' }, effect: SILENT })).toThrow(
      'has a step "install_coreos"',
    )
  })

  test.each(DRIVER_CALLS)('a call that Ironic makes of a BMC is known: %s', (call) => {
    const sources = ['bmcs.ts', 'probed-bmc.ts'].map((name) =>
      readFileSync(new URL(`../bmcs/${name}`, import.meta.url), 'utf8'),
    )
    expect(sources.join('')).toContain(`'${call}'`)
  })

  test.each<Fault>([
    { match: { node: 'node-0', route: 'GET /v1/nodes' }, effect: STATUS },
    { match: { node: 'node-0', route: 'POST /v1/heartbeat', phase: 'install' }, effect: SILENT },
    { match: { machine: 'machine-1', route: 'POST /v1/commands' }, effect: STATUS },
    { match: { route: '/v1', phase: 'install' }, effect: STATUS },
    { match: { node: 'node-0', disk: 'sdb' }, effect: { kind: 'disk-full' } },
    { match: { node: 'node-0', machine: 'machine-1' }, effect: SILENT },
  ])('%j is taken', async (fault) => {
    await using lab = await createStagedLab()
    await lab.enroll({ fields: { name: 'node-0' } })
    lab.faults.add(fault)
    expect(lab.faults.list()).toMatchObject([fault])
  })
})
