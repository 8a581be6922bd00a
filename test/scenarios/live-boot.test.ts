import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createLab, installCoreos, type Lab, type LabNode, type LabOptions } from '../../lab/index.js'
import { configdrive, GIB, imageServer, machineOf } from '../kit/deployed.js'
import { isoImage, liveFiles } from '../kit/live-iso.js'

let folder: string
let iso: string
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'ironstage-test-'))
  iso = join(folder, 'coreos-live.iso')
  await writeFile(iso, isoImage(liveFiles()))
})
afterAll(() => rm(folder, { recursive: true, force: true }))

const live = (more: Partial<LabOptions> = {}, byDefault = true): Promise<Lab> =>
  createLab({ liveImages: { files: [{ architecture: 'x86_64', iso }], byDefault }, ...more })

describe('boot by ISO', () => {
  test('inspection, cleaning and install_coreos through the agent that the served ISO starts', async () => {
    await using lab = await live()
    const fields = { boot_interface: 'redfish-virtual-media', name: 'worker-7' }
    const node = await lab.enroll({ fields, deploySteps: [installCoreos()], configdrive })
    await node.makeAvailable()
    const machine = await machineOf(node)
    expect(machine.console().join('\n')).toMatch(/ironic-agent\.service: started/)
    await node.deploy()
    expect(await node.settled()).toMatchObject({ provision_state: 'active', last_error: null })
  })
})
