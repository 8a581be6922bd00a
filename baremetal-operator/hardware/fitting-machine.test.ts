import { describe, expect, test } from 'vitest'
import { explainHost } from '../explain/explain.js'
import { wantedHosts } from '../manifests/wanted-hosts.js'
import { fittingMachine } from './fitting-machine.js'

const IMAGE = `image: { url: "http://192.0.2.1/x.qcow2", checksum: ${'a'.repeat(64)}, checksumType: sha256, format: qcow2 }`

const manifest = (spec: string, { scheme = 'redfish', more = '', annotations = '' } = {}): string => `
apiVersion: v1
kind: Secret
metadata: { name: b, namespace: lab }
stringData: { username: admin, password: secret }
---
apiVersion: metal3.io/v1alpha1
kind: BareMetalHost
metadata:
  name: hh
  namespace: lab
${annotations}spec:
  online: true
  bootMACAddress: 00:5c:52:31:3a:9d
  bmc: { address: "${scheme}://192.0.2.10/redfish/v1/Systems/1", credentialsName: b }
  ${IMAGE}
  ${spec}
${more}`

const wanted = (text: string) => {
  const { hosts, findings } = wantedHosts([{ name: 'hosts.yaml', text }])
  expect(findings).toEqual([])
  return hosts[0]!
}

describe('a host with root device hints', () => {
  test.each<[hints: string, note: string]>([
    ['{ wwn: "0x55cd2e415652abcd" }', 'the system comes on /dev/sdc'],
    ['{ serialNumber: S4EVNX0R123456 }', 'the system comes on /dev/sdc'],
    ['{ model: "PERC H755", vendor: DELL }', 'the system comes on /dev/sdc (DELL PERC H755, 256 GiB)'],
    ['{ deviceName: /dev/nvme0n1 }', 'the system comes on /dev/nvme0n1'],
    ['{ deviceName: /dev/vdb, minSizeGigabytes: 1000 }', 'the system comes on /dev/vdb (ATA ISTAGE HDD 256, 1000 GiB)'],
    ['{ deviceName: "/dev/disk/by-path/pci-0000:4a:00.0-scsi-0:2:0:0" }', 'the system comes on /dev/sdc'],
    ['{ hctl: "0:2:0:0", minSizeGigabytes: 120 }', 'the system comes on /dev/sdc'],
    ['{ wwnWithExtension: "0x600508b1001c3fd25a2d4a2f1c2b3d4e" }', 'the system comes on /dev/sdc'],
    ['{ wwnVendorExtension: "0x5a2d4a2f1c2b3d4e", rotational: false }', 'the system comes on /dev/sdc'],
    ['{ rotational: true }', 'the system comes on /dev/sdb (ATA ISTAGE HDD 256, 256 GiB)'],
    ['{ deviceName: /dev/sda, rotational: true }', 'the system comes on /dev/sda'],
  ])('%s gets a machine that they fit, and gets through', async (hints, note) => {
    const explained = await explainHost(wanted(manifest(`rootDeviceHints: ${hints}`)))
    expect(explained.notes).toContainEqual(expect.stringContaining(note))
    expect(explained.states.map(({ state, error }) => error && `${state}: ${error}`)).not.toContainEqual(
      expect.any(String),
    )
    expect(explained.ok).toBe(true)
  })

  test('keeps the default disks where they fit, and says which one is chosen, and why', () => {
    const { hardware, notes } = fittingMachine(wanted(manifest('rootDeviceHints: { rotational: true }')).manifests)
    expect(hardware).toEqual({})
    expect(notes).toEqual([
      'the system comes on /dev/sdb (ATA ISTAGE HDD 256, 256 GiB), which fits rotational true; it is the first of sda, sdb that they fit',
    ])
  })

  test('does not get through on hardware that is named for it and has no such disk', async () => {
    const host = wanted(manifest('rootDeviceHints: { serialNumber: NOT-THERE }'))
    const explained = await explainHost(host, { hardware: { disks: [{ serial: 'OTHER' }] } })
    expect(explained.notes).toContainEqual('no disk of the machine fits serialNumber NOT-THERE: it has sda')
    expect(explained.ok).toBe(false)
  })
})

test.each([
  ['dell', 'redfish', '0:0:0:0'],
  ['dell-raid', 'redfish', '0:2:0:0'],
])('the hardware profile %s is a hint too', (profile, scheme, hctl) => {
  const { notes } = fittingMachine(wanted(manifest(`hardwareProfile: ${profile}`, { scheme })).manifests)
  expect(notes).toContainEqual(expect.stringContaining(`which fits hctl ${hctl}`))
})

test('disks of a software RAID are there, one for each of the hints', () => {
  const raid =
    'raid: { softwareRAIDVolumes: [{ level: "1", physicalDisks: [{ serialNumber: A }, { serialNumber: B }] }] }'
  const { hardware } = fittingMachine(wanted(manifest(raid)).manifests)
  expect(hardware.disks?.map(({ serial }) => serial)).toEqual(expect.arrayContaining(['A', 'B']))
})

describe('the hardware that is known of a host is that of its machine', () => {
  const details = {
    systemVendor: { manufacturer: 'Example Corp', productName: 'R1', serialNumber: 'EX1' },
    ramMebibytes: 65536,
    cpu: { arch: 'aarch64', count: 48 },
    nics: [
      { name: 'ens1f0', mac: '00:5c:52:31:3a:9d', ip: '192.0.2.77', pxe: true },
      { name: 'ens1f0', mac: '00:5c:52:31:3a:9d', ip: 'fd00::77', pxe: true },
    ],
    storage: [
      { name: '/dev/nvme0n1', type: 'NVME', sizeBytes: 960197124096, model: 'EX960', serialNumber: 'N1' },
      { name: '/dev/sda', type: 'HDD', sizeBytes: 4000787030016, vendor: 'EX', serialNumber: 'H1', hctl: '6:0:0:0' },
    ],
  }
  const hardware = {
    manufacturer: 'Example Corp',
    product: 'R1',
    serial: 'EX1',
    architecture: 'aarch64',
    cpus: 48,
    memoryMib: 65536,
    nics: [{ name: 'ens1f0', mac: '00:5c:52:31:3a:9d', ipv4: '192.0.2.77', pxe: true }],
    disks: [
      { name: 'nvme0n1', transport: 'nvme', size: 960197124096, model: 'EX960', serial: 'N1' },
      {
        name: 'sda',
        transport: 'sas',
        size: 4000787030016,
        vendor: 'EX',
        serial: 'H1',
        hctl: '6:0:0:0',
        rotational: true,
      },
    ],
  }

  test('by an annotation', () => {
    const annotations = `  annotations:\n    inspect.metal3.io/hardwaredetails: '${JSON.stringify(details)}'\n`
    const host = wanted(manifest('inspectionMode: disabled\n  rootDeviceHints: { serialNumber: H1 }', { annotations }))
    const fitting = fittingMachine(host.manifests)
    expect(fitting.hardware).toEqual(hardware)
    expect(fitting.notes).toEqual([
      'the system comes on /dev/sda (EX ISTAGE HDD 256, 3726 GiB), which fits serialNumber H1; it is the first of nvme0n1, sda that they fit',
    ])
  })

  test('by its HardwareData', () => {
    const more = `---
apiVersion: metal3.io/v1alpha1
kind: HardwareData
metadata: { name: hh, namespace: lab }
spec: { hardware: ${JSON.stringify(details)} }
`
    expect(fittingMachine(wanted(manifest('', { more })).manifests).hardware).toEqual(hardware)
  })
})
