import { REALISTIC_MACHINES } from '../../../lab/index.js'
import { minutes } from '../../../base/runtime/index.js'
import type { OperatorScene } from './operator-scenes.js'

const CUSTOM = { customDeploy: { method: 'install_coreos' }, userData: { name: 'ignition' } }
const isOn =
  (isSo: boolean) =>
  ({ poweredOn }: { poweredOn: boolean }): boolean =>
    poweredOn === isSo

/** Hosts whose power, hardware and firmware are seen to, or that are left alone. */
export const HARDWARE_SCENES: Readonly<Record<string, OperatorScene>> = {
  power: {
    play: async (on) => {
      await on.create(CUSTOM)
      await on.settled('provisioned')
      await on.change({ online: false })
      await on.until('off', isOn(false))
      await on.mark('off')
      await on.change({ online: true })
      await on.until('on', isOn(true))
      await on.mark('on')
    },
  },
  reboots: {
    play: async (on) => {
      await on.create(CUSTOM)
      await on.settled('provisioned')
      await on.annotate({ 'reboot.metal3.io': '' })
      await on.until('off', isOn(false))
      await on.until('on', isOn(true))
      await on.annotate({ 'reboot.metal3.io': '{"mode":"hard"}' })
      await on.until('off', isOn(false))
      await on.until('on', isOn(true))
      await on.annotate({ 'reboot.metal3.io/fencing': '{"mode":"soft"}' })
      await on.until('off', isOn(false))
      await on.pass(minutes(3))
      await on.mark('fenced')
      await on.annotate({ 'reboot.metal3.io/fencing': null })
      await on.until('on', isOn(true))
      await on.mark('on')
    },
  },
  'power off disabled': {
    play: async (on) => {
      await on.create({ ...CUSTOM, disablePowerOff: true })
      await on.settled('provisioned')
      await on.annotate({ 'reboot.metal3.io': '' })
      await on.until('the annotation is gone', (_status, { metadata }) => !metadata.annotations?.['reboot.metal3.io'])
      await on.pass(minutes(3))
      await on.mark('rebooted')
      await on.delete()
    },
  },
  detached: {
    play: async (on) => {
      await on.create(CUSTOM)
      await on.settled('provisioned')
      await on.annotate({ 'baremetalhost.metal3.io/detached': '' })
      await on.until('detached', ({ operationalStatus }) => operationalStatus === 'detached')
      await on.mark('detached')
      await on.annotate({ 'baremetalhost.metal3.io/detached': null })
      await on.until('attached', ({ operationalStatus }) => operationalStatus === 'OK')
      await on.settled('provisioned')
      await on.pass(minutes(3))
      await on.mark('attached')
      await on.annotate({ 'baremetalhost.metal3.io/detached': '' })
      await on.until('detached', ({ operationalStatus }) => operationalStatus === 'detached')
      await on.delete()
    },
  },
  'detached by force': {
    lab: { machinePace: REALISTIC_MACHINES },
    play: async (on) => {
      await on.create({})
      await on.untilNode('inspect wait')
      await on.pass(minutes(1))
      await on.annotate({ 'baremetalhost.metal3.io/detached': '{"force":true,"deleteAction":"delay"}' })
      await on.until('detached', ({ operationalStatus }) => operationalStatus === 'detached')
      await on.mark('detached')
      await on.annotate({ 'baremetalhost.metal3.io/detached': null })
      await on.settled('available')
    },
  },
  'inspected again': {
    play: async (on) => {
      await on.create({ online: false })
      await on.settled('available', false)
      await on.pass(minutes(3))
      await on.annotate({ 'inspect.metal3.io': '' })
      await on.until('inspecting', ({ provisioning }) => provisioning.state === 'inspecting')
      await on.settled('available', false)
      await on.pass(minutes(3))
      await on.mark('available')
    },
  },
  'not inspected': {
    play: async (on) => {
      const hardware = { hostname: 'known', ramMebibytes: 4096, cpu: { arch: 'x86_64', count: 2 } }
      await on.create(
        { inspectionMode: 'disabled' },
        { annotations: { 'inspect.metal3.io/hardwaredetails': JSON.stringify(hardware) } },
      )
      await on.settled('available')
      await on.mark('available')
      await on.delete()
    },
  },
  'hardware settings': {
    // Cleaning takes longer than the looks at the settings are apart.
    lab: { machinePace: REALISTIC_MACHINES },
    play: async (on) => {
      await on.create({
        online: false,
        raid: { hardwareRAIDVolumes: [{ level: '1', name: 'root', sizeGibibytes: 20, numberOfPhysicalDisks: 2 }] },
      })
      await on.settled('available', false)
      await on.mark('RAID')
      await on.changeBeside('HostFirmwareSettings', { settings: { ProcTurboMode: 'Disabled' } })
      await on.until('preparing', ({ provisioning }) => provisioning.state === 'preparing')
      await on.settled('available', false)
      await on.mark('settings')
      await on.changeBeside('HostFirmwareComponents', { updates: [{ component: 'bios', url: on.url('/bios-2.bin') }] })
      await on.until('preparing', ({ provisioning }) => provisioning.state === 'preparing')
      await on.settled('available', false)
      await on.mark('firmware')
      await on.change({ raid: { hardwareRAIDVolumes: null, softwareRAIDVolumes: [{ level: '1' }] } })
      await on.until('preparing', ({ provisioning }) => provisioning.state === 'preparing')
      await on.settled('available', false)
      await on.mark('software RAID')
      await on.delete()
    },
  },
  serviced: {
    lab: { machinePace: REALISTIC_MACHINES },
    play: async (on) => {
      await on.create(CUSTOM)
      await on.createBeside('HostUpdatePolicy', { firmwareSettings: 'onReboot', firmwareUpdates: 'onReboot' })
      await on.settled('provisioned')
      await on.changeBeside('HostFirmwareSettings', { settings: { ProcTurboMode: 'Disabled' } })
      await on.pass(minutes(10))
      await on.annotate({ 'reboot.metal3.io': '' })
      await on.until('servicing', ({ operationalStatus }) => operationalStatus === 'servicing')
      await on.until('serviced', ({ operationalStatus, poweredOn }) => operationalStatus === 'OK' && poweredOn)
      await on.mark('serviced')
    },
  },
  'data image': {
    play: async (on) => {
      await on.create(CUSTOM)
      await on.settled('provisioned')
      await on.createBeside('DataImage', { url: on.url('/data.iso') })
      await on.annotate({ 'reboot.metal3.io': '' })
      await on.until('off', isOn(false))
      await on.until('on', isOn(true))
      await on.mark('attached')
    },
  },
  'fast inspection': {
    play: async (on) => {
      await on.create({ inspectionMode: 'fast' })
      await on.settled('available')
      await on.mark('available', { isWhole: true })
    },
  },
  'firmware that cannot be had': {
    play: async (on) => {
      await on.create({ online: false })
      await on.settled('available', false)
      await on.changeBeside('HostFirmwareSettings', { settings: { ProcTurboMode: 'Sometimes' } })
      await on.pass(minutes(10))
      await on.mark('invalid')
    },
  },
  'paused and delayed deletion': {
    play: async (on) => {
      await on.create(CUSTOM, { annotations: { 'baremetalhost.metal3.io/paused': '' } })
      await on.pass(minutes(10))
      await on.annotate({ 'baremetalhost.metal3.io/paused': null })
      await on.settled('provisioned')
      await on.annotate({ 'baremetalhost.metal3.io/detached': '{"deleteAction":"delay"}' })
      await on.until('detached', ({ operationalStatus }) => operationalStatus === 'detached')
      await on.kube.delete('BareMetalHost', { name: 'one', namespace: 'metal3' })
      await on.pass(minutes(30))
      await on.mark('kept')
      await on.annotate({ 'baremetalhost.metal3.io/detached': null })
      await on.untilGone()
    },
  },
  'data image taken out': {
    play: async (on) => {
      await on.create(CUSTOM)
      await on.createBeside('DataImage', { url: on.url('/data.iso') })
      await on.settled('provisioned')
      await on.annotate({ 'reboot.metal3.io': '' })
      await on.until('off', isOn(false))
      await on.until('on', isOn(true))
      await on.kube.delete('DataImage', { name: 'one', namespace: 'metal3' })
      await on.annotate({ 'reboot.metal3.io': '' })
      await on.until('off', isOn(false))
      await on.until('on', isOn(true))
      await on.untilGone('DataImage')
      await on.mark('taken out')
    },
  },
}
