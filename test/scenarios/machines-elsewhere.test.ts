import { readFile } from 'node:fs/promises'
import { describe, expect, test } from 'vitest'
import { installCoreos, REHEARSAL_IMAGE } from '../../lab/index.js'
import { FleetAndIronic } from '../kit/fleet/fleet-and-ironic.js'
import { slowImage } from '../kit/fleet/slow-image.js'

const SPEED = 20

const deployment = (url: string) => ({ deploy_steps: [installCoreos({ image_url: url })] })

async function imageOf(there: FleetAndIronic): Promise<string> {
  const { url, finish } = await slowImage(await readFile(REHEARSAL_IMAGE), there.scope)
  finish()
  return url
}

describe('an Ironic whose machines are a fleet', { timeout: 60_000 }, () => {
  test.for<[driver: 'redfish' | 'ipmi', bootInterface: string]>([
    ['redfish', 'redfish-virtual-media'],
    ['redfish', 'redfish-https'],
    ['redfish', 'ipxe'],
    ['ipmi', 'ipxe'],
  ])('by %s and %s: inspected, cleaned, installed, rebooted, undeployed, deleted', async ([driver, bootInterface]) => {
    const fleet = driver === 'ipmi' ? { ipmi: { port: 0 } } : {}
    await using there = await FleetAndIronic.open(SPEED, { fleet, node: { driver, bootInterface } })
    const { client } = there
    await client.patchNode('machine-1', [{ op: 'replace', path: '/deploy_interface', value: 'custom-agent' }])
    await there.provision('manage')
    await there.settled('manageable')
    await there.provision('inspect')
    expect((await there.settled('manageable')).properties).toMatchObject({ cpu_arch: 'x86_64' })
    await there.provision('provide')
    await there.settled('available')
    await there.provision('active', deployment(await imageOf(there)))
    expect(await there.settled('active')).toMatchObject({ power_state: 'power on' })
    await expect.poll(() => there.machine().boot()?.outcome).toBe('disk')
    const { id } = there.machine().boot()!
    await client.power('machine-1', 'rebooting')
    await expect.poll(() => there.machine().boot()?.id ?? id, { timeout: 10_000 }).not.toBe(id)
    await there.provision('deleted')
    await there.settled('available')
    await client.deleteNode('machine-1')
    expect(there.ironic.stage.machines.list()).toEqual([])
  })
})
