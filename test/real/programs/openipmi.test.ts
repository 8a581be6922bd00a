import { beforeAll, expect, test } from 'vitest'
import { LabClock, Probe, Scope, silent, systemRandom } from '../../../base/runtime/index.js'
import { openRemoteBmcs } from '../../../lab/bmcs/remote-bmcs.js'
import { openBootFiles } from '../../../lab/images/boot-files.js'
import { aNode } from '../../kit/ironic-records.js'
import { REAL_PEER_TIMEOUT } from '../limits.js'
import { openIpmi, openIpmiFolder } from './openipmi.js'

/** A BMC that is no part of ironstage, which a conductor reaches as that of a machine elsewhere. */

beforeAll(() => openIpmiFolder(), 900_000)

test("OpenIPMI's BMC is asked for its power, switched, and told its boot device; a wrong password is named", async () => {
  await using scope = new Scope()
  const there = scope.use(await openIpmi({ username: 'admin', password: 'secret-1' }))
  const clock = new LabClock({ mode: 1 })
  const files = scope.use(
    await openBootFiles({
      host: '127.0.0.1',
      port: 0,
      advertise: '127.0.0.1',
      allowedHosts: undefined,
      folder: null,
      clock,
      random: systemRandom,
      logger: silent,
    }),
  )
  const remote = scope.use(
    openRemoteBmcs({ files, probe: new Probe(), clock, random: systemRandom, powerTimeout: REAL_PEER_TIMEOUT }),
  )
  const bmcWith = (ipmi_password: string) => {
    const driver_info = { ipmi_address: '127.0.0.1', ipmi_port: there.port, ipmi_username: 'admin', ipmi_password }
    return remote.of(aNode({ driver: 'ipmi', boot_interface: 'ipxe', driver_info }), [])
  }
  const bmc = await bmcWith('secret-1')
  await expect.poll(() => bmc.power().catch(() => 'not yet'), { timeout: REAL_PEER_TIMEOUT }).toBe('power off')
  await bmc.setBoot({ kind: 'pxe', kernel: 'http://images.test/k', ramdisk: 'http://images.test/r', append: '' })
  await bmc.setPower('power on')
  expect(await bmc.power()).toBe('power on')
  await bmc.setBoot({ kind: 'disk' })
  await bmc.setPower('rebooting')
  await bmc.setPower('power off')
  expect(await bmc.power()).toBe('power off')
  const changes = (await there.chassisCalls()).filter((call) => call.startsWith('set '))
  // Its name for the disk is `default`.
  expect(changes).toEqual([
    'set boot pxe',
    'set power 1',
    'set boot default',
    'set power 0',
    'set power 1',
    'set power 0',
  ])
  await expect((await bmcWith('secret-2')).power()).rejects.toMatchObject({ why: 'unauthorized' })
})
