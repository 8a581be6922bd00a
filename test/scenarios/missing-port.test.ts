import { expect, test } from 'vitest'
import { createStagedLab } from '../../lab/index.js'

const SENTENCE = /^node-3 has no port, so its ramdisk is not recognised: create one /

test('a node without a port waits for its ramdisk as upstream, and the log and the lab say why', async () => {
  const warnings: string[] = []
  await using lab = await createStagedLab({
    logger: (level, message) => void (level === 'warn' && warnings.push(message)),
  })
  const { uuid } = await lab.client.createNode({
    name: 'node-3',
    driver: 'ipmi',
    deploy_interface: 'custom-agent',
    driver_info: { ipmi_address: '10.1.0.3', ipmi_username: 'admin', ipmi_password: 'password' },
  })
  const until = async (state: string) => {
    while ((await lab.store.node(uuid))!.node.provision_state !== state) await lab.clock.sleep(100)
  }
  await lab.client.provision(uuid, 'manage')
  await lab.wait(until('manageable'))
  await lab.client.provision(uuid, 'provide')
  await lab.wait(until('clean wait'))
  expect(warnings).toEqual([expect.stringMatching(SENTENCE)])
  const waitsFor = async () => {
    const url = `${lab.url}/_lab/nodes/${uuid}/machine`
    const { body } = await lab.transport.send({ method: 'GET', url, headers: {} })
    return (JSON.parse(body!) as { waitsFor: string | null }).waitsFor
  }
  expect(await waitsFor()).toMatch(SENTENCE)
  const machine = lab.machines.list()[0]!
  await lab.client.createPort({ node_uuid: uuid, address: machine.spec.nics[0]!.mac })
  expect(await waitsFor()).toBeNull()
  await lab.wait(until('available'))
})
