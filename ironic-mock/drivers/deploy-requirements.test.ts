import { expect, test } from 'vitest'
import { makeNodeRecord } from '../conductor/records/new-records.js'
import type { JsonObject, NodeRecord } from '../../base/wire/index.js'
import { bootModeOf, capabilitiesOf } from './deploy/agent-checks.js'
import { deployProblem, imageSourceProblem } from './deploy-requirements.js'
import { chooseInterfaces, hardwareType } from './hardware-types.js'

const U = '11111111-1111-4111-8111-111111111111'

function node(deploy_interface: string, instance_info: JsonObject, more: Partial<NodeRecord> = {}): NodeRecord {
  const fields = {
    driver: 'redfish',
    boot_interface: 'redfish-virtual-media',
    deploy_interface,
    instance_info,
    ...more,
  }
  return { ...makeNodeRecord(fields, chooseInterfaces(hardwareType('redfish', ''), fields), '2026', U), id: 1 }
}

const HASH = { image_os_hash_algo: 'sha256', image_os_hash_value: 'ab' }
const SOURCE = { image_source: 'http://x/i.raw' }
const noChecksum = `image_source's "image_checksum", or "image_os_hash_algo" and "image_os_hash_value" must be provided in instance_info for node ${U}`

test.each<[string, JsonObject, string | undefined]>([
  ['direct', { ...SOURCE, ...HASH }, undefined],
  ['direct', { ...SOURCE, image_checksum: 'ab' }, undefined],
  ['direct', { ...SOURCE, image_checksum: 'http://x/SHA256SUMS' }, undefined],
  ['direct', { image_source: 'file:///images/i.raw' }, undefined],
  [
    'direct',
    {},
    `Node ${U} failed to validate deploy image info. Some parameters were missing. Missing are: ['instance_info.image_source']`,
  ],
  ['direct', SOURCE, noChecksum],
  ['direct', { ...SOURCE, image_os_hash_algo: 'sha256' }, noChecksum],
  ['direct', { ...SOURCE, image_checksum: 'ab', image_os_hash_value: 'ab' }, noChecksum],
  [
    'direct',
    { ...SOURCE, ...HASH, image_type: 'floppy' },
    'Invalid image_type "floppy", valid are partition, whole-disk',
  ],
  [
    'direct',
    { ...SOURCE, ...HASH, capabilities: { boot_mode: 'coal' } },
    "The parameter 'boot_mode' from instance_info['capabilities'] has an invalid value: 'coal'. Acceptable values are: bios, uefi.",
  ],
  [
    'direct',
    { ...SOURCE, ...HASH, image_download_source: 'odd' },
    'Invalid value for image_download_source: "odd". Valid values are swift, http or local.',
  ],
  ['bootc', { image_source: 'oci://quay.io/x/y' }, undefined],
  ['bootc', SOURCE, 'Invalid image href http://x/i.raw.'],
  ['bootc', {}, 'Invalid image href None.'],
  ['ramdisk', { boot_iso: 'http://x/live.iso' }, undefined],
  ['ramdisk', { kernel: 'http://x/k', ramdisk: 'http://x/r' }, undefined],
  ['ramdisk', { kernel: 'http://x/k' }, 'Image None is missing the following properties: ramdisk'],
  ['custom-agent', {}, undefined],
  [
    'custom-agent',
    { root_device: { colour: 'red' } },
    `Failed to validate the root device hints {'colour': 'red'} (from the node's instance_info) for node ${U}: The hints "colour" are invalid. Valid hints are: "size, model, wwn, serial, vendor, wwn_with_extension, wwn_vendor_extension, name, rotational, hctl, by_path"`,
  ],
  [
    'custom-agent',
    { root_device: { size: 'big' } },
    `Failed to validate the root device hints {'size': 'big'} (from the node's instance_info) for node ${U}: Root device hint "size" is not an integer value. Current value: big`,
  ],
  [
    'custom-agent',
    { root_device: { rotational: 'maybe' } },
    `Failed to validate the root device hints {'rotational': 'maybe'} (from the node's instance_info) for node ${U}: Root device hint "rotational" is not a Boolean value. Current value: maybe`,
  ],
  [
    'custom-agent',
    { root_device: { serial: 5 } },
    `Failed to validate the root device hints {'serial': 5} (from the node's instance_info) for node ${U}: Root device hint "serial" is not a string value. Hint expression: 5`,
  ],
  ['custom-agent', { root_device: { size: '>= 10', name: 's== /dev/sda', rotational: 'no' } }, undefined],
])('the interface %s with %o', (deploy_interface, instance_info, problem) => {
  expect(deployProblem(node(deploy_interface, instance_info), [])).toBe(problem)
})

test('a proxy with another scheme than HTTP(S) is refused', () => {
  const driver_info = { image_http_proxy: 'ftp://x', image_https_proxy: 'proxy:3128' }
  expect(deployProblem(node('direct', { ...SOURCE, ...HASH }, { driver_info }), [])).toBe(
    "Proxy URL should either have HTTP(S) scheme or no scheme at all, the following URLs are invalid: {'image_http_proxy': 'ftp://x'}.",
  )
})

test('ramdisk needs a boot interface with ramdisk_boot, noop and fake need nothing', () => {
  const fake = { ...node('ramdisk', { boot_iso: 'http://x/i' }), boot_interface: 'fake' }
  expect(deployProblem(fake, [])).toMatch(/^Invalid configuration: The boot interface must have the `ramdisk_boot`/)
  for (const deploy_interface of ['noop', 'fake'])
    expect(deployProblem({ ...fake, deploy_interface }, [])).toBeUndefined()
})

test.each([
  ['words', 'Scheme-less image href is not a UUID.'],
  ['ftp://x/y', 'Image download protocol ftp is not supported.'],
  ['22222222-2222-4222-8222-222222222222', 'there is no image service (Glance) here'],
])('an invalid image source is refused: %s', (source, reason) => {
  expect(imageSourceProblem(source)).toBe(`Validation of image href ${source} failed, reason: ${reason}`)
})

test.each([undefined, '', 'http://x/y', 'https://x/y', 'file:///x', 'oci://x/y'])(
  'a valid image source is accepted: %s',
  (source) => {
    expect(imageSourceProblem(source)).toBeUndefined()
  },
)

test('the boot mode is read in the order of upstream’s places', () => {
  expect(bootModeOf(node('direct', {}))).toBe('uefi')
  const bios = { properties: { capabilities: 'boot_mode:bios,x:y' } }
  expect(bootModeOf(node('direct', {}, bios))).toBe('bios')
  expect(bootModeOf(node('direct', { capabilities: '{"boot_mode": "uefi"}' }, bios))).toBe('uefi')
  expect(bootModeOf(node('direct', { capabilities: { secure_boot: 'true' } }, bios))).toBe('uefi')
  expect(capabilitiesOf('{nonsense')).toEqual({})
})
