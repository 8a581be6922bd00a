import fc from 'fast-check'
import { expect, test } from 'vitest'
import { draws } from '../../../test/kit/conductor/draws.js'
import { howMany } from '../../../test/kit/how-many.js'
import { NodeModel } from '../../../test/kit/conductor/node-model.js'
import { IronicError, type NodeRecord } from '../../../base/wire/index.js'
import { UPSTREAM_CONF, type ConductorConf } from './conductor-conf.js'
import { TRANSITIONS } from './transitions.js'

const IMAGE = { image_source: 'http://i', image_checksum: 'c' }
const AGENT: Partial<NodeRecord> = { boot_interface: 'redfish-virtual-media', rescue_interface: 'agent' }
const OTHERWISE: Partial<ConductorConf> = {
  fastTrack: true,
  inspectionPowerOff: false,
  forcePowerDuringSync: false,
  nodeHistory: false,
  powerOffInCleanFail: true,
  powerOffInServiceFail: true,
  allowProvisioningInMaintenance: false,
}
/** Every time limit as short as Ironic's options allow. */
const HASTY: Partial<ConductorConf> = {
  checkInterval: 0,
  deployCallbackTimeout: 1,
  cleanCallbackTimeout: 1,
  inspectWaitTimeout: 1,
  serviceCallbackTimeout: 1,
  rescueCallbackTimeout: 1,
}
const cases: [string, string, Partial<NodeRecord>, Partial<ConductorConf>][] = [
  ['redfish with custom-agent', 'redfish', AGENT, {}],
  ['the same configured otherwise', 'redfish', AGENT, OTHERWISE],
  [
    'the same inspected by its BMC, never off',
    'redfish',
    { ...AGENT, inspect_interface: 'redfish', disable_power_off: true },
    {},
  ],
  ['the same in haste', 'redfish', AGENT, HASTY],
  ['fake-hardware with custom-agent', 'fake-hardware', {}, {}],
  ['redfish with direct', 'redfish', { ...AGENT, deploy_interface: 'direct', instance_info: IMAGE }, {}],
  [
    'redfish with ramdisk',
    'redfish',
    { ...AGENT, deploy_interface: 'ramdisk', instance_info: { boot_iso: 'http://i' } },
    {},
  ],
  ['all fake', 'fake-hardware', { deploy_interface: 'fake', inspect_interface: 'fake', rescue_interface: 'fake' }, {}],
]

const walks = new Map<string, Set<string>>()

/** Walks at random through one of the cases, once; gives the states that were seen. */
function walk([name, driver, more, conf]: (typeof cases)[number]): Set<string> {
  const known = walks.get(name)
  if (known) return known
  const visited = new Set<string>()
  fc.assert(
    fc.property(fc.array(draws, { minLength: 40, maxLength: 150, size: 'max' }), (sequence) => {
      const model = new NodeModel(driver, more, { ...UPSTREAM_CONF, ...conf })
      for (const draw of sequence) {
        const event = model.event(draw)
        if (!event) continue
        const before = model.node
        const result = model.apply(event)
        if (!(result instanceof IronicError)) model.check(event, before)
        else if (!(result.status < 500)) expect(result.status).toBeLessThan(500)
        visited.add(model.node.provision_state)
      }
    }),
    { numRuns: howMany(25, 60) },
  )
  walks.set(name, visited)
  return visited
}

test.each(cases)('no sequence of events breaks an invariant of the node: %s', (...settings) => {
  expect(walk(settings)).toContain('active')
})

test('the walks reach every provision state', () => {
  const everywhere = new Set(cases.flatMap((settings) => [...walk(settings)]))
  expect([...everywhere].sort()).toEqual(Object.keys(TRANSITIONS).sort())
}, 60_000)
