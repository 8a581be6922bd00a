import { mkdtemp, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { command } from '../kit/commands/command.js'

/** Machines that hosts get from what their manifests say, or from a hardware file: which disk the system comes on, and why. */

const SECRET = `
apiVersion: v1
kind: Secret
metadata: {name: bmc, namespace: lab}
stringData: {username: admin, password: secret}
`

interface HostParts {
  name?: string
  spec?: string
  annotations?: object
  more?: string
}

const host = ({ name = 'one', spec = '', annotations = {}, more = '' }: HostParts = {}): string => `${SECRET}---
apiVersion: metal3.io/v1alpha1
kind: BareMetalHost
metadata: {name: ${name}, namespace: lab, annotations: ${JSON.stringify(annotations)}}
spec:
  online: true
  bmc: {address: "redfish-virtualmedia://10.7.0.1/redfish/v1/Systems/1", credentialsName: bmc}
  bootMACAddress: 52:54:00:b0:07:01
  customDeploy: {method: install_coreos}
  ${spec}
${more}`

async function explained(yaml: string, ...argv: string[]) {
  const run = command(['bmh', 'explain', '-', ...argv], { stdin: yaml })
  const code = await run.ended
  return { code, stdout: run.stdout, stderr: run.stderr }
}

const DETAILS = {
  systemVendor: { manufacturer: 'Example Corp', productName: 'R1', serialNumber: 'EX1' },
  ramMebibytes: 65536,
  cpu: { arch: 'x86_64', count: 48 },
  nics: [{ name: 'eno1', mac: '52:54:00:b0:07:01', ip: '', pxe: true }],
  storage: [
    { name: '/dev/nvme0n1', type: 'NVME', sizeBytes: 960_197_124_096, model: 'EX960', serialNumber: 'N1' },
    { name: '/dev/sda', type: 'HDD', sizeBytes: 4_000_787_030_016, vendor: 'EX', model: 'EX4T', serialNumber: 'H1' },
  ],
}
const HARDWARE_DATA = `---
apiVersion: metal3.io/v1alpha1
kind: HardwareData
metadata: {name: one, namespace: lab}
spec: {hardware: ${JSON.stringify(DETAILS)}}
`
const BY_HINTS = 'the simulated machine has it because of them'

describe('bmh explain says which disk the system comes on, and why, of a host', () => {
  test.each<[of: string, parts: HostParts, note: string]>([
    [
      'with a serial number in its hints',
      { spec: 'rootDeviceHints: {serialNumber: S4EVNX0R1}' },
      `/dev/sdc (ATA ISTAGE HDD 256, 256 GiB), which fits serialNumber S4EVNX0R1; ${BY_HINTS}`,
    ],
    [
      'with a device name and a size',
      { spec: 'rootDeviceHints: {deviceName: /dev/vdb, minSizeGigabytes: 900}' },
      `/dev/vdb (ATA ISTAGE HDD 256, 900 GiB), which fits deviceName /dev/vdb, minSizeGigabytes 900; ${BY_HINTS}`,
    ],
    [
      'whose hints the default disks fit',
      { spec: 'rootDeviceHints: {rotational: true}' },
      '/dev/sdb (ATA ISTAGE HDD 256, 256 GiB), which fits rotational true; it is the first of sda, sdb that they fit',
    ],
    ['with a hardware profile', { spec: 'hardwareProfile: dell-raid' }, `which fits hctl 0:2:0:0; ${BY_HINTS}`],
    [
      'with an annotation that has its hardware',
      {
        spec: 'inspectionMode: disabled\n  rootDeviceHints: {serialNumber: H1}',
        annotations: { 'inspect.metal3.io/hardwaredetails': JSON.stringify(DETAILS) },
      },
      '/dev/sda (EX EX4T, 3726 GiB), which fits serialNumber H1; it is the first of nvme0n1, sda that they fit',
    ],
    [
      'with its HardwareData',
      { spec: 'rootDeviceHints: {model: EX960}', more: HARDWARE_DATA },
      '/dev/nvme0n1 (EX960, 894 GiB), which fits model EX960; it is the first of nvme0n1, sda that they fit',
    ],
  ])('%s', async (_, parts, note) => {
    const { code, stdout, stderr } = await explained(host(parts))
    expect(stderr).toBe('')
    expect(stdout).toContain('note: the system comes on ')
    expect(stdout).toContain(note)
    expect(stdout).not.toContain('does not reach its final state')
    expect(code).toBe(0)
  })

  test('whose HardwareData has no such disk: it does not reach its final state, and the note says what there is', async () => {
    const { code, stdout } = await explained(
      host({ spec: 'rootDeviceHints: {serialNumber: NOT-THERE}', more: HARDWARE_DATA }),
    )
    expect(stdout).toContain('note: no disk of the machine fits serialNumber NOT-THERE: it has nvme0n1, sda')
    expect(stdout).toContain('lab/one does not reach its final state')
    expect(code).toBe(1)
  })
})

describe('a hardware file', () => {
  const hardware = async (): Promise<string> => {
    const file = join(await mkdtemp(join(tmpdir(), 'ironstage-machines-')), 'rack.yaml')
    await writeFile(
      file,
      `machines:
  - host: lab/one
    disks: [{serial: OTHER}, {serial: WANTED, model: Rack disk, size: 120GB}]
`,
    )
    return file
  }
  const spec = 'rootDeviceHints: {serialNumber: WANTED}'

  test('names the machine of a host by its name; other hosts get one that fits them', async () => {
    const file = await hardware()
    const named = await explained(host({ spec }), '--hardware', file)
    expect(named.stderr).toBe('')
    expect(named.stdout).toContain(
      'the system comes on /dev/sdb (ATA Rack disk, 112 GiB), which fits serialNumber WANTED; it is the first of sda, sdb that they fit',
    )
    expect(named.code).toBe(0)
    const other = await explained(host({ name: 'two', spec }), '--hardware', file)
    expect(other.stdout).toContain(`which fits serialNumber WANTED; ${BY_HINTS}`)
    expect(other.code).toBe(0)
  })

  test('goes before what the manifests say', async () => {
    const { code, stdout } = await explained(
      host({ spec: 'rootDeviceHints: {serialNumber: H1}', more: HARDWARE_DATA }),
      '--hardware',
      await hardware(),
    )
    expect(stdout).toContain('note: no disk of the machine fits serialNumber H1: it has sda, sdb')
    expect(code).toBe(1)
  })
})
