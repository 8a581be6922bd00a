import { minutes } from '../../../base/runtime/index.js'
import type { OperatorScene } from './operator-scenes.js'
import type { OperatorStage } from './operator-stage.js'

const CUSTOM = { customDeploy: { method: 'install_coreos' }, userData: { name: 'ignition' } }
const GONE = { image: null, customDeploy: null }

/** From nothing to provisioned, to available, to gone. */
const lifecycle =
  (
    specOf: (on: OperatorStage) => object,
    { scheme, isWhole = false }: { scheme?: string; isWhole?: boolean } = {},
  ): OperatorScene['play'] =>
  async (on) => {
    await on.create(specOf(on), {}, scheme)
    await on.settled('provisioned')
    await on.mark('provisioned', { isWhole })
    await on.change(GONE)
    await on.settled('available')
    await on.mark('available')
    await on.delete()
  }

/** A host whose image cannot be installed, and then another one that can. */
const failing =
  (imageOf: (on: OperatorStage) => object): OperatorScene['play'] =>
  async (on) => {
    await on.create({ image: imageOf(on) as never })
    await on.failed('provisioning error')
    await on.mark('failed')
    await on.change({ image: on.image('/small.raw') })
    await on.settled('provisioned')
    await on.delete()
  }

/** Hosts that get a system, by every way there is, or cannot get it. */
export const INSTANCE_SCENES: Readonly<Record<string, OperatorScene>> = {
  custom: { play: lifecycle(() => CUSTOM, { isWhole: true }) },
  'live-iso': { play: lifecycle(() => ({ image: { url: 'http://images.invalid/live.iso', format: 'live-iso' } })) },
  image: { play: lifecycle((on) => ({ image: on.image('/small.raw'), userData: { name: 'ignition' } })) },
  'image changed': {
    play: async (on) => {
      const { checksumType: _type, ...image } = on.image('/small.raw')
      await on.create({ image })
      await on.settled('provisioned')
      await on.change({ image: on.image('/other.raw') })
      await on.until('the other image', ({ provisioning: { state, image: is } }) =>
        Boolean(state === 'provisioned' && is?.url?.endsWith('other.raw')),
      )
      await on.settled('provisioned')
      await on.mark('changed')
      await on.delete()
    },
  },
  'wrong checksum': { play: failing((on) => on.image('/small.raw', { checksum: 'a'.repeat(64) })) },
  'no such image': { play: failing((on) => on.image('/small.raw', { url: on.url('/missing.raw') })) },
  'image without a checksum': {
    play: failing((on) => ({ url: on.url('/small.raw'), format: 'raw' })),
  },
  'image larger than the disk': {
    lab: { hardware: [{ hardware: { disks: [{ name: 'sda', size: 2 ** 20 }] } }] },
    play: async (on) => {
      await on.create({ image: on.image('/small.raw') })
      await on.failed('provisioning error')
      await on.mark('failed')
    },
  },
  'no such disk': {
    play: async (on) => {
      const rootDeviceHints = { minSizeGigabytes: 1, model: 'none', rotational: false, deviceName: '/dev/sda' }
      await on.create({ image: on.image('/small.raw'), rootDeviceHints })
      await on.failed('provisioning error')
      await on.mark('failed')
      await on.delete()
    },
  },
  'many settings': {
    play: async (on) => {
      await on.secret('network', { networkData: '{"links":[],"networks":[],"services":[]}' })
      await on.secret('before', {
        networkData:
          '{"links":[{"id":"eth0","type":"phy","ethernet_mac_address":"52:54:00:b0:00:01"}],"networks":[],"services":[]}',
      })
      await on.secret('metadata', { metaData: '{"rack":"r1","name":"other"}' })
      await on.create({
        image: on.image('/small.raw'),
        userData: { name: 'ignition' },
        networkData: { name: 'network' },
        metaData: { name: 'metadata' },
        preprovisioningNetworkDataName: 'before',
        architecture: 'x86_64',
        bootMode: 'UEFISecureBoot',
        automatedCleaningMode: 'disabled',
        rootDeviceHints: { minSizeGigabytes: 1, model: 'ISTAGE', rotational: false, deviceName: '/dev/sda' },
        consumerRef: { apiVersion: 'v1', kind: 'Machine', name: 'worker-0', namespace: 'metal3' },
      })
      await on.until(
        'the end',
        ({ provisioning, errorType }) => provisioning.state === 'provisioned' || errorType === 'provisioning error',
      )
      await on.mark('provisioned')
      await on.delete()
    },
  },
  'root volume': {
    play: async (on) => {
      await on.create({ ...CUSTOM, raid: { softwareRAIDVolumes: [{ level: '1', rootVolume: true }] } })
      await on.settled('provisioned')
      await on.mark('provisioned')
    },
  },
  'wrong password': {
    lab: { bmcAccount: { username: 'admin', password: 'right' } },
    play: async (on) => {
      await on.create({ online: true })
      await on.failed('registration error')
      await on.mark('failed')
      await on.secret('bmc', { password: 'right' })
      await on.settled('available')
      await on.mark('available')
    },
  },
  'no account': {
    play: async (on) => {
      await on.create({
        bmc: { address: 'redfish-virtualmedia://10.4.0.1:8000/redfish/v1/Systems/1', credentialsName: 'other' },
      })
      await on.failed('registration error')
      await on.mark('no Secret')
      await on.secret('other', { username: 'admin', password: '' })
      await on.until('an empty password', ({ errorMessage }) => errorMessage.includes('password'))
      await on.mark('no password')
      await on.secret('other', { password: 'secret' })
      await on.settled('available')
      await on.delete()
    },
  },
  'unmanaged host': {
    play: async (on) => {
      await on.create({ bmc: undefined as never })
      await on.until('unmanaged', ({ provisioning }) => provisioning.state === 'unmanaged')
      await on.mark('unmanaged')
      await on.delete()
    },
  },
  'external host': {
    play: async (on) => {
      await on.create({ externallyProvisioned: true })
      await on.settled('externally provisioned')
      await on.mark('external')
      await on.change({ externallyProvisioned: false })
      await on.settled('available')
      await on.mark('available')
      await on.delete()
    },
  },
  adopted: {
    play: async (on) => {
      await on.create(CUSTOM)
      await on.settled('provisioned')
      await on.lab.wait(
        (async () => {
          await on.lab.ironic.stop({ keepsDatabase: false })
          await on.lab.ironic.start()
        })(),
      )
      const { ID } = (await on.get()).status!.provisioning
      await on.until('another node', ({ provisioning }) => provisioning.ID !== ID)
      await on.settled('provisioned')
      await on.pass(minutes(3))
      await on.mark('adopted')
      await on.delete()
    },
  },
  'moved here': {
    play: async (on) => {
      await on.create(CUSTOM)
      await on.settled('provisioned')
      const { status } = await on.get()
      await on.annotate({ 'baremetalhost.metal3.io/detached': '' })
      await on.until('detached', ({ operationalStatus }) => operationalStatus === 'detached')
      await on.delete()
      // The Secret went with its owner.
      await on.secret('bmc', { username: 'admin', password: 'secret' })
      const { conditions: _conditions, lastUpdated: _time, ...moved } = status!
      await on.create(CUSTOM, { annotations: { 'baremetalhost.metal3.io/status': JSON.stringify(moved) } })
      await on.settled('provisioned')
      await on.pass(minutes(3))
      await on.mark('moved')
    },
  },
  'booted over the network': { play: lifecycle(() => CUSTOM, { scheme: 'redfish' }) },
}
