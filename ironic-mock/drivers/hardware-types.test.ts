import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { makeNodeRecord } from '../conductor/records/new-records.js'
import { interfaceSteps } from '../conductor/steps/driver-step-table.js'
import type { NodeRecord } from '../../base/wire/index.js'
import { enabledTypes } from './enabled.js'
import { GENERIC_INTERFACES } from './generic.js'
import { vendorMethod, type HardwareType } from './hardware-type.js'
import { chooseInterfaces, HARDWARE_TYPES, hardwareType } from './hardware-types.js'
import { managementProblem, supportedBootDevices } from './management.js'
import { powerProblem } from './requirements.js'
import { vendorMethods } from './vendor.js'

/** A driver as the one file of it would export it. */
const ACME: HardwareType = {
  name: 'acme',
  className: 'AcmeHardware',
  interfaces: { ...GENERIC_INTERFACES, management: ['acme'], power: ['acme'], vendor: ['acme', 'no-vendor'] },
  properties: { acme_address: 'Address of the BMC. Required.' },
  implementations: {
    management: { acme: { calls: ['inject_nmi'], bootDevices: ['disk'], readsModes: false } },
    power: {
      acme: {
        bmc: {
          required: ['acme_address'],
          missing: (fields) => `Missing for Acme: ${fields.join(', ')}.`,
          refused: (_, error) => error.message,
          waits: () => [],
        },
      },
    },
    vendor: {
      acme: {
        methods: { blink: vendorMethod('POST', 'Blinks.') },
        steps: [{ interface: 'vendor', step: 'blink', in: { clean: { ramdisk: false } } }],
      },
    },
  },
}
const TYPES = [...HARDWARE_TYPES, ACME]

function acmeNode(driver_info: NodeRecord['driver_info']): NodeRecord {
  const fields = { driver: 'acme', driver_info }
  const interfaces = chooseInterfaces(hardwareType('acme', '', TYPES), {}, TYPES)
  return { ...makeNodeRecord(fields, interfaces, '2026-01-02T03:04:05', '11111111-1111-4111-8111-111111111111'), id: 1 }
}

test('a new driver needs only a record and a row in the table', () => {
  const node = acmeNode({ acme_address: 'bmc' })

  expect(node).toMatchObject({ power_interface: 'acme', vendor_interface: 'acme', deploy_interface: 'custom-agent' })
  expect(powerProblem(acmeNode({}), TYPES)).toBe('Missing for Acme: acme_address.')
  expect(powerProblem(node, TYPES)).toBeUndefined()
  expect(supportedBootDevices(node, TYPES)).toEqual(['disk'])
  expect(managementProblem(node, 'inject_nmi', TYPES)).toBeUndefined()
  expect(managementProblem(node, 'set_boot_mode', TYPES)).toContain('Driver acme does not support set_boot_mode')
  expect(vendorMethods(node, TYPES)).toMatchObject({ blink: { http_methods: ['POST'], async: true } })
  expect(interfaceSteps(node, 'clean', TYPES)).toMatchObject([{ step: 'blink', requires_ramdisk: false }])
  expect(interfaceSteps(node, 'deploy', TYPES)).toEqual([])
})

test('interfaces of a new driver are its defaults, before those that upstream prefers, without a row in their order', () => {
  const [acme] = enabledTypes([ACME], { enabled: {}, defaults: {} })
  expect(acme!.interfaces.vendor).toEqual(['acme', 'no-vendor'])
  expect(acme!.interfaces.power).toEqual(['acme'])
})

/**
 * Files that may name implementations besides those of the hardware types: configuration, and the order of upstream's
 * defaults.
 */
const MAY_NAME = /^(config\/|drivers\/enabled\.ts$)|\.test\.ts$/

test('no other file of the conductor names a hardware type or an implementation of its BMC', async () => {
  const room = join(import.meta.dirname, '..')
  const owners = HARDWARE_TYPES.map(({ name }) => `drivers/${name}.ts`)
  const names = HARDWARE_TYPES.flatMap(({ name, implementations: { power = {}, boot = {} } }) => [
    name,
    ...Object.keys(power).filter((powers) => power[powers]?.bmc),
    ...Object.keys(boot).filter((boots) => boots.includes('redfish')),
  ])
  const files = (await readdir(room, { recursive: true })).filter((file) => file.endsWith('.ts'))
  const sources = files.filter((file) => !owners.includes(file) && !MAY_NAME.test(file))

  const found = await Promise.all(
    sources.map(async (file) => {
      const code = (await readFile(join(room, file), 'utf8')).replace(/^\s*(\/?\*|\/\/).*$/gm, '')
      return names.filter((name) => code.includes(`'${name}'`)).map((name) => `${file}: ${name}`)
    }),
  )

  expect(owners.every((owner) => files.includes(owner))).toBe(true)
  expect(found.flat()).toEqual([])
})
